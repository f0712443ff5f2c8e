"""JSON values as blocks: lists of flat objects become tables, other objects sections.

Numbers stay as they are written, so that none loses a digit. A key that comes twice is kept twice.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ingest_svc.readers.block import Block, BlockKind, Table
from ingest_svc.readers.limits import check, too_large

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest_svc.readers.limits import ReaderLimits

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)
_NAMES = ("title", "name", "label", "heading", "id", "key")
_LONG = 300
"""Text longer than this is a paragraph of its own, not a value beside others."""
_MOST_COLUMNS = 256


class Fields(list[tuple[str, "Value"]]):
    """The fields of an object, in the file's order."""


Value: TypeAlias = "str | list[Value] | Fields"


def parsed_json(text: str, limits: ReaderLimits) -> Value:
    """Return a JSON text's value; everything that is no list or object as text.

    Raises:
        TooLarge: it is nested too deeply.
        ValueError: it is no JSON.
    """
    check_depth(text, limits)
    value: Value = json.loads(
        text,
        parse_int=str,
        parse_float=str,
        parse_constant=str,
        object_pairs_hook=lambda pairs: Fields((key, _plain(value)) for key, value in pairs),
    )
    return _plain(value)


def check_depth(text: str, limits: ReaderLimits) -> None:
    """Refuse what a parser would fall over, before it does."""
    depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] in ("[", "{"):
            depth += 1
            if depth > limits.max_nesting:
                raise too_large(limits, "max_nesting", f"more than {limits.max_nesting}")
        elif token[0] in ("]", "}"):
            depth -= 1


def _plain(value: object) -> Value:
    if isinstance(value, Fields):
        return value
    if isinstance(value, list):
        return [_plain(element) for element in value]
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(slots=True)
class JsonBlocks:
    """Makes blocks of values."""

    limits: ReaderLimits
    blocks: list[Block] = field(default_factory=list)
    _cells: int = 0

    def add(self, value: Value, level: int = 1, name: str = "") -> None:
        """Add a value, under a heading where it has a name."""
        if isinstance(value, str):
            self._paragraph(f"{name}: {value}" if name else value)
            return
        if not value:
            return
        if name:
            self.blocks.append(Block(BlockKind.HEADING, name, min(level, self.limits.max_nesting)))
            level += 1
        if isinstance(value, Fields):
            self._object(value, level)
        else:
            self._list(value, level, name)

    def _object(self, fields: Fields, level: int) -> None:
        short = [(key, held) for key, held in fields if isinstance(held, str) and _is_short(held)]
        self._paragraph("\n".join(f"{key}: {held}" for key, held in short if held))
        for key, held in fields:
            if isinstance(held, str):
                if not _is_short(held):
                    self._paragraph(f"{key}:\n{held}" if key else held)
            elif held:
                self.add(held, level, key)

    def _list(self, values: list[Value], level: int, name: str) -> None:
        if records := _records(values):
            self._table(records)
        elif all(isinstance(value, str) for value in values):
            for value in values:
                if str(value).strip():
                    self.blocks.append(Block(BlockKind.LIST_ITEM, str(value).strip(), 1))
        else:
            for place, value in enumerate(values, 1):
                own = _name_of(value) or f"{name} {place}".strip()
                self.add(value, level, own if isinstance(value, Fields) else "")

    def _table(self, records: Sequence[Fields]) -> None:
        columns = list(dict.fromkeys(key for record in records for key, _ in record))
        self._cells += len(columns) * (len(records) + 1)
        check(self.limits, "max_table_cells", self._cells)
        rows = []
        for record in records:
            held: dict[str, str] = {}
            for key, value in record:
                text = _joined(value)
                held[key] = f"{held[key]}; {text}" if key in held else text
            rows.append([held.get(column, "") for column in columns])
        self.blocks.append(Block(BlockKind.TABLE, table=Table(columns, rows)))

    def _paragraph(self, text: str) -> None:
        if text.strip():
            self.blocks.append(Block(BlockKind.PARAGRAPH, text.strip()))


def title_of(value: Value) -> str:
    """Return the title that an object states; empty where it states none."""
    if isinstance(value, Fields):
        for key, held in value:
            if key.lower() == "title" and isinstance(held, str):
                return held.strip()
    return ""


def _is_short(text: str) -> bool:
    return len(text) <= _LONG and "\n" not in text.strip()


def _records(values: list[Value]) -> list[Fields]:
    """Return the values where they are rows of a table: flat objects with few fields."""
    records = [value for value in values if isinstance(value, Fields)]
    if not records or len(records) < len(values):
        return []
    if not all(_is_flat(held) for record in records for _, held in record):
        return []
    keys = {key for record in records for key, _ in record}
    return records if 0 < len(keys) <= _MOST_COLUMNS else []


def _is_flat(value: Value) -> bool:
    if isinstance(value, str):
        return len(value) <= 10 * _LONG
    if isinstance(value, Fields):
        return False
    return len(value) <= 20 and all(
        isinstance(element, str) and len(element) <= _LONG for element in value
    )


def _joined(value: Value) -> str:
    return value if isinstance(value, str) else ", ".join(map(str, value))


def _name_of(value: Value) -> str:
    """Return what an object in a list is called by its title or name; empty where it has none."""
    if isinstance(value, Fields):
        fields = {key.lower(): held for key, held in value if isinstance(held, str)}
        for name in _NAMES:
            if 0 < len(fields.get(name, "")) <= _LONG:
                return fields[name]
    return ""
