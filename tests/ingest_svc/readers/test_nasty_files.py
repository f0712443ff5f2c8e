"""The difficult files of the kinds served, each against what its manifest expects."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ingest_svc.readers import read_file
from manifest import Entry, Problem, Result, check, entries, view
from treespan.errors import FileProblem

DATA = Path(os.environ.get("TREESPAN_DATA", "")) / "nasty"
KINDS = ("md", "html", "txt", "code", "wrongext")

COUNTED_WITH_NAVIGATION = {
    "html/scripts.html": "headings_count: expected 3, found 2",
    "html/wikipedia.html": "headings_count: expected 32, found 31",
}
"""The manifest counts one heading inside the page's navigation, which readers leave out."""

if DATA.is_dir():
    ENTRIES = [e for e in entries(DATA / "MANIFEST.tsv") if e.path.split("/")[0] in KINDS]
    ENTRIES += [Entry("csv/empty.csv", {"error": "EMPTY"})]
else:
    ENTRIES = []


def read(path: str) -> Result:
    started = time.process_time()
    try:
        return view(read_file((DATA / path).read_bytes(), path), time.process_time() - started)
    except FileProblem as problem:
        return Problem(problem.reason, problem.message, time.process_time() - started)


@pytest.mark.skipif(not ENTRIES, reason="TREESPAN_DATA names no folder with nasty/")
@pytest.mark.parametrize("entry", ENTRIES or [None], ids=lambda entry: entry and entry.path)
def test_a_difficult_file_is_read_as_its_manifest_expects(entry):
    known = COUNTED_WITH_NAVIGATION.get(entry.path)
    assert check(entry.expected, read(entry.path)).failures == ((known,) if known else ())
