"""What became of an ingest of several files: a line a file, and tables at the end."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Final, Self

import click
from rich.text import Text

from treespan.cli.bars import Bars
from treespan.cli.plain import plain
from treespan.cli.screen import counted, echo_json, one_line, row, screen, show
from treespan.cli.uploads import Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

    from treespan.cli.files import LeftOut
    from treespan.cli.plain import Json
    from treespan.cli.uploads import Outcome

_STYLES: Final = {
    Result.OK: "green",
    Result.ALREADY_THERE: "cyan",
    Result.FAILED: "bold red",
    Result.CANCELLED: "yellow",
    Result.DELETED: "magenta",
}
_ALWAYS: Final = (Result.OK, Result.ALREADY_THERE, Result.FAILED)
_RARELY: Final = (Result.CANCELLED, Result.DELETED)


def outcome_lines(outcome: Outcome) -> Iterator[Text]:
    """Yield what became of a source, then what a reader should know of it."""
    name = one_line(outcome.source.file_name or outcome.source.uri)
    line = Text.assemble((outcome.result.value, _STYLES[outcome.result]), f"  {name}")
    artifact = outcome.artifact
    if artifact is None:
        yield line.append(
            f"  {outcome.reason}: {one_line(outcome.message)}" if outcome.reason else ""
        )
        return
    pages = counted(artifact.page_count, "page") + ", " if artifact.page_count else ""
    chunks, tokens = counted(artifact.chunk_count, "chunk"), counted(artifact.token_count, "token")
    yield line.append(f"  {pages}{chunks}, {tokens}, {outcome.seconds:.1f} s", style="dim")
    for warning in artifact.warnings:
        yield Text(f"    ! {warning.kind}: {one_line(warning.message)}", style="yellow")


def outcome_json(outcome: Outcome) -> Json:
    """Return what became of a source as JSON."""
    return {
        "path": outcome.source.place,
        "name": outcome.source.artifact,
        "result": outcome.result.name,
        "reason": outcome.reason,
        "message": outcome.message,
        "seconds": round(outcome.seconds, 3),
        "artifact": plain(outcome.artifact) if outcome.artifact else None,
    }


def left_out_json(left_out: LeftOut) -> Json:
    """Return a file that is passed over as JSON."""
    return {"path": str(left_out.path), "name": "", "result": "SKIPPED", "reason": left_out.reason}


class Report:
    """Tells what becomes of each source, and at the end of all; keeps numbers only."""

    def __init__(self, *, as_json: bool) -> None:
        """Take the form: lines for people and tables, or a JSON object a line."""
        self._as_json = as_json
        self._console = screen()
        self._started = time.monotonic()
        self._results: Counter[Result] = Counter()
        self._reasons: Counter[str] = Counter()
        self._left_out: set[LeftOut] = set()
        self._failed: set[str] = set()
        self._pages = self._chunks = self._tokens = 0

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Write the tables, also where the run ends with an error."""
        if not self._as_json and (self._results or self._left_out):
            self._write_tables()

    @property
    def failed(self) -> bool:
        """Whether a source has failed and not succeeded since."""
        return bool(self._failed)

    def bars(self, files: int) -> Bars:
        """Return bars for this many sources."""
        return Bars(self._console, files, shown=not self._as_json)

    def left_out(self, passed_over: Iterable[LeftOut]) -> None:
        """Take note of files that are passed over; in JSON each is a line, once."""
        for one in passed_over:
            if one in self._left_out:
                continue
            self._left_out.add(one)
            self._reasons[one.reason] += 1
            if self._as_json:
                echo_json(left_out_json(one))

    def add(self, outcome: Outcome) -> None:
        """Tell what became of a source."""
        self._count(outcome)
        if self._as_json:
            echo_json(outcome_json(outcome))
            return
        for line in outcome_lines(outcome):
            self._console.print(line, soft_wrap=True)

    def notice(self, text: str) -> None:
        """Tell something about the run itself."""
        click.echo(text, err=True)

    def _count(self, outcome: Outcome) -> None:
        self._results[outcome.result] += 1
        if outcome.result is Result.FAILED:
            self._failed.add(outcome.source.place)
        else:
            self._failed.discard(outcome.source.place)
        if outcome.result is Result.OK and outcome.artifact:
            self._pages += outcome.artifact.page_count
            self._chunks += outcome.artifact.chunk_count
            self._tokens += outcome.artifact.token_count

    def _write_tables(self) -> None:
        seconds = max(time.monotonic() - self._started, 1e-3)
        seen = self._results.total() - self._results[Result.DELETED] + len(self._left_out)
        files = {"files": seen}
        files |= {result.value: self._results[result] for result in _ALWAYS}
        files["skipped"] = len(self._left_out)
        files |= {one.value: self._results[one] for one in _RARELY if self._results[one]}
        amounts = {"pages": self._pages, "chunks": self._chunks, "tokens": self._tokens}
        speeds = {"files": self._results[Result.OK], "pages": self._pages, "chunks": self._chunks}
        per_second = {f"{name}/s": f"{count / seconds:,.1f}" for name, count in speeds.items()}
        self._console.print()
        show(row({name: f"{count:,}" for name, count in files.items()}))
        self._console.print()
        counts = {name: f"{count:,}" for name, count in amounts.items()}
        show(row(counts | {"seconds": f"{seconds:.1f}"} | per_second))
        if self._reasons:
            told = ", ".join(f"{count:,} {why}" for why, count in self._reasons.most_common())
            self._console.print(f"\nskipped: {told}", soft_wrap=True)
