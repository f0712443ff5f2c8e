"""Artifacts that a folder's own ingest put there, known by where they say that they are from.

A file's artifact is marked with `file://host/path`. A folder may take away what bears its mark and
its name, and whose file is gone: not what somebody else put there, not what is on another machine,
and nothing at all where the folder itself looks lost.
"""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote_to_bytes

from treespan.cli.files import artifact_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from treespan.v1.ingest_service_pb2 import Artifact

_LONGEST_URI: Final = 2_048


def file_uri(path: Path) -> str:
    """Return the URI of a file of this machine; empty where it is longer than the server takes."""
    absolute = os.path.abspath(path)  # noqa: PTH100 - links are part of the name
    uri = f"file://{socket.gethostname()}{quote(os.fsencode(absolute))}"
    return uri if len(uri) <= _LONGEST_URI else ""


class Mirror:
    """Folders, and the artifacts that are theirs."""

    def __init__(self, tops: Iterable[Path]) -> None:
        """Take the folders that were given."""
        self.tops = list(tops)
        self._marks = [(top, f"{file_uri(top).rstrip('/')}/") for top in self.tops]

    def owned(self, artifacts: Iterable[Artifact]) -> dict[str, Path]:
        """Return those artifacts that are of these folders, with the file of each."""
        found = {}
        for artifact in artifacts:
            for top, mark in self._marks:
                if not artifact.source_uri.startswith(mark):
                    continue
                inside = unquote_to_bytes(artifact.source_uri.removeprefix(mark))
                if artifact_name(inside) == artifact.artifact:
                    found[artifact.artifact] = top / os.fsdecode(inside)
        return found


def gone(owned: Mapping[str, Path]) -> list[str]:
    """Return the artifacts whose file is certain to be gone."""
    return sorted(name for name, path in owned.items() if _is_gone(path))


def empty_folders(tops: Sequence[Path]) -> list[Path]:
    """Return the folders without anything in them, as a disk that is not mounted leaves them."""
    return [top for top in tops if not any(top.iterdir())]


def _is_gone(path: Path) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # it cannot be looked at, which says nothing
        return False
