"""Bars that show how an ingest of several files gets on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from rich.filesize import decimal
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from treespan.cli.screen import one_line
from treespan.v1.ingest_service_pb2 import Progress as IngestProgress

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console

    from treespan.cli.files import Source
    from treespan.cli.uploads import Outcome

_STAGES: Final = {
    number: name.removeprefix("STAGE_").lower() for name, number in IngestProgress.Stage.items()
}
_BYTES: Final = (IngestProgress.STAGE_RECEIVING, IngestProgress.STAGE_FETCHING)
_UNITS: Final = {
    IngestProgress.STAGE_READING: "pages",
    IngestProgress.STAGE_EMBEDDING: "chunks",
}


class Bars:
    """A bar for all files and one for each under way; nothing where the console is no terminal."""

    def __init__(self, console: Console, files: int, *, shown: bool) -> None:
        """Take the console that the bars share with the lines printed above them."""
        self._bars = Progress(
            TextColumn(
                "{task.description}",
                markup=False,
                table_column=Column(no_wrap=True, overflow="ellipsis", max_width=40),
            ),
            TextColumn(
                "{task.fields[stage]}",
                markup=False,
                style="cyan",
                table_column=Column(min_width=max(map(len, _STAGES.values()))),
            ),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[amount]}", markup=False),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not (shown and console.is_terminal),
        )
        self._files = files
        self._all = self._bars.add_task(
            "all files", total=files, stage="", amount=f"0/{files} files"
        )
        self._tasks: dict[Source, TaskID] = {}

    def __enter__(self) -> Self:
        """Show the bars."""
        self._bars.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take the bars away."""
        self._bars.stop()

    def started(self, source: Source) -> None:
        """Show a bar for a file."""
        name = one_line(source.file_name or source.uri)
        self._tasks[source] = self._bars.add_task(name, total=None, stage="", amount="")

    def progressed(self, source: Source, progress: IngestProgress) -> None:
        """Move a file's bar."""
        self._bars.update(
            self._tasks[source],
            # 0 says that the number is not known yet: a bar that only moves.
            total=progress.total or None,
            completed=progress.done,
            stage=_STAGES.get(progress.stage, ""),
            amount=amount(progress),
        )

    def finished(self, outcome: Outcome) -> None:
        """Take a file's bar away and move the one for all."""
        self._bars.remove_task(self._tasks.pop(outcome.source))
        self._bars.advance(self._all)
        done = int(self._bars.tasks[0].completed)
        self._bars.update(self._all, amount=f"{done}/{self._files} files")


def amount(progress: IngestProgress) -> str:
    """Return how much is done of how much, in the stage's unit."""
    if progress.stage in _BYTES:
        whole = f" of {decimal(progress.total)}" if progress.total else ""
        return f"{decimal(progress.done)}{whole}"
    unit = _UNITS.get(progress.stage)
    if unit is None:
        return ""
    return f"{progress.done:,} of {progress.total:,} {unit}" if progress.total else ""
