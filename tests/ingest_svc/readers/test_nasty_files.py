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
KINDS = ("md", "html", "txt", "code", "wrongext", "eml", "msg", "zip", "epub")
KINDS += ("org", "json", "xml", "ipynb")
KINDS += ("csv", "xlsx", "pptx", "docx", "odt", "rtf")

COUNTED_OTHERWISE = {
    "html/scripts.html": "headings_count: expected 3, found 2",
    "docx/headers-numbered.docx": "(2, 'references')]",
}
"""What the manifest counts and readers do not, or the other way round: a heading inside a page's
navigation; and not a document's title (which it counts elsewhere) nor a heading whose style,
"heading 2 invisible num", states its outline level."""

if DATA.is_dir():
    ENTRIES = [e for e in entries(DATA / "MANIFEST.tsv") if e.path.split("/")[0] in KINDS]
    ENTRIES += [Entry("csv/empty.csv", {"error": "EMPTY"})]
else:
    ENTRIES = []


def read(path: str, password: str = "") -> Result:
    started = time.process_time()
    try:
        parsed = read_file((DATA / path).read_bytes(), path, password=password)
        return view(parsed, time.process_time() - started)
    except FileProblem as problem:
        return Problem(problem.reason, problem.message, time.process_time() - started)


@pytest.mark.skipif(not ENTRIES, reason="TREESPAN_DATA names no folder with nasty/")
@pytest.mark.parametrize("entry", ENTRIES or [None], ids=lambda entry: entry and entry.path)
def test_a_difficult_file_is_read_as_its_manifest_expects(entry):
    known = COUNTED_OTHERWISE.get(entry.path)
    without_password = read(entry.path)
    password = entry.expected.get("password", "")
    result = read(entry.path, password) if password else without_password
    failures = check(entry.expected, result, without_password).failures
    assert [failure for failure in failures if not known or known not in failure] == []
    assert known is None or failures
