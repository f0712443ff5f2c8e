"""The documents in samples/ are what their README says; the printed report is the written one."""

from __future__ import annotations

import re
import runpy
import unicodedata
from pathlib import Path

import pymupdf
import pytest

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
TABLE_ROW = re.compile(r"^\|(.+)\|$", re.M)


def read(name: str) -> str:
    return (SAMPLES / name).read_text(encoding="utf-8")


def words(text: str) -> str:
    """Return text as one line, without hyphenation, ligatures and typographic spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def paragraphs(markdown: str) -> list[str]:
    blocks = (block.strip() for block in markdown.split("\n\n"))
    return [words(block) for block in blocks if block and block[0] not in "#|"]


def figures(name: str) -> list[list[float]]:
    """Return the two columns of amounts in a report's table, the row of the sum last."""
    cells = [[cell.strip() for cell in row.split("|")] for row in TABLE_ROW.findall(read(name))]
    return [[float(row[column]) for row in cells[2:]] for column in (1, 2)]


def test_printed_report_holds_every_paragraph_of_the_written_one():
    with pymupdf.open(SAMPLES / "q3-report-en.pdf") as document:
        text = words(" ".join(page.get_text(clip=body(page)) for page in document))
    assert [one for one in paragraphs(read("q3-report-en.md")) if one not in text] == []


def body(page: pymupdf.Page) -> pymupdf.Rect:
    """Return a page without running head and page number; its text lies in reading order."""
    box = page.rect
    return pymupdf.Rect(box.x0, box.y0 + 50, box.x1, box.y1 - 50)


def test_printed_report_has_two_pages_an_outline_and_the_title():
    with pymupdf.open(SAMPLES / "q3-report-en.pdf") as document:
        outline = [(level, title) for level, title, _ in document.get_toc()]
        stated = [(len(level) - 1, title) for level, title in headings("q3-report-en.md")[1:]]
        assert (document.page_count, outline) == (2, stated)
        assert document.metadata["title"] == headings("q3-report-en.md")[0][1]


def headings(name: str) -> list[tuple[str, str]]:
    return re.findall(r"^(#+) (.+)$", read(name), re.M)


@pytest.mark.parametrize("name", ["q3-report-zh.md", "q3-report-en.md"])
def test_table_adds_up(name):
    for column in figures(name):
        assert sum(column[:-1]) == pytest.approx(column[-1])


def test_demo_expects_words_that_stand_in_the_samples():
    text = words(" ".join(read(path.name) for path in SAMPLES.glob("*.md")))
    assert [
        question.expected
        for question in runpy.run_path(str(SAMPLES / "demo.py"))["QUESTIONS"]
        if question.expected not in text
    ] == []


def test_readme_lists_every_file():
    listed = set(re.findall(r"`([\w-]+\.\w+)`", read("README.md")))
    present = {path.name for path in SAMPLES.iterdir() if path.is_file()} - {"README.md"}
    assert listed == present
