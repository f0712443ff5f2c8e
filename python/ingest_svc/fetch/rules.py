"""What may be fetched: the settings, read once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from ingest_svc.fetch.addresses import literal
from treespan.config import ConfigError

if TYPE_CHECKING:
    from treespan.config import IngestConfig, ReadersConfig

USUAL_PORTS: Final = (80, 443)
_NAME: Final = re.compile(r"(?:\*|(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)")


@dataclass(frozen=True, slots=True)
class HostRule:
    """One host, or one family of hosts, with the port that its rule allows."""

    host: str
    """A name, an address, "*.name" for all below a name, or "*"."""
    port: int | None = None
    """The one port allowed; None means the usual ones."""

    def names(self, host: str) -> bool:
        """Return whether this is about a host, given in lower case without a final dot."""
        if self.host.startswith("*."):
            return host.endswith(self.host[1:])
        return self.host in ("*", host)

    def allows(self, port: int) -> bool:
        """Return whether the port is allowed."""
        return port in USUAL_PORTS if self.port is None else port == self.port


@dataclass(frozen=True, slots=True)
class FetchRules:
    """What may be fetched, and how much of it for how long."""

    max_bytes: int
    """Size of a file (`readers.max_file_bytes`)."""
    timeout_s: float = 60.0
    """Time for one fetch, redirects included (`ingest.uri_timeout_s`)."""
    redirects: int = 5
    """Redirects followed (`ingest.uri_redirects`)."""
    roots: tuple[str, ...] = ()
    """Absolute paths of folders (`ingest.uri_roots`)."""
    hosts: tuple[HostRule, ...] = ()
    """Hosts that may be fetched from (`ingest.uri_hosts`)."""
    private_hosts: tuple[HostRule, ...] = ()
    """Hosts that may have a private address (`ingest.uri_private_hosts`)."""

    @classmethod
    def of(cls, ingest: IngestConfig, readers: ReadersConfig) -> FetchRules:
        """Return what the settings say.

        Raises:
            ConfigError: a folder is not absolute, or a host is not written as one.
        """
        return cls(
            max_bytes=readers.max_file_bytes,
            timeout_s=ingest.uri_timeout_s,
            redirects=ingest.uri_redirects,
            roots=_roots(ingest.uri_roots),
            hosts=_hosts("ingest.uri_hosts", ingest.uri_hosts),
            private_hosts=_hosts("ingest.uri_private_hosts", ingest.uri_private_hosts),
        )

    def may_be_private(self, host: str) -> bool:
        """Return whether a host may have a private address."""
        return any(rule.names(host) for rule in self.private_hosts)


def _roots(text: str) -> tuple[str, ...]:
    roots = tuple(filter(None, (part.strip() for part in text.split(":"))))
    for root in roots:
        if not PurePath(root).is_absolute():
            raise ConfigError(f"ingest.uri_roots holds {root!r}; write folders as absolute paths")
    return roots


def _hosts(setting: str, text: str) -> tuple[HostRule, ...]:
    return tuple(_host(setting, part.strip()) for part in text.split(",") if part.strip())


def _host(setting: str, text: str) -> HostRule:
    host, port = _split(text.lower())
    try:
        if port and not 0 < int(port) < 65_536:
            raise ValueError(f"{port} is no port")
        address = literal(host)
    except ValueError as error:
        raise ConfigError(f"{setting} holds {text!r}: {error}") from error
    if address is None and not _NAME.fullmatch(host):
        raise ConfigError(
            f'{setting} holds {text!r}; write "example.org", "*.example.org", "*", an address, '
            'or one of them with ":port"'
        )
    return HostRule(str(address or host), int(port) if port else None)


def _split(text: str) -> tuple[str, str]:
    """Return host and port; the colons of a bare IPv6 address are its own."""
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        return host, rest.removeprefix(":")
    if text.count(":") > 1:
        return text, ""
    host, _, port = text.partition(":")
    return host.removesuffix("."), port
