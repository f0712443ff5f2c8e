"""Documents of the web, from the hosts that the settings name.

Every address is checked where it is used: names are resolved here, all addresses found are judged,
and a connection is only made to one that was. Redirects are followed by hand, each hop checked like
the first; no cookies, no proxies, no passwords.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import zlib
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from ingest_svc.fetch.landing import PART_BYTES
from ingest_svc.fetch.target import bare_host, check_address, web_target
from treespan.errors import InvalidField, UriNotAllowed, UriUnreachable
from treespan.version import VERSION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiohttp import ClientResponse, ClientSession
    from aiohttp.connector import AddrInfoType

    from ingest_svc.fetch.landing import Landing
    from ingest_svc.fetch.rules import FetchRules

_REDIRECTS: Final = (301, 302, 303, 307, 308)
_HEADERS: Final = {
    "Accept": "*/*",
    "Accept-Encoding": "identity",
    "User-Agent": f"treespan/{VERSION}",
}
_CAUSES: Final[dict[type[Exception], str]] = {
    aiohttp.ClientPayloadError: "the document ends too early",
    aiohttp.ClientResponseError: "the answer is not HTTP",
    aiohttp.ServerDisconnectedError: "the server hung up",
}
_ZIPPED: Final = ("gzip", "x-gzip", "deflate")
# For zlib: a gzip or zlib head, whichever is there.
_EITHER_HEAD: Final = 32 + zlib.MAX_WBITS


async def download(uri: str, rules: FetchRules, landing: Landing) -> tuple[str, str]:
    """Fetch a document and return the name and the media type that its server gives it.

    Raises:
        InvalidField: the URI is no address.
        UriNotAllowed: the settings do not allow it, or a place that it leads to.
        UriUnreachable: it was not answered with a document.
        TooLarge: the document is larger than allowed.
    """
    url = web_target(uri, rules)
    for _ in range(rules.redirects + 1):
        async with _answered(url, rules) as response:
            if response.status not in _REDIRECTS:
                await _landed(response, landing)
                return _name(response, URL(uri)), response.content_type
            url = _next(response, url, rules)
    raise UriUnreachable(
        f"it redirects more than {rules.redirects} times (ingest.uri_redirects), in the end to "
        f"{bare_host(url)!r}"
    )


@asynccontextmanager
async def _answered(url: URL, rules: FetchRules) -> AsyncIterator[ClientResponse]:
    """Ask for one address; what goes wrong is said in words."""
    try:
        async with (
            _session(may_be_private=rules.may_be_private(bare_host(url))) as session,
            session.get(url, allow_redirects=False) as response,
        ):
            yield response
    except aiohttp.ClientConnectorCertificateError as error:
        raise UriUnreachable(
            f"the certificate of {bare_host(url)!r} is not trusted: {_untrusted(error)}"
        ) from error
    except aiohttp.ClientConnectorDNSError as error:
        raise UriUnreachable(f"the host {bare_host(url)!r} has no address") from error
    except (aiohttp.ClientError, OSError) as error:
        raise UriUnreachable(f"fetching from {bare_host(url)!r} failed: {_cause(error)}") from error


def _cause(error: Exception) -> str:
    """Return what went wrong, without the network address that was tried and what came from it."""
    inner = getattr(error, "os_error", error)
    if isinstance(inner, ssl.SSLError):
        return f"TLS: {inner.reason}"
    if isinstance(inner, OSError) and inner.errno:
        return os.strerror(inner.errno)
    for kind, told in _CAUSES.items():
        if isinstance(inner, kind):
            return told
    return type(inner).__name__


def _untrusted(error: aiohttp.ClientConnectorCertificateError) -> str:
    inner = error.certificate_error
    return inner.verify_message if isinstance(inner, ssl.SSLCertVerificationError) else str(inner)


def _session(*, may_be_private: bool) -> ClientSession:
    connector = aiohttp.TCPConnector(
        resolver=_Resolver(may_be_private=may_be_private),
        use_dns_cache=False,
        force_close=True,
        socket_factory=partial(_socket, may_be_private=may_be_private),
    )
    return aiohttp.ClientSession(
        connector=connector,
        headers=_HEADERS,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        auto_decompress=False,
        trust_env=False,
    )


class _Resolver(AbstractResolver):
    """Names to addresses, all of which may be connected to."""

    def __init__(self, *, may_be_private: bool) -> None:
        self._may_be_private = may_be_private

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a host.

        Raises:
            UriNotAllowed: one of them may not be connected to.
        """
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family)
        for *_, where in found:
            check_address(ip_address(where[0]), may_be_private=self._may_be_private)
        return [
            ResolveResult(
                hostname=host,
                host=str(where[0]),
                port=port,
                family=kind,
                proto=proto,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for kind, _, proto, _, where in found
        ]

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


def _socket(info: AddrInfoType, *, may_be_private: bool) -> socket.socket:
    """Return a socket for an address: the last place where it can be looked at."""
    family, kind, proto, _, where = info
    check_address(ip_address(str(where[0])), may_be_private=may_be_private)
    return socket.socket(family, kind, proto)


def _next(response: ClientResponse, url: URL, rules: FetchRules) -> URL:
    location = response.headers.get("Location")
    if not location:
        raise UriUnreachable(
            f"{bare_host(url)!r} answered {response.status} and does not say where to go"
        )
    try:
        following = web_target(str(url.join(URL(location))), rules)
    except UriNotAllowed as error:
        raise UriNotAllowed(f"it redirects to where nothing is fetched: {error.message}") from error
    except (InvalidField, ValueError) as error:
        raise UriUnreachable(f"it redirects to what is no address: {location[:200]!r}") from error
    if url.scheme == "https" and following.scheme == "http":
        raise UriNotAllowed("it redirects from https to http, which is not followed")
    return following


async def _landed(response: ClientResponse, landing: Landing) -> None:
    host = bare_host(response.url)
    if response.status != 200:
        raise UriUnreachable(f"{host!r} answered {_status(response.status)}")
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding in ("identity", ""):
        landing.expect(response.content_length or 0)
        async for part in response.content.iter_chunked(PART_BYTES):
            landing.add(part)
    elif encoding in _ZIPPED:
        async for part in _unzipped(response, host):
            landing.add(part)
    else:
        raise UriUnreachable(
            f"{host!r} answered in the encoding {encoding!r}, though it was asked for none"
        )


def _status(number: int) -> str:
    try:
        return f"{number} ({HTTPStatus(number).phrase})"
    except ValueError:
        return str(number)


async def _unzipped(response: ClientResponse, host: str) -> AsyncIterator[bytes]:
    """Yield what a server packed without being asked to, in parts of bounded size."""
    unzip = zlib.decompressobj(_EITHER_HEAD)
    try:
        async for packed in response.content.iter_chunked(PART_BYTES):
            while packed and not unzip.eof:
                yield unzip.decompress(packed, PART_BYTES)
                packed = unzip.unconsumed_tail
                await asyncio.sleep(0)  # a bomb unpacks for long; others get their turn
    except zlib.error as error:
        raise UriUnreachable(f"the answer of {host!r} is packed and damaged: {error}") from error
    if not unzip.eof:
        raise UriUnreachable(f"the answer of {host!r} is packed and ends too early")


def _name(response: ClientResponse, asked: URL) -> str:
    """Return the name that the server gives a document, else the last part of its address."""
    given = response.content_disposition
    names = (given.filename if given else None, asked.name, response.url.name)
    return next(filter(None, names), "")
