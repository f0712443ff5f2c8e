"""How good the text of a page is: none where it is a picture, bad where glyphs have no letters."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from ingest_svc.readers.block import Warning
from ingest_svc.readers.pdf.lines import Page
from ingest_svc.readers.pdf.text import squeezed

_LITTLE = 60
"""Fewer characters than this beside a large picture or many paths are no text layer."""
_PICTURE = 0.4
_MANY_PATHS = 150
_BAD_SHARE = 0.15
_MIN_JUDGED = 20
_BAD = re.compile(r"[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f\x7f-\x9f]|[\U000f0000-\U0010fffd]")
_GLYPH_NAMES = re.compile(r"\(cid:\d+\)|(?:/?\b[gG]\d{1,4}\b\s*){4,}|(?:/[A-Z]\d{1,3}){3,}")
_GLYPH_NAME = re.compile(r"\(cid:|[gG]\d|/[A-Z]\d")
"""What any glyph name has; cheap to look for."""
_MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class Quality:
    """Pages with trouble, by number from 1."""

    without_text: tuple[int, ...]
    bad_text: tuple[int, ...]
    blank: tuple[int, ...]
    """Pages with nothing on them at all."""

    def without(self, read: Container[int]) -> Quality:
        """Return what is left where an engine read some pages."""
        return Quality(
            tuple(number for number in self.without_text if number not in read),
            tuple(number for number in self.bad_text if number not in read),
            self.blank,
        )

    def warnings(self, advice: str) -> list[Warning]:
        """Return what is to be said about them.

        Args:
            advice: Why pages without text were not read, or what would help.
        """
        found: list[Warning] = []
        if self.without_text:
            found.append(
                Warning(
                    "NO_TEXT_LAYER",
                    f"{_pages(self.without_text)} no text, or hardly any, beside pictures or"
                    f" drawings; {advice}",
                    list(self.without_text),
                )
            )
        if self.bad_text:
            found.append(
                Warning(
                    "BAD_TEXT_LAYER",
                    f"{_pages(self.bad_text)} glyphs that stand for no letters;"
                    " what was read there is doubtful",
                    list(self.bad_text),
                )
            )
        return found


def _pages(numbers: Sequence[int]) -> str:
    """Return a subject for a sentence about pages."""
    if len(numbers) == 1:
        return f"page {numbers[0]} has"
    listed = ", ".join(map(str, numbers[:_MOST_LISTED]))
    more = f" and {len(numbers) - _MOST_LISTED} more" if len(numbers) > _MOST_LISTED else ""
    return f"pages {listed}{more} have"


def quality_of(pages: Sequence[Page]) -> Quality:
    """Return which pages have no text, bad text or nothing."""
    without: list[int] = []
    bad: list[int] = []
    blank: list[int] = []
    for page in pages:
        # Leader dots without letters of their own are no fault of the text.
        text = " ".join(squeezed(line.text) for line in page.lines)
        if not text and not _has_picture(page):
            blank.append(page.number)
        elif _has_no_text(text, page):
            without.append(page.number)
        elif _is_bad(text):
            bad.append(page.number)
    return Quality(tuple(without), tuple(bad), tuple(blank))


def _has_picture(page: Page) -> bool:
    """Tell whether a page shows anything but text; one too long to be looked at surely does."""
    return page.picture_share >= 0.01 or page.drawings > 0 or not page.searched


def _has_no_text(text: str, page: Page) -> bool:
    """Tell whether what a page shows is not in its text."""
    if not text:
        return _has_picture(page)
    pictured = page.picture_share >= _PICTURE or page.drawings >= _MANY_PATHS
    return len(text) < _LITTLE and pictured


def _is_bad(text: str) -> bool:
    """Tell whether too many characters of a text stand for no letter."""
    if len(text) < _MIN_JUDGED:
        return False
    bad = 0 if text.isascii() and text.isprintable() else len(_BAD.findall(text))
    if _GLYPH_NAME.search(text):
        bad += sum(map(len, _GLYPH_NAMES.findall(text)))
    return bad >= _BAD_SHARE * len(text.replace(" ", ""))
