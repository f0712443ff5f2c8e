"""Which addresses may be reached, and how many spellings an address has."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from ingest_svc.fetch.addresses import Reach, literal, reach


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "93.184.216.34",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.0.1",
        "172.32.0.1",
        "2606:2800:220:1::1",
        "2a00:1450::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
    ],
)
def test_public_addresses_are_public(address: str) -> None:
    assert reach(ip_address(address)) is Reach.PUBLIC


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "100.127.255.255",
        "::1",
        "fd00::1",
        "fc00::1",
        "::ffff:127.0.0.1",
        "::ffff:10.1.2.3",
        "64:ff9b::192.168.0.1",
        "64:ff9b::7f00:1",
    ],
)
def test_private_addresses_are_private_however_they_are_wrapped(address: str) -> None:
    assert reach(ip_address(address)) is Reach.PRIVATE


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "0.1.2.3",
        "169.254.169.254",
        "192.0.0.1",
        "192.0.2.1",
        "198.51.100.1",
        "203.0.113.1",
        "192.88.99.1",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "100::1",
        # 6to4 and Teredo of 127.0.0.1, local NAT64, IPv4-compatible, a mapped link-local one.
        "2002:7f00:1::1",
        "2001:0:7f00:1::",
        "64:ff9b:1::7f00:1",
        "::7f00:1",
        "::ffff:169.254.0.1",
    ],
)
def test_what_no_document_comes_from_is_never_reached(address: str) -> None:
    assert reach(ip_address(address)) is Reach.NEVER


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0x0.0.1",
        "017700000001",
        "0177.0.0.01",
        "0X7F.1",
    ],
)
def test_every_notation_of_an_address_is_known(host: str) -> None:
    assert literal(host) == ip_address("127.0.0.1")


@pytest.mark.parametrize(
    "host", ["example.org", "127.0.0.1.example.org", "1e100.net", "0x7g", "a1"]
)
def test_names_are_no_addresses(host: str) -> None:
    assert literal(host) is None


@pytest.mark.parametrize(
    "host", ["256.256.256.256", "1.2.3.4.5", "example.1", "127..1", "::g", "0x"]
)
def test_what_looks_like_an_address_and_is_none_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match="address"):
        literal(host)
