"""What a URI names, fetched into a file: off by default, and only what the settings allow."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ingest_svc.fetch.landing import Landing
from ingest_svc.fetch.local import check_path, copy, path_of
from ingest_svc.fetch.rules import FetchRules
from ingest_svc.fetch.target import web_target
from ingest_svc.fetch.web import download
from treespan.errors import InvalidField, UriUnreachable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["FetchRules", "Fetched", "check_uri", "fetch"]

MAX_URI_CHARACTERS: Final = 2_048
_MAX_NAME_CHARACTERS: Final = 255
_UNFIT: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that was fetched."""

    size_bytes: int
    sha256: str
    file_name: str
    """As its server names it, else the last part of its address; empty where neither is there."""
    media_type: str
    """As its server says, which is a hint at best; empty for files of the server."""


def check_uri(uri: str, rules: FetchRules) -> None:
    """Refuse what `fetch` would refuse without asking anybody.

    Raises:
        InvalidField: it is no URI of a kind that is fetched.
        UriNotAllowed: the settings do not allow it.
    """
    if _scheme(uri) == "file":
        check_path(path_of(uri), rules)
    else:
        web_target(uri, rules)


async def fetch(
    uri: str, into: Path, rules: FetchRules, progress: Callable[[int, int], None]
) -> Fetched:
    """Fetch what a URI names into a file, which is not there where that fails.

    Args:
        uri: A file of the server, or an http or https address.
        into: The file to write.
        rules: What the settings allow.
        progress: Told the bytes that came and those that are announced, 0 while unknown.

    Raises:
        InvalidField: it is no URI of a kind that is fetched.
        UriNotAllowed: the settings do not allow it, or a place that it leads to.
        UriUnreachable: it cannot be fetched, or not in time.
        EmptyFile: it has no bytes.
        TooLarge: it has more bytes than a file may have.
        StoreUnavailable: the file cannot be written.
    """
    check_uri(uri, rules)
    media_type = ""
    try:
        async with asyncio.timeout(rules.timeout_s):
            with Landing.at(into, rules.max_bytes, progress) as landing:
                if _scheme(uri) == "file":
                    name = await copy(path_of(uri), rules, landing)
                else:
                    name, media_type = await download(uri, rules, landing)
    except TimeoutError:
        raise UriUnreachable(
            f"it did not come within {rules.timeout_s:g} s (ingest.uri_timeout_s)"
        ) from None
    return Fetched(landing.size_bytes, landing.sha256, _fit(name), media_type)


def _scheme(uri: str) -> str:
    if len(uri) > MAX_URI_CHARACTERS:
        raise InvalidField("uri", f"has {len(uri):,} characters; at most {MAX_URI_CHARACTERS:,}")
    scheme = uri.partition(":")[0].lower()
    if scheme not in ("file", "http", "https") or ":" not in uri:
        raise InvalidField("uri", f"{uri[:200]!r} is none of file:, http: and https:")
    return scheme


def _fit(name: str) -> str:
    """Return a name as people see it: no folders, nothing that cannot be shown."""
    last = re.split(r"[/\\]", name)[-1]
    last = _UNFIT.sub("\ufffd", last).strip()
    return "" if last in (".", "..") else last[:_MAX_NAME_CHARACTERS]
