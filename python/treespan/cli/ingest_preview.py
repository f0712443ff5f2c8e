"""What an ingest would do, told without doing it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from treespan.cli.ingest_report import left_out_json
from treespan.cli.screen import echo_json, one_line, row, screen, show

if TYPE_CHECKING:
    from treespan.cli.files import LeftOut
    from treespan.cli.plain import Json
    from treespan.cli.plan import Step


class Preview:
    """Tells what a run would do."""

    def __init__(self, *, as_json: bool) -> None:
        """Take the form: lines for people and a table, or a JSON object a line."""
        self._as_json = as_json
        self._console = screen()
        self._counts: Counter[str] = Counter()

    def left_out(self, left_out: LeftOut) -> None:
        """Tell of a file that would be passed over."""
        self._tell("skipped", str(left_out.path), left_out_json(left_out), left_out.reason)

    def step(self, step: Step) -> None:
        """Tell what would be done with a source."""
        source = step.source
        value: Json = {
            "path": source.place,
            "name": source.artifact,
            "result": step.verdict.name,
            "reason": step.message,
        }
        verdict = "to fetch" if source.uri else step.verdict.value
        self._tell(verdict, source.file_name or source.uri, value, step.message)

    def deletion(self, name: str) -> None:
        """Tell of an artifact that would be deleted."""
        value: Json = {"path": "", "name": name, "result": "TO_DELETE", "reason": ""}
        self._tell("to delete", name, value, "")

    def close(self) -> None:
        """Write the numbers."""
        if not self._as_json:
            self._console.print()
            show(row({name: f"{count:,}" for name, count in self._counts.items()}))

    def _tell(self, verdict: str, name: str, value: Json, why: str) -> None:
        self._counts[verdict] += 1
        if self._as_json:
            echo_json(value)
            return
        line = Text.assemble((verdict, "bold"), f"  {one_line(name)}")
        self._console.print(line.append(f"  {one_line(why)}" if why else ""), soft_wrap=True)
