"""Where a fetch may be led: redirects, and names whose addresses change."""

from __future__ import annotations

import asyncio
import datetime
import socket
import ssl
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

import aiohttp
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from web_server import Talk, answering, fetched, reply, rules, served

from ingest_svc.fetch import fetch, web
from treespan.errors import UriNotAllowed, UriUnreachable

if TYPE_CHECKING:
    from pathlib import Path


def names(monkeypatch: pytest.MonkeyPatch, *answers: dict[str, list[str]]) -> list[str]:
    """Answer look-ups of names from these tables, one after the other; return what is asked."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def looked_up(host: str, port: int, *args: int, **options: int) -> list[tuple[object, ...]]:
        table = answers[min(len(asked), len(answers) - 1)]
        if host not in table:
            return real(host, port, *args, **options)
        asked.append(host)
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in table[host]
        ]

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    return asked


def redirecting(*places: str, status: str = "302 Found") -> Talk:
    """Return a server that sends to each of these places in turn, then answers."""
    left = list(places)

    async def talk(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(b"", status, Location=left.pop(0)) if left else reply(b"there"))

    return talk


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See", "307 T", "308 P"])
def test_redirects_are_followed_and_the_asked_address_gives_the_name(
    tmp_path: Path, status: str
) -> None:
    talk = redirecting("/b", "c?x=1", "d", status=status)
    got, data = fetched(talk, tmp_path, "/report.txt")
    assert (data, got.file_name) == (b"there", "report.txt")


def test_one_redirect_more_than_allowed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UriUnreachable, match=r"more than 3 times \(ingest\.uri_redirects\)"):
        fetched(redirecting("/b", "/c", "/d", "/e"), tmp_path)
    with pytest.raises(UriUnreachable, match="more than 0 times"):
        fetched(redirecting("/b"), tmp_path, redirects=0)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("http://10.0.0.1/", "ingest.uri_private_hosts"),
        ("http://2130706433:22/", "port 22"),
        ("http://169.254.169.254/latest/meta-data/", "link-local"),
        ("http://[::1]/", "ingest.uri_private_hosts"),
        ("http://[::ffff:10.0.0.1]/", "ingest.uri_private_hosts"),
        ("http://me:secret@example.org/", "leave it out"),
        ("//example.org:22/", "port 22"),
    ],
)
def test_a_redirect_to_where_nothing_is_fetched_is_refused(
    tmp_path: Path, place: str, said: str
) -> None:
    with pytest.raises(UriNotAllowed, match="redirects") as refused:
        fetched(redirecting(place), tmp_path)
    assert said in refused.value.message
    assert "secret" not in refused.value.message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["file:///etc/passwd", "ftp://example.org/", "http://[::1", " "])
def test_a_redirect_to_what_is_no_web_address_is_refused(tmp_path: Path, place: str) -> None:
    with pytest.raises(UriUnreachable, match=r"redirect|where to go"):
        fetched(redirecting(place), tmp_path)


def test_a_redirect_to_a_name_with_a_private_address_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = names(monkeypatch, {"inner.test": ["10.1.2.3"]})
    with pytest.raises(UriNotAllowed, match=r"ingest\.uri_private_hosts") as refused:
        fetched(redirecting("http://inner.test/"), tmp_path)
    assert asked == ["inner.test"]
    assert "10.1.2.3" not in refused.value.message


def test_one_private_address_among_public_ones_is_enough_to_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names(monkeypatch, {"mixed.test": ["93.184.216.34", "127.0.0.1"]})
    with pytest.raises(UriNotAllowed, match=r"ingest\.uri_private_hosts"):
        fetched(answering(reply()), tmp_path, host="mixed.test")


def test_a_name_that_changes_its_address_is_connected_to_at_the_one_that_was_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = names(monkeypatch, {"rebind.test": ["93.184.216.34"]}, {"rebind.test": ["127.0.0.1"]})
    connected: list[object] = []

    def unplugged(info: tuple[object, ...], **options: bool) -> socket.socket:
        connected.append(info[4])
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(web, "_socket", unplugged)
    with pytest.raises(UriUnreachable, match="Network is unreachable"):
        fetched(answering(reply()), tmp_path, host="rebind.test")
    assert asked == ["rebind.test"]
    assert [where[0] for where in connected] == ["93.184.216.34"]  # type: ignore[index]


def test_a_name_that_changes_its_address_between_two_hops_is_checked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names(monkeypatch, {"rebind.test": ["127.0.0.1"]}, {"rebind.test": ["169.254.169.254"]})
    with pytest.raises(UriNotAllowed, match="link-local"):
        fetched(redirecting("/again"), tmp_path, host="rebind.test", private="rebind.test")


def test_no_socket_is_made_for_a_private_address_even_past_the_resolver() -> None:
    info = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))
    with pytest.raises(UriNotAllowed):
        web._socket(info, may_be_private=False)


def test_a_name_without_an_address_is_unreachable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*args: object, **options: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(UriUnreachable, match=r"'gone\.test' has no address"):
        fetched(answering(reply()), tmp_path, host="gone.test")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Make a certificate for 127.0.0.1 that nobody has signed but itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "certificate.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


def over_tls(certificate: Path, talk: Talk) -> bytes:
    async def run() -> bytes:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        async with served(talk, context) as port:
            into = certificate.parent / "spooled"
            uri = f"https://127.0.0.1:{port}/a"
            await fetch(uri, into, rules(port), lambda done, total: None)
            return into.read_bytes()

    return asyncio.run(run())


def test_a_certificate_that_nobody_signed_is_not_trusted(certificate: Path) -> None:
    with pytest.raises(UriUnreachable, match=r"not trusted: self.signed certificate"):
        over_tls(certificate, answering(reply()))


def test_a_redirect_from_https_to_http_is_not_followed(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusting = ssl.create_default_context(cafile=str(certificate))
    monkeypatch.setattr(aiohttp.connector, "_SSL_CONTEXT_VERIFIED", trusting)
    assert over_tls(certificate, redirecting("/b")) == b"there"
    with pytest.raises(UriNotAllowed, match="from https to http"):
        over_tls(certificate, redirecting("http://example.org/"))
