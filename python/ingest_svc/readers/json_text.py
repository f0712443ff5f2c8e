"""JSON and JSON Lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest_svc.readers.block import ParsedFile, Warning
from ingest_svc.readers.json_tree import Fields, JsonBlocks, Value, parsed_json, title_of
from treespan.errors import DamagedFile, TooLarge

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source

_MOST_NAMED = 20


def read_json(source: Source) -> ParsedFile:
    """Return the blocks of a JSON text; several values behind each other are read as lines.

    Raises:
        DamagedFile: it is no JSON.
        TooLarge: it is nested too deeply, or has too many cells.
    """
    text = source.text.lstrip("\ufeff")
    try:
        value = parsed_json(text, source.limits)
    except ValueError as error:
        lines = _lines(text, source)
        if lines is not None and len(lines.values) > 1 and len(lines.bad) < len(lines.values):
            return lines.parsed(source, "application/json")
        raise DamagedFile(f"the file is no JSON: {error}") from error
    blocks = JsonBlocks(source.limits)
    blocks.add(value)
    records = len(value) if isinstance(value, list) and not isinstance(value, Fields) else 0
    return ParsedFile(
        blocks=blocks.blocks,
        media_type="application/json",
        title=title_of(value),
        counts={"records": records} if records else {},
    )


def read_json_lines(source: Source) -> ParsedFile:
    """Return the blocks of a text with a JSON value a line; lines that are none are counted.

    Raises:
        DamagedFile: no line is JSON.
        TooLarge: a line is nested too deeply, or there are too many cells.
    """
    lines = _lines(source.text.lstrip("\ufeff"), source)
    if lines is None:
        raise DamagedFile("no line of the file is JSON")
    return lines.parsed(source, "application/jsonl")


class _Lines:
    """The values of lines, and the numbers of those that are none."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.bad: list[int] = []

    def parsed(self, source: Source, media_type: str) -> ParsedFile:
        """Return the lines as a file."""
        blocks = JsonBlocks(source.limits)
        blocks.add(self.values)
        warnings = []
        if self.bad:
            shown = ", ".join(map(str, self.bad[:_MOST_NAMED]))
            more = " and others" if len(self.bad) > _MOST_NAMED else ""
            warnings.append(
                Warning(
                    "SKIPPED_PART",
                    f"{len(self.bad)} lines are no JSON, or too deep: line {shown}{more}",
                )
            )
        return ParsedFile(
            blocks=blocks.blocks,
            media_type=media_type,
            warnings=warnings,
            counts={"records": len(self.values), "skipped": len(self.bad)},
        )


def _lines(text: str, source: Source) -> _Lines | None:
    """Return the lines of a text; None where none of them is JSON."""
    found = _Lines()
    too_deep: TooLarge | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found.values.append(parsed_json(line, source.limits))
        except ValueError:
            found.bad.append(number)
        except TooLarge as error:
            too_deep = error
            found.bad.append(number)
    if too_deep is not None and not found.values:
        raise too_deep
    return found if found.values else None
