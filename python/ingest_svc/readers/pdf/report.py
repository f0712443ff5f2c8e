"""What is said of a document beside its blocks: the errors, warnings and counts of its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest_svc.readers.block import Warning
from treespan.errors import DamagedFile, EmptyFile, NoTextLayer

if TYPE_CHECKING:
    from ingest_svc.readers.limits import ReaderLimits
    from ingest_svc.readers.pdf.recognition import Recognised


def check_text(looked: Recognised, *, repaired: bool) -> None:
    """Raise where no page has any text.

    Raises:
        DamagedFile: nothing is left of a damaged file.
        EmptyFile: there is nothing on its pages.
        NoTextLayer: they are pictures that were not read.
    """
    if looked.blocks or any(page.lines for page in looked.pages):
        return
    count = len(looked.pages)
    if looked.quality.without_text:
        pages = (
            "the only page has no text: it is a picture"
            if count == 1
            else (f"none of the {count} pages has text: they are pictures or drawings")
        )
        raise NoTextLayer(f"{pages}; {_why(looked)}")
    if repaired:
        raise DamagedFile("the PDF is damaged, and nothing is left on its pages")
    raise EmptyFile(f"the PDF has {count} pages with nothing on them; pages with text are needed")


def _why(looked: Recognised) -> str:
    """Return why pages were not read, and what would help."""
    failed = "; ".join(dict.fromkeys(looked.failed.values()))
    return looked.advice or failed or "text recognition found no text in them"


def counts_of(looked: Recognised) -> dict[str, int]:
    """Return how many pages have text, have none, and have it by recognition."""
    without, blank = len(looked.quality.without_text), len(looked.quality.blank)
    return {
        "pages_with_text": len(looked.pages) - without - blank - len(looked.read),
        "pages_without_text": without,
        "pages_by_ocr": len(looked.read),
        "skipped": without,
    }


def warnings_of(looked: Recognised, limits: ReaderLimits, *, repaired: bool) -> list[Warning]:
    """Return what went less than well."""
    found: list[Warning] = []
    if repaired:
        found.append(
            Warning("DAMAGED", "the PDF is damaged; it was repaired, parts may be missing")
        )
    found += looked.quality.warnings(_why(looked))
    found += looked.warnings()
    broken = [page.number for page in looked.pages if page.broken_characters]
    if broken:
        total = sum(page.broken_characters for page in looked.pages)
        message = f"{total} characters are no text and were replaced"
        found.append(Warning("REPLACED_CHARACTERS", message, broken))
    most = limits.max_page_rules
    left = [page.number for page in looked.pages if not page.searched or page.rules.count > most]
    if left:
        message = (
            "tables there were left as text: more drawn lines than readers.max_page_rules ="
            f" {most}, or more content than readers.max_page_drawing_bytes ="
            f" {limits.max_page_drawing_bytes}"
        )
        found.append(Warning("TRUNCATED_TABLE", message, left))
    return found
