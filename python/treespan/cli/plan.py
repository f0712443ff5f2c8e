"""What an ingest has to do: the files of this machine beside what the collection holds."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from treespan.client.metadata import metadata_values
from treespan.errors import ArtifactNotFound
from treespan.v1.ingest_service_pb2 import Artifact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from treespan.cli.files import Source
    from treespan.client import Client, UriKeywords

# Up to here artifacts are asked for one by one, beyond it all are listed.
_FEW: Final = 50
# Another try may read more: an engine for pictures of text may have been installed since.
_WORTH_ANOTHER_TRY: Final = frozenset({"NO_TEXT_LAYER", "BAD_TEXT_LAYER", "OCR_FAILED"})


class Verdict(Enum):
    """What is to be done with a source."""

    NEW = "new"
    CHANGED = "changed"
    SAME = "already there"
    UNREADABLE = "not read"


@dataclass(frozen=True, slots=True)
class Step:
    """A source, and what is to be done with it."""

    source: Source
    verdict: Verdict
    artifact: Artifact | None = None
    """What the collection holds under its name."""
    message: str = ""
    """Why it cannot be read."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the collection holds, and what it is to hold."""

    held: Mapping[str, Artifact]
    keywords: UriKeywords
    again: bool = False
    """Whether files are sent that are there already, so that the server reads them anew where its
    settings are others than they were."""

    def step(self, source: Source) -> Step:
        """Return what is to be done with a source; bytes are compared by their hash."""
        held = self.held.get(source.artifact)
        if source.problem:
            return Step(source, Verdict.UNREADABLE, held, source.problem)
        if held is None:
            return Step(source, Verdict.NEW)
        if source.uri or not self._is_as_wanted(source, held):
            return Step(source, Verdict.CHANGED, held)
        try:
            same = _has_bytes(source, held)
        except OSError as error:
            message = f"{error.strerror or error}: {source.path}"
            return Step(source, Verdict.UNREADABLE, held, message)
        return Step(source, Verdict.SAME if same else Verdict.CHANGED, held)

    def _is_as_wanted(self, source: Source, held: Artifact) -> bool:
        """Return whether an artifact is as wanted, its bytes aside."""
        given = metadata_values(self.keywords.get("metadata") or {})
        return (
            not self.again
            and held.state == Artifact.STATE_POPULATED
            and not any(warning.kind in _WORTH_ANOTHER_TRY for warning in held.warnings)
            and held.file_name == source.file_name
            and self.keywords.get("summary", "") in ("", held.summary)
            and all(key in held.metadata and held.metadata[key] == given[key] for key in given)
        )


def held_artifacts(
    client: Client, collection: str, sources: Sequence[Source]
) -> dict[str, Artifact]:
    """Return what a collection holds under these names; where there are many of them, all of it.

    Raises:
        CollectionNotFound: there is no such collection.
    """
    if len(sources) > _FEW:
        return {found.artifact: found for found in client.list_artifacts(collection)}
    known = (_artifact(client, collection, source.artifact) for source in sources)
    return {found.artifact: found for found in known if found is not None}


def _artifact(client: Client, collection: str, name: str) -> Artifact | None:
    try:
        return client.get_artifact(name, collection)
    except ArtifactNotFound:
        return None


def _has_bytes(source: Source, held: Artifact) -> bool:
    with source.path.open("rb") as file:
        if os.fstat(file.fileno()).st_size != held.size_bytes:
            return False
        return hashlib.file_digest(file, "sha256").hexdigest() == held.content_sha256
