"""Full text of a SQLite store: whether every chunk is indexed, and with which words.

The texts themselves are not in the index, so its words are compared with those that follow from the
trees: their number always, the words and their places where everything is to be compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from treespan.store.sqlite.connection import rows, value
from treespan.store.sqlite.tables import text_table

if TYPE_CHECKING:
    import apsw

    from treespan.store.derived import Derived

Marks: TypeAlias = dict[int, int]
"""A number that follows from all words of an entry and their places, by the entry's number."""

_COLUMNS = ("heading", "body")
_BITS = 2**64 - 1


def sizes_differ(
    connection: apsw.Connection, tenant: int, numbers: list[int], derived: Derived
) -> bool:
    """Return whether entries of the full text are missing or have another number of words.

    Args:
        connection: The connection, inside a transaction.
        tenant: Number of the tenant, whose full-text table exists.
        numbers: `chunk.id` of each of the texts.
        derived: What the texts must be.
    """
    held = rows(
        connection,
        f"SELECT id, sz FROM {text_table(tenant)}_docsize WHERE id IN"
        " (SELECT value FROM json_each(?))",
        str(numbers),
    )
    expected = {
        number: [len(text.split()) for text in texts]
        for number, texts in zip(numbers, derived.texts, strict=True)
    }
    return {number: _varints(size) for number, size in held} != expected


def expected_marks(numbers: list[int], derived: Derived) -> Marks:
    """Return the marks of entries as they must be."""
    return {
        number: sum(
            hash((word, column, place))
            for column, text in zip(_COLUMNS, texts, strict=True)
            for place, word in enumerate(text.split())
        )
        & _BITS
        for number, texts in zip(numbers, derived.texts, strict=True)
    }


def held_marks(connection: apsw.Connection, tenant: int) -> Marks:
    """Return the marks of all entries of a tenant's full-text table; reads the whole index.

    Raises:
        apsw.CorruptError: the index is damaged.
    """
    marks: Marks = {}
    # Only the connection's own database of temporary tables is written.
    before = value(connection, "PRAGMA query_only")
    connection.execute("PRAGMA query_only = OFF")
    try:
        connection.execute(
            f"CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, {text_table(tenant)}, instance)"
        )
        select = "SELECT doc, term, col, offset FROM temp.words"
        for number, term, column, place in connection.execute(select):
            marks[number] = marks.get(number, 0) + hash((term, column, place))
    finally:
        connection.execute("DROP TABLE IF EXISTS temp.words")
        connection.execute(f"PRAGMA query_only = {before}")
    return {number: mark & _BITS for number, mark in marks.items()}


def _varints(packed: bytes) -> list[int]:
    """Return SQLite's variable-length integers; those of sizes have fewer than nine bytes."""
    found, current = [], 0
    for byte in packed:
        current = current << 7 | byte & 0x7F
        if byte < 0x80:
            found.append(current)
            current = 0
    return found
