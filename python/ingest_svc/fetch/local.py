"""Files of the server, named by `file:` URIs, below the folders that the settings name.

A path is resolved first and then opened folder by folder without following links, so that a link
put in between the two cannot lead out: what is opened is what was checked. Paths outside are
refused without a look at them, so that nobody learns what exists there.
"""

from __future__ import annotations

import asyncio
import os
import re
import stat
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from ingest_svc.fetch.landing import PART_BYTES
from ingest_svc.threads import to_the_end
from treespan.errors import InvalidField, UriNotAllowed, UriUnreachable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest_svc.fetch.landing import Landing
    from ingest_svc.fetch.rules import FetchRules

_BAD_PERCENT: Final = re.compile("%(?![0-9a-fA-F]{2})")
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK the opening of a pipe waits for its writer.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def path_of(uri: str) -> str:
    """Return the path that a file URI names.

    Raises:
        InvalidField: it is not one, or is of another host.
    """
    rest = uri.partition(":")[2]
    for mark, what in (("?", "a query"), ("#", "a fragment")):
        if mark in rest:
            raise InvalidField(
                "uri", f"{uri!r} has {what}; in a file's name write it as %{ord(mark):X}"
            )
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        rest = slash + path
        if host.lower() not in ("", "localhost"):
            raise InvalidField("uri", f"{uri!r} names the host {host!r}; write file:///path")
    if not rest.startswith("/"):
        raise InvalidField("uri", f"{uri!r} has no absolute path; write file:///path")
    if _BAD_PERCENT.search(rest):
        raise InvalidField(
            "uri", f"{uri!r} has a % without two hexadecimal digits; write it as %25"
        )
    name = unquote_to_bytes(rest)
    if b"\0" in name:
        raise InvalidField("uri", f"{uri!r} holds a NUL; no path has one")
    return os.fsdecode(name)


def check_path(path: str, rules: FetchRules) -> None:
    """Refuse a path that, as it is written, is below none of the folders allowed.

    Raises:
        UriNotAllowed: it is not.
    """
    if not rules.roots:
        raise UriNotAllowed(
            "files of the server are not ingested by URI; the setting ingest.uri_roots "
            "would name the folders that they may be in"
        )
    written = os.path.normpath(path)
    for root in rules.roots:
        if _below(written, os.path.normpath(root)) or _below(written, os.path.realpath(root)):
            return
    raise _outside()


async def copy(path: str, rules: FetchRules, landing: Landing) -> str:
    """Copy a file and return its name.

    Raises:
        UriNotAllowed: the path leads out of the folders allowed, or to no regular file.
        UriUnreachable: it cannot be read.
        TooLarge: it is larger than allowed.
    """
    file = await _open(path, rules)
    try:
        landing.expect(os.fstat(file).st_size)
        while part := await to_the_end(_read, file):
            landing.add(part)
    finally:
        os.close(file)
    return PurePath(path).name


async def _open(path: str, rules: FetchRules) -> int:
    """Open in a thread; where the caller has gone meanwhile, the file is closed all the same."""
    opening = asyncio.ensure_future(asyncio.to_thread(_opened, path, rules))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_close)
        raise


def _close(opening: asyncio.Future[int]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        os.close(opening.result())


def _opened(path: str, rules: FetchRules) -> int:
    """Return an open regular file that lies below one of the folders."""
    check_path(path, rules)
    with _words():
        real = os.path.realpath(path)
        for root in map(os.path.realpath, rules.roots):
            if _below(real, root):
                return _regular(_walked(root, PurePath(real).relative_to(root)))
    raise _outside()


def _walked(root: str, relative: PurePath) -> int:
    *folders, name = relative.parts
    here = os.open(root, _FOLDER)
    try:
        for folder in folders:
            there = os.open(folder, _FOLDER, dir_fd=here)
            os.close(here)
            here = there
        return os.open(name, _FILE, dir_fd=here)
    finally:
        os.close(here)


def _regular(file: int) -> int:
    mode = os.fstat(file).st_mode
    if stat.S_ISREG(mode):
        return file
    os.close(file)
    kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
    raise UriNotAllowed(f"the path is that of {kind}; only regular files are ingested")


def _read(file: int) -> bytes:
    with _words():
        return os.read(file, 16 * PART_BYTES)


@contextmanager
def _words() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UriUnreachable(f"the file cannot be read: {error.strerror}") from error


def _below(path: str, root: str) -> bool:
    return path.startswith(root.rstrip(os.sep) + os.sep)


def _outside() -> UriNotAllowed:
    return UriNotAllowed(
        "the path is not below a folder that the setting ingest.uri_roots names, links followed"
    )
