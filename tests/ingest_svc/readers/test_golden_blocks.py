"""Whole documents of our own, drawn as blocks; TREESPAN_REGENERATE=1 writes the goldens anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ingest_svc.readers import read_file
from ingest_svc.readers.block import Block, ParsedFile

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "blocks"
DOCUMENTS = sorted(path for path in GOLDEN.iterdir() if path.suffix != ".golden")


def drawn(parsed: ParsedFile) -> str:
    facts = [f"{parsed.media_type} {parsed.title!r}"]
    facts += [f"{key}: {value}" for key, value in sorted(parsed.metadata.items())]
    facts += [f"{key}: {date}" for key, date in sorted(parsed.dates.items())]
    facts += [f"{name} = {count}" for name, count in sorted(parsed.counts.items()) if count]
    facts += [f"warning {warning.kind}" for warning in parsed.warnings]
    return (
        "\n".join([*facts, "", *(line for block in parsed.blocks for line in lines(block))]) + "\n"
    )


def lines(block: Block) -> list[str]:
    signs = [block.kind.name.lower(), str(block.level or ""), block.marker, block.language]
    signs.append("" if block.stated else "guessed")
    head = " ".join(filter(None, signs))
    if block.table is None:
        return [f"{head}: {block.text!r}"]
    rows = [block.table.header, *block.table.rows]
    return [f"{head}: {block.table.caption!r}", *(f"    {' | '.join(row)}" for row in rows)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_becomes_its_golden_blocks(document):
    golden = document.with_name(document.name + ".golden")
    found = drawn(read_file(document.read_bytes(), document.name))
    if os.environ.get("TREESPAN_REGENERATE"):
        golden.write_text(found, "utf-8")
    assert found == golden.read_text("utf-8")
