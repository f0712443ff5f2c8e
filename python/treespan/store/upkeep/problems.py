"""What a check finds in a SQLite store, with what mends it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from treespan.store.upkeep.reports import Finding

RESTORE: Final = "restore a backup"


class Work(Enum):
    """A kind of repair; `Mend.of` says of what."""

    CONTENT = auto()
    """Build the chunks and the full text of a content anew; its number."""
    SPANS = auto()
    """Build the span rows of an artifact anew; its number."""
    ATTRIBUTES = auto()
    """Build the attribute rows of an artifact anew; its number."""
    DROP_CONTENT = auto()
    """Drop a content that no artifact holds; its number."""
    STRAY = auto()
    """Delete the rows of a table that belong to nothing; the table's name."""
    STRAY_TEXTS = auto()
    """Delete the full-text entries of a tenant that belong to no chunk; the tenant's number."""
    TEXTS = auto()
    """Build the full-text table of a tenant anew; its number."""
    INDEXES = auto()
    """Build the indexes of all tables anew."""
    CACHE = auto()
    """Delete the cache of the search service."""


@dataclass(frozen=True, slots=True)
class Mend:
    """A repair."""

    work: Work
    of: int | str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it must be."""

    what: str
    where: str
    mend: Mend | None = None
    """None where only people can help."""
    advice: str = ""

    def finding(self) -> Finding:
        """Return it as a report has it."""
        return Finding(self.what, self.where, self.mend is not None, self.advice)
