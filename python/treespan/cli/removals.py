"""Artifacts of files that are gone, taken out of the collection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from treespan.cli.files import Source
from treespan.cli.mirror import gone
from treespan.cli.uploads import Outcome, Result
from treespan.errors import TreespanError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from treespan.cli.uploads import Job


def removals(job: Job, owned: Mapping[str, Path]) -> Iterator[Outcome]:
    """Delete the artifacts whose file is gone, and yield what became of each."""
    for name in gone(owned):
        if job.under_way.stopped.is_set():
            return
        yield _removed(job, Source(owned[name], name, name.replace(":", "/")))


def _removed(job: Job, source: Source) -> Outcome:
    try:
        job.client.delete_artifact(source.artifact, job.collection, missing_ok=True)
    except TreespanError as error:
        return Outcome(source, Result.FAILED, reason=error.reason, message=error.message)
    return Outcome(source, Result.DELETED)
