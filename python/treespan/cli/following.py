"""`treespan ingest --watch`: a collection that follows folders.

What the system tells of changes only says when to look; what there is to do is found by looking,
so that nothing is missed where the telling fails: folders renamed, queues run over, disks of other
machines. A file is taken once it has stayed as it is for a while.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, TypeAlias

import click
from watchfiles import watch

from treespan.cli.files import found
from treespan.cli.mirror import Mirror, empty_folders, gone
from treespan.cli.plan import Plan, held_artifacts
from treespan.cli.removals import removals
from treespan.cli.uploads import Result, outcomes
from treespan.errors import NotServing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from watchfiles import Change

    from treespan.cli.files import Source
    from treespan.cli.ingest_options import IngestOptions
    from treespan.cli.ingest_report import Report
    from treespan.cli.uploads import Job, Outcome

_TICK_MS: Final = 250
_LOOK_S: Final = 30.0
"""How often all is looked at, whatever the system tells."""
_BLIND_LOOK_S: Final = 5.0
"""The same where the system tells nothing."""
_RETRY_S: Final = 3.0
"""When to look again after something that passes by itself."""
# Failures that pass by themselves, or by the next change of the file: tried again at the next look.
_PASSING: Final = frozenset(
    {
        "ARTIFACT_BUSY",
        "DEADLINE",
        "HASH_MISMATCH",
        "INTERRUPTED",
        "NOT_SERVING",
        "QUEUE_FULL",
        "SIZE_MISMATCH",
        "STORE_UNAVAILABLE",
        "UPLOAD_STALLED",
    }
)

_Signature: TypeAlias = "tuple[int, int, int] | str"


@dataclass(frozen=True, slots=True)
class _Seen:
    """How a file looked, and since when."""

    signature: _Signature
    since: float


class Follower:
    """Keeps a collection like its folders until it is stopped."""

    def __init__(self, job: Job, options: IngestOptions, report: Report) -> None:
        """Take what to do, and whom to tell."""
        self._job = job
        self._options = options
        self._report = report
        self._mirror = Mirror(options.folders)
        self._folders = {top: _identity(top) for top in options.folders}
        self._owned: dict[str, Path] = {}
        self._taken: dict[str, _Signature] = {}
        self._seen: dict[str, _Seen] = {}
        self._unsettled = False
        self._next_look = 0.0

    def run(self) -> None:
        """Follow until the job is stopped.

        Raises:
            click.ClickException: a folder is not there any more.
        """
        self.take_stock()
        for told in self._ticks():
            if self._job.under_way.stopped.is_set():
                return
            if told or self._unsettled or time.monotonic() >= self._next_look:
                self.look()

    def take_stock(self) -> None:
        """Find out which artifacts of the collection are of the folders."""
        artifacts = self._job.client.list_artifacts(self._job.collection)
        self._owned = self._mirror.owned(artifacts)
        for top in empty_folders(self._mirror.tops):
            if any(path.is_relative_to(top) for path in self._owned.values()):
                raise click.ClickException(empty_folder_message(top))

    def look(self) -> None:
        """Look at the folders once, and do what there is to do."""
        self._check_folders()
        self._next_look = time.monotonic() + _LOOK_S
        self._unsettled = False
        everything = found(self._options.paths, self._options.selection)
        self._report.left_out(everything.left_out)
        signatures = {source: _signature(source) for source in everything.sources}
        ready = {
            one: sign for one, sign in signatures.items() if sign and self._is_ready(one, sign)
        }
        try:
            if ready:
                self._ingest(ready)
            self._remove({source.artifact for source in everything.sources})
        except NotServing as error:
            self._report.notice(f"{error.message}; trying again")
            self._next_look = time.monotonic() + _RETRY_S

    def _is_ready(self, source: Source, signature: _Signature) -> bool:
        """Return whether a file has something new and has stayed so for long enough."""
        if self._taken.get(source.artifact) == signature:
            return False
        now = time.monotonic()
        seen = self._seen.get(source.artifact)
        if seen is None or seen.signature != signature:
            seen = self._seen[source.artifact] = _Seen(signature, now)
        unchanged_s = now - seen.since
        if not isinstance(signature, str):
            unchanged_s = max(unchanged_s, time.time() - signature[1] / 1e9)
        if unchanged_s < self._options.settle_s:
            self._unsettled = True
            return False
        return True

    def _ingest(self, ready: dict[Source, _Signature]) -> None:
        job, options = self._job, self._options
        held = held_artifacts(job.client, job.collection, list(ready))
        plan = Plan(held, options.keywords, options.again)
        with self._report.bars(len(ready)) as bars:
            for outcome in outcomes(job, plan, list(ready), bars):
                self._report.add(outcome)
                self._note(outcome, ready[outcome.source])

    def _note(self, outcome: Outcome, signature: _Signature) -> None:
        name = outcome.source.artifact
        if outcome.artifact is not None:
            self._owned |= self._mirror.owned([outcome.artifact])
        if outcome.result is Result.FAILED and outcome.reason in _PASSING:
            self._next_look = time.monotonic() + _RETRY_S
        elif outcome.result is not Result.CANCELLED:
            self._taken[name] = signature
            self._seen.pop(name, None)

    def _remove(self, present: set[str]) -> None:
        absent = {name: path for name, path in self._owned.items() if name not in present}
        if not gone(absent):
            return
        self._check_folders()  # of a folder that is lost, every file seems to be gone
        for outcome in removals(self._job, absent):
            self._report.add(outcome)
            if outcome.result is Result.DELETED:
                self._owned.pop(outcome.source.artifact)
                self._taken.pop(outcome.source.artifact, None)

    def _check_folders(self) -> None:
        for top, identity in self._folders.items():
            if _identity(top) != identity:
                raise click.ClickException(
                    f"the folder {top} is not there any more, or is another one; "
                    "nothing of it was deleted"
                )

    def _ticks(self) -> Iterator[bool]:
        """Yield often, and true where the system tells of a change."""
        try:
            for changes in watch(
                *self._folders,
                watch_filter=self._matters,
                step=_TICK_MS,
                debounce=4 * _TICK_MS,
                rust_timeout=_TICK_MS,
                stop_event=self._job.under_way.stopped,
                yield_on_timeout=True,
                ignore_permission_denied=True,
            ):
                yield bool(changes)
        except OSError as error:
            self._report.notice(
                f"the system does not tell of changes ({error}); looking every {_BLIND_LOOK_S:g} s"
            )
        while not self._job.under_way.stopped.wait(_BLIND_LOOK_S):
            yield True

    def _matters(self, change: Change, path: str) -> bool:  # noqa: ARG002 - watchfiles' signature
        for top in self._folders:
            inside = PurePath(os.path.relpath(path, top)).parts
            if inside[:1] != ("..",):
                return inside == (".",) or not any(part.startswith(".") for part in inside)
        return True


def empty_folder_message(top: Path) -> str:
    """Return why an empty folder is not taken at its word."""
    return (
        f"the folder {top} is empty, and the collection holds artifacts of its files; is its disk "
        "mounted? Nothing was deleted; `treespan delete` deletes artifacts"
    )


def _identity(top: Path) -> tuple[int, int] | None:
    try:
        known = top.stat()
    except OSError:
        return None
    return known.st_dev, known.st_ino


def _signature(source: Source) -> _Signature:
    """Return what changes with a file; empty where it is gone since it was found."""
    if source.problem:
        return source.problem
    try:
        known = source.path.stat()
    except FileNotFoundError:
        return ""
    except OSError as error:
        return str(error)
    return known.st_size, known.st_mtime_ns, known.st_ino
