"""How an ingest of several files is shown: bars while it runs, a line a file, a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from rich.filesize import decimal
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

from treespan.cli.plain import plain
from treespan.cli.screen import counted, one_line, table
from treespan.cli.uploads import Result
from treespan.v1.ingest_service_pb2 import Progress as IngestProgress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    from rich.console import Console
    from rich.table import Table

    from treespan.cli.files import Source
    from treespan.cli.plain import Json
    from treespan.cli.uploads import Outcome

_STYLES: Final = {Result.OK: "green", Result.ALREADY_THERE: "cyan", Result.FAILED: "bold red"}
_STAGES: Final = {
    number: name.removeprefix("STAGE_").lower() for name, number in IngestProgress.Stage.items()
}
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
        self._tasks[source] = self._bars.add_task(
            one_line(source.file_name), total=None, stage="", amount=""
        )

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
    if progress.stage == IngestProgress.STAGE_RECEIVING:
        return f"{decimal(progress.done)} of {decimal(progress.total)}"
    unit = _UNITS.get(progress.stage)
    if unit is None:
        return ""
    return f"{progress.done:,} of {progress.total:,} {unit}" if progress.total else ""


def outcome_lines(outcome: Outcome) -> Iterator[Text]:
    """Yield what became of a file, then what a reader should know of it."""
    name = one_line(outcome.source.file_name)
    line = Text.assemble((outcome.result.value, _STYLES[outcome.result]), f"  {name}  ")
    artifact = outcome.artifact
    if artifact is None:
        yield line.append(f"{outcome.reason}: {one_line(outcome.message)}")
        return
    pages = counted(artifact.page_count, "page") + ", " if artifact.page_count else ""
    chunks, tokens = counted(artifact.chunk_count, "chunk"), counted(artifact.token_count, "token")
    yield line.append(f"{pages}{chunks}, {tokens}, {outcome.seconds:.1f} s", style="dim")
    for warning in artifact.warnings:
        yield Text(f"    ! {warning.kind}: {one_line(warning.message)}", style="yellow")


def outcome_json(outcome: Outcome) -> Json:
    """Return what became of a file as JSON."""
    return {
        "path": str(outcome.source.path),
        "name": outcome.source.artifact,
        "result": outcome.result.name,
        "reason": outcome.reason,
        "message": outcome.message,
        "seconds": round(outcome.seconds, 3),
        "artifact": plain(outcome.artifact) if outcome.artifact else None,
    }


def summary(ended: Sequence[Outcome], seconds: float) -> Table:
    """Return the table at the end: files by result, and what the artifacts hold."""
    artifacts = [outcome.artifact for outcome in ended if outcome.artifact]
    numbers = (*(result.value for result in Result), "pages", "chunks", "tokens", "seconds")
    shown = table(*numbers, numbers=numbers)
    shown.add_row(
        *(f"{sum(outcome.result is result for outcome in ended):,}" for result in Result),
        f"{sum(artifact.page_count for artifact in artifacts):,}",
        f"{sum(artifact.chunk_count for artifact in artifacts):,}",
        f"{sum(artifact.token_count for artifact in artifacts):,}",
        f"{seconds:.1f}",
    )
    return shown
