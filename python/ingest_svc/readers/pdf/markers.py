"""Marks that list items start with."""

from __future__ import annotations

import re
from functools import lru_cache

_BULLETS = "•◦▪▫■□●○◆◇►▶‣⁃∙·➢➔✓✔❖★☆\uf0b7\uf0a7\uf0d8\uf0fc\uf076\uf06e\uf02d"
_BULLET = re.compile(rf"^([{_BULLETS}]|[–—*-](?=\s))\s*")
_NUMBER = re.compile(
    r"^(\(?(?:\d{1,3}|[a-zA-Z]|[ivxlcIVXLC]{1,6})[.)](?=\s)|\.\d{1,2}(?=\s)|\((?:\d{1,3}|[a-zA-Z]|[ivxlc]{1,6})\)"
    r"|（[一二三四五六七八九十百\d]{1,4}）|[①-⑳]|[一二三四五六七八九十百]{1,4}、|\d{1,3}、)\s*"
)
_INITIAL = re.compile(r"^[A-Z]\.\s+[A-Z][\w.]*")


@lru_cache(maxsize=4096)  # a row is asked about again by its neighbours
def marker_of(text: str) -> tuple[str, str] | None:
    """Return the mark that a text starts with and the rest, None where it starts with none.

    The mark is empty for bullets, else as written.
    """
    if found := _BULLET.match(text):
        return "", text[found.end() :]
    found = _NUMBER.match(text)
    if not found or (_INITIAL.match(text) and not text.startswith(("A. ", "B. ", "C. ", "D. "))):
        return None
    return found.group(1), text[found.end() :]


_ALONE = re.compile(rf"^[{_BULLETS}]$")


def is_bullet(text: str) -> bool:
    """Tell whether a text is a bullet and nothing else."""
    return _ALONE.match(text) is not None
