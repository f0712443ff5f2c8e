"""Jupyter notebooks: Markdown cells as text, code cells as code with what they printed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Warning
from ingest_svc.readers.json_tree import check_depth
from ingest_svc.readers.markdown import read_markdown
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest_svc.readers.source import Source

_MOST_OUTPUT = 4_000
"""Characters of one cell's printed output; the rest is said to be left out."""


def read_notebook(source: Source) -> ParsedFile:
    """Return the blocks of a notebook of format 3 or 4.

    Raises:
        DamagedFile: it is no notebook.
    """
    text = source.text.lstrip("\ufeff")
    check_depth(text, source.limits)
    try:
        notebook = json.loads(text)
    except ValueError as error:
        raise DamagedFile(f"the notebook is no JSON: {error}") from error
    cells = _cells(notebook)
    if cells is None:
        raise DamagedFile("the file is JSON, and no notebook: it has no list of cells")
    meta = _dict(notebook.get("metadata"))
    language = _language(meta)
    blocks: list[Block] = []
    cut = 0
    for cell in cells:
        made, left_out = _cell(cell, language, source)
        blocks += made
        cut += left_out
    title = meta.get("title")
    return ParsedFile(
        blocks=blocks,
        media_type="application/x-ipynb+json",
        title=title if isinstance(title, str) else "",
        warnings=[Warning("SKIPPED_PART", f"the output of {cut} cells was cut")] if cut else [],
        metadata={"programming_language": language} if language else {},
        counts={"skipped": cut},
    )


def _cells(notebook: Any) -> list[dict[str, Any]] | None:
    held = _dict(notebook)
    if isinstance(held.get("worksheets"), list):  # format 3
        sheets = [_dict(sheet).get("cells") for sheet in held["worksheets"]]
        listed = [cell for cells in sheets if isinstance(cells, list) for cell in cells]
    elif isinstance(held.get("cells"), list):
        listed = held["cells"]
    else:
        return None
    return [cell for cell in listed if isinstance(cell, dict)]


def _cell(cell: dict[str, Any], language: str, source: Source) -> tuple[list[Block], int]:
    """Return the blocks of a cell, and whether its output was cut (1 or 0)."""
    text = _text(cell.get("source", cell.get("input")))
    match cell.get("cell_type"):
        case "markdown":
            return list(read_markdown(replace(source, text=text)).blocks), 0
        case "heading":
            level = cell.get("level")
            heading = Block(BlockKind.HEADING, text, level if isinstance(level, int) else 1)
            return [heading] if text.strip() else [], 0
        case "code":
            return _code(cell, text, str(cell.get("language") or language))
        case _:
            return [Block(BlockKind.PARAGRAPH, text)] if text.strip() else [], 0


def _code(cell: dict[str, Any], text: str, language: str) -> tuple[list[Block], int]:
    blocks = [Block(BlockKind.CODE, text, language=language)] if text.strip() else []
    outputs = cell.get("outputs")
    printed = "\n".join(_printed(outputs if isinstance(outputs, list) else []))
    if printed.strip():
        blocks.append(Block(BlockKind.CODE, printed[:_MOST_OUTPUT].rstrip(), language="text"))
    return blocks, int(len(printed) > _MOST_OUTPUT)


def _printed(outputs: list[Any]) -> Iterator[str]:
    """Yield the words of outputs; pictures and their like have none."""
    for output in map(_dict, outputs):
        data = _dict(output.get("data"))
        if output.get("output_type") in ("error", "pyerr"):
            yield f"{output.get('ename', '')}: {output.get('evalue', '')}"
        elif text := _text(output.get("text", data.get("text/plain"))):
            yield text.rstrip("\n")


def _language(meta: dict[str, Any]) -> str:
    names = (
        _dict(meta.get("language_info")).get("name"),
        _dict(meta.get("kernelspec")).get("language"),
    )
    return next((name for name in names if isinstance(name, str)), "")


def _text(held: Any) -> str:
    if isinstance(held, list):
        return "".join(part for part in held if isinstance(part, str))
    return held if isinstance(held, str) else ""


def _dict(held: Any) -> dict[str, Any]:
    return held if isinstance(held, dict) else {}
