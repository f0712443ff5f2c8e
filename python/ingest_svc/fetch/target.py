"""Addresses of the web, taken apart by the same parser that the connection uses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from yarl import URL

from ingest_svc.fetch.addresses import Reach, literal, reach
from treespan.errors import InvalidField, UriNotAllowed

if TYPE_CHECKING:
    from ingest_svc.fetch.addresses import Address
    from ingest_svc.fetch.rules import FetchRules

# White space, controls and backslashes are where two parsers of addresses differ.
_UNWRITTEN: Final = re.compile(r"[\x00-\x20\x7f-\xa0\\\ud800-\udfff]")
_HOST: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?")


def web_target(uri: str, rules: FetchRules) -> URL:
    """Return an http or https address that may be asked, with a host that has one spelling.

    Raises:
        InvalidField: it is not one.
        UriNotAllowed: the settings do not allow it, or it carries a password.
    """
    url = _parsed(uri)
    if "@" in url.raw_authority or "@" in uri.partition("//")[2].partition("/")[0]:
        raise UriNotAllowed("an address with a user name or password is not fetched; leave it out")
    host, address = _host(url, uri)
    if address is not None:
        url = url.with_host(str(address))
        host = str(address)
    _check_rules(host, url.port or 0, rules)
    if address is not None:
        check_address(address, may_be_private=rules.may_be_private(host))
    return url.with_fragment(None)


def check_address(address: Address, *, may_be_private: bool) -> None:
    """Refuse an address that may not be connected to; the message does not tell which it is.

    Raises:
        UriNotAllowed: it may not.
    """
    found = reach(address)
    if found is Reach.PUBLIC or (found is Reach.PRIVATE and may_be_private):
        return
    if found is Reach.PRIVATE:
        raise UriNotAllowed(
            "the host has an address that is not public; only the setting "
            "ingest.uri_private_hosts, with the host in it, would allow that"
        )
    raise UriNotAllowed(
        "the host has an address that nothing is fetched from, such as a link-local, multicast or "
        "reserved one"
    )


def bare_host(url: URL) -> str:
    """Return the host as rules have it: in lower case, without a final dot."""
    return (url.raw_host or "").lower().removesuffix(".")


def _parsed(uri: str) -> URL:
    if _UNWRITTEN.search(uri):
        raise InvalidField(
            "uri", f"{uri!r} holds a space, a backslash or a control character; write it as %XX"
        )
    try:
        url = URL(uri)
    except ValueError as error:
        raise InvalidField("uri", f"{uri!r} is no address: {error}") from error
    if url.scheme not in ("http", "https"):
        raise InvalidField("uri", f"{uri!r} is neither http nor https")
    return url


def _host(url: URL, uri: str) -> tuple[str, Address | None]:
    host = bare_host(url)
    if not host:
        raise InvalidField("uri", f"{uri!r} names no host")
    if "%" in host or (":" not in host and not _HOST.fullmatch(host)):
        raise InvalidField("uri", f"{uri!r} names a host that cannot be one: {host!r}")
    try:
        return host, literal(host)
    except ValueError as error:
        raise InvalidField("uri", f"{uri!r}: {error}") from error


def _check_rules(host: str, port: int, rules: FetchRules) -> None:
    if not rules.hosts:
        raise UriNotAllowed(
            "nothing is fetched from the web; the setting ingest.uri_hosts would name the hosts"
        )
    about = [rule for rule in rules.hosts if rule.names(host)]
    if not about:
        raise UriNotAllowed(f"the host {host!r} is not among those of the setting ingest.uri_hosts")
    if not any(rule.allows(port) for rule in about):
        raise UriNotAllowed(
            f"port {port} of {host!r} is not allowed; {f'{_written(host)}:{port}'!r} in the "
            "setting ingest.uri_hosts would allow it"
        )


def _written(host: str) -> str:
    return f"[{host}]" if ":" in host else host
