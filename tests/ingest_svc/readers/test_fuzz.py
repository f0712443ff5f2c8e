"""Damaged files of every format we have a document of; `tests/fuzz.py` does it for hours."""

from __future__ import annotations

import pytest

import fuzz

SEEDS = fuzz.seeds([fuzz.GOLDEN], None)
FORMATS = sorted({name.rsplit(".", 1)[-1] for name, _ in SEEDS})


@pytest.mark.parametrize("format_", FORMATS)
def test_damaged_files_are_taken_calmly(format_):
    chosen = [(name, data) for name, data in SEEDS if name.endswith(f".{format_}")]
    finds = fuzz.run(chosen, seconds=0.0, seed=20261201, tries=40)
    assert not finds.counts, finds.counts
    assert finds.tries == 40
