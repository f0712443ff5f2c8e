"""White space of word processors as it is meant: one space for many, lines and tabs are kept."""

from __future__ import annotations

import re

_INVISIBLE = re.compile("[\xad\u200b\u2060\ufeff]")
_SPACES = re.compile("[ \xa0\u2007\u202f]+")
_MANY_SPACES = re.compile("  |[\xa0\u2007\u202f]")
_AROUND_TAB = re.compile(" *\t[ \t]*")
_EMPTY_LINES = re.compile("\n{3,}")


def tidy(text: str) -> str:
    """Return a paragraph's characters without what only moves them about or cannot be seen."""
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    if "\n" not in text and "\t" not in text and not _MANY_SPACES.search(text):
        return text.strip()
    lines = (_AROUND_TAB.sub("\t", _SPACES.sub(" ", line)).strip() for line in text.split("\n"))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines).strip("\n"))
