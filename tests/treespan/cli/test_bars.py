from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from treespan.cli.bars import Bars, amount
from treespan.cli.files import Source
from treespan.cli.uploads import Outcome, Result
from treespan.v1.ingest_service_pb2 import Progress


@pytest.mark.parametrize(
    ("progress", "said"),
    [
        (
            Progress(stage=Progress.STAGE_RECEIVING, done=500_000, total=2_000_000),
            "500.0 kB of 2.0 MB",
        ),
        (Progress(stage=Progress.STAGE_READING, done=3, total=12), "3 of 12 pages"),
        (Progress(stage=Progress.STAGE_EMBEDDING, done=1200, total=2400), "1,200 of 2,400 chunks"),
        (Progress(stage=Progress.STAGE_READING, done=3), ""),
        (Progress(stage=Progress.STAGE_QUEUED), ""),
        (Progress(stage=Progress.STAGE_COMMITTING), ""),
    ],
)
def test_amount_is_in_the_unit_of_the_stage(progress, said):
    assert amount(progress) == said


def test_bars_show_the_stage_of_each_file_and_all_files():
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100, color_system=None)
    source = Source(Path("论文.pdf"), "论文.pdf", "论文.pdf")
    with Bars(console, 3, shown=True) as bars:
        bars.started(source)
        bars.progressed(source, Progress(stage=Progress.STAGE_READING, done=3, total=12))
        bars._bars.refresh()
        shown = out.getvalue()
        bars.finished(Outcome(source, Result.OK))
        bars._bars.refresh()
    assert "论文.pdf" in shown
    assert "reading" in shown
    assert "3 of 12 pages" in shown
    assert "1/3 files" in out.getvalue()


def test_no_bars_where_there_is_no_terminal():
    out = io.StringIO()
    with Bars(Console(file=out), 1, shown=True) as bars:
        bars.started(Source(Path("a"), "a", "a"))
    assert out.getvalue() == ""
