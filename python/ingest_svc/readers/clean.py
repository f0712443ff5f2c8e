"""The last step of every reader: characters that no text may hold are replaced.

Lone surrogates cannot be written as UTF-8 and NULs are refused by databases: both become U+FFFD and
are counted. Other control characters become spaces, so that a document cannot steer a terminal that
shows it.
"""

from __future__ import annotations

import re

import msgspec

from ingest_svc.readers.block import Block, ParsedFile, Table, Value, Warning

_IMPOSSIBLE = re.compile("[\x00\ud800-\udfff]")
_UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def cleaned(parsed: ParsedFile, undecoded: int) -> ParsedFile:
    """Return the file with characters replaced and, if any, a warning that counts them.

    Args:
        parsed: What a reader made.
        undecoded: Places that were lost when bytes became text.
    """
    cleaner = _Cleaner()
    blocks = [cleaner.block(block) for block in parsed.blocks]
    parsed = msgspec.structs.replace(
        parsed,
        blocks=blocks,
        title=cleaner.text(parsed.title),
        metadata={
            cleaner.text(key): cleaner.value(value) for key, value in parsed.metadata.items()
        },
    )
    replaced = cleaner.replaced + undecoded
    if not replaced:
        return parsed
    message = f"{replaced} characters of the file could not be kept and are U+FFFD in the text"
    warning = Warning("REPLACED_CHARACTERS", message)
    return msgspec.structs.replace(parsed, warnings=[*parsed.warnings, warning])


def has_content(parsed: ParsedFile) -> bool:
    """Tell whether any block has a character that is not white space."""
    return any(_texts(block) for block in parsed.blocks)


def _texts(block: Block) -> bool:
    if block.table is None:
        return bool(block.text.strip())
    rows = [[block.table.caption], block.table.header, *block.table.rows]
    return any(cell.strip() for row in rows for cell in row)


class _Cleaner:
    """Replaces characters and counts the losses."""

    def __init__(self) -> None:
        self.replaced = 0

    def text(self, text: str) -> str:
        if not _UNWANTED.search(text):
            return text
        text, count = _IMPOSSIBLE.subn("\ufffd", text)
        self.replaced += count
        return _UNWANTED.sub(" ", text)

    def value(self, value: Value) -> Value:
        if isinstance(value, str):
            return self.text(value)
        return [self.text(part) for part in value] if isinstance(value, list) else value

    def block(self, block: Block) -> Block:
        table = None if block.table is None else self.table(block.table)
        text, marker = self.text(block.text), self.text(block.marker)
        language = self.text(block.language)
        if text is block.text and marker is block.marker and table is block.table:
            return block
        return msgspec.structs.replace(
            block, text=text, marker=marker, language=language, table=table
        )

    def table(self, table: Table) -> Table:
        rows = [[table.caption], table.header, *table.rows]
        if not any(_UNWANTED.search(cell) for row in rows for cell in row):
            return table
        return msgspec.structs.replace(
            table,
            caption=self.text(table.caption),
            header=[self.text(cell) for cell in table.header],
            rows=[[self.text(cell) for cell in row] for row in table.rows],
        )
