from __future__ import annotations

import json

import pytest

from ingest_svc.readers import read_file
from ingest_svc.readers.block import BlockKind
from treespan.errors import DamagedFile, TooLarge


def notebook(*cells, **fields):
    return json.dumps({"nbformat": 4, "cells": list(cells), **fields}).encode()


def test_format_3_has_its_cells_in_worksheets():
    old = {
        "nbformat": 3,
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "source": "Part"},
                    {
                        "cell_type": "code",
                        "language": "python",
                        "input": ["x = 1\n", "x"],
                        "outputs": [{"output_type": "pyout", "text": ["1"]}],
                    },
                ]
            }
        ],
    }
    heading, code, printed = read_file(json.dumps(old).encode(), "a.ipynb").blocks
    assert (heading.kind, heading.level, heading.text) == (BlockKind.HEADING, 2, "Part")
    assert (code.text, code.language) == ("x = 1\nx", "python")
    assert printed.text == "1"


def test_hashes_in_code_cells_are_no_headings_and_those_in_text_are():
    found = read_file(
        notebook(
            {"cell_type": "code", "source": "# not one"},
            {"cell_type": "markdown", "source": "# one"},
        ),
        "nameless",
    )
    assert [block.kind for block in found.blocks] == [BlockKind.CODE, BlockKind.HEADING]


def test_endless_output_is_cut_and_said_to_be():
    cell = {
        "cell_type": "code",
        "source": "x",
        "outputs": [{"output_type": "stream", "text": "y\n" * 9_000}],
    }
    parsed = read_file(notebook(cell), "a.ipynb")
    assert len(parsed.blocks[1].text) <= 4_000
    assert [warning.kind for warning in parsed.warnings] == ["SKIPPED_PART"]
    assert parsed.counts["skipped"] == 1


def test_what_is_no_notebook_is_refused():
    for data in (b"{}", b"[1]", b"{broken"):
        with pytest.raises(DamagedFile):
            read_file(data, "a.ipynb")
    with pytest.raises(TooLarge):
        read_file(b"[" * 5_000, "a.ipynb")
