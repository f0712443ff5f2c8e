"""What the settings say about fetching."""

from __future__ import annotations

import pytest

from ingest_svc.fetch import FetchRules, check_uri
from treespan.config import ConfigError, IngestConfig, ReadersConfig
from treespan.errors import InvalidField, UriNotAllowed


def rules(**settings: str) -> FetchRules:
    return FetchRules.of(IngestConfig(**settings), ReadersConfig())  # type: ignore[arg-type]


def test_nothing_is_fetched_by_default() -> None:
    with pytest.raises(UriNotAllowed, match=r"ingest\.uri_hosts"):
        check_uri("https://example.org/a.html", rules())
    with pytest.raises(UriNotAllowed, match=r"ingest\.uri_roots"):
        check_uri("file:///etc/hostname", rules())


@pytest.mark.parametrize(
    ("hosts", "uri"),
    [
        ("example.org", "https://example.org/a"),
        ("example.org", "http://EXAMPLE.org./a"),
        ("a.org, example.org", "http://example.org:443/a"),
        ("*.example.org", "https://docs.example.org"),
        ("*.example.org", "https://a.b.example.org"),
        ("*", "https://anything.net/"),
        ("example.org:8080", "http://example.org:8080/"),
        ("*:8080", "http://example.org:8080/"),
        ("8.8.8.8", "http://0x8.0x8.2056/"),
        ("[2606:2800:220:1::1]:8080", "http://[2606:2800:220:1:0::1]:8080/"),
    ],
)
def test_hosts_that_the_settings_name_are_allowed(hosts: str, uri: str) -> None:
    check_uri(uri, rules(uri_hosts=hosts))


@pytest.mark.parametrize(
    ("hosts", "uri", "said"),
    [
        ("example.org", "https://example.com/", "'example.com' is not among"),
        ("example.org", "https://docs.example.org/", "is not among"),
        ("*.example.org", "https://example.org/", "is not among"),
        ("*.example.org", "https://evil-example.org/", "is not among"),
        ("example.org", "https://example.org.evil.net/", "is not among"),
        ("example.org", "http://example.org:8080/", "'example.org:8080' in the setting"),
        ("example.org:8080", "http://example.org/", "'example.org:80' in the setting"),
        ("example.org", "https://user:secret@example.org/", "leave it out"),
        ("example.org", "https://example.org@evil.net/", "leave it out"),
        ("*", "http://2130706433/", "ingest.uri_private_hosts"),
        ("*", "http://0x7f.1/", "ingest.uri_private_hosts"),
        ("*", "http://[::ffff:127.0.0.1]/", "ingest.uri_private_hosts"),
        ("*", "http://１２７.0.0.1/", "ingest.uri_private_hosts"),
        ("*", "http://169.254.169.254/latest/meta-data", "link-local"),
        ("*", "http://0/", "reserved"),
    ],
)
def test_all_others_are_refused_with_what_would_allow_them(hosts: str, uri: str, said: str) -> None:
    with pytest.raises(UriNotAllowed) as refused:
        check_uri(uri, rules(uri_hosts=hosts))
    assert said in refused.value.message
    assert "secret" not in refused.value.message


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "example.org",
        "ftp://example.org/a",
        "javascript:alert(1)",
        "data:text/plain,a",
        "http:",
        "http://",
        "http:///a",
        "http:example.org",
        "http://exa mple.org/",
        "http://a\r\nb/",
        "http://example.org\\@evil.net/",
        "http://%31%32%37.0.0.1/",
        "http://[::1%25eth0]/",
        "http://example.org:99999/",
        "http://1.2.3.4.5/",
        "http://[::1/",
        "http://h/\ud800",
        "https://example.org/" + "a" * 2048,
    ],
)
def test_what_is_no_address_is_an_invalid_field(uri: str) -> None:
    with pytest.raises(InvalidField, match="uri"):
        check_uri(uri, rules(uri_hosts="*"))


def test_a_link_local_address_is_refused_even_for_a_private_host() -> None:
    known = rules(uri_hosts="*", uri_private_hosts="169.254.169.254,127.0.0.1")
    check_uri("http://127.1/", known)
    with pytest.raises(UriNotAllowed, match="link-local"):
        check_uri("http://169.254.169.254/", known)


@pytest.mark.parametrize(
    "settings",
    [
        {"uri_roots": "docs"},
        {"uri_hosts": "exa*mple.org"},
        {"uri_hosts": "https://example.org"},
        {"uri_hosts": "example.org:http"},
        {"uri_hosts": "example.org:70000"},
        {"uri_private_hosts": "1.2.3.4.5"},
    ],
)
def test_a_setting_that_means_nothing_stops_the_start(settings: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"ingest\.uri_"):
        rules(**settings)
