"""Golden documents that a script makes are those in the folder; TREESPAN_REGENERATE=1 writes."""

from __future__ import annotations

import os

import pytest
from made_golden_files import made_files
from test_golden_blocks import GOLDEN


@pytest.mark.parametrize("name", made_files())
def test_a_golden_document_is_what_its_script_makes(name):
    data = made_files()[name]
    if os.environ.get("TREESPAN_REGENERATE"):
        (GOLDEN / name).write_bytes(data)
    assert (GOLDEN / name).read_bytes() == data
