"""PDFs made for tests, small enough that every block of them is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pymupdf

from ingest_svc.readers.block import Block, ParsedFile
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.pdf.reader import read_pdf
from ingest_svc.readers.source import ReadOptions, Source

WIDTH, HEIGHT = 595, 842
BODY = 11.0
PITCH = 14.0


@dataclass
class MadePdf:
    """A document in the making; y is the baseline, from the top."""

    document: pymupdf.Document = field(default_factory=pymupdf.open)

    def page(self) -> MadePdf:
        self.document.new_page(width=WIDTH, height=HEIGHT)
        return self

    def text(self, x: float, y: float, text: str, size: float = BODY, font: str = "helv"):
        self.document[-1].insert_text((x, y), text, fontsize=size, fontname=font)
        return self

    def lines(self, x: float, y: float, lines: Sequence[str], size: float = BODY):
        for step, line in enumerate(lines):
            self.text(x, y + step * PITCH * size / BODY, line, size)
        return self

    def grid(
        self,
        x: float,
        y: float,
        rows: Sequence[Sequence[str]],
        width: float = 100,
        *,
        at_once: bool = False,
    ):
        """Draw a ruled table; rows are 20 points high.

        With `at_once` all its lines are drawn without lifting the pen, as one path.
        """
        page = self.document[-1]
        right, bottom = x + width * len(rows[0]), y + 20 * len(rows)
        lines = [((x, at), (right, at)) for at in (y + 20 * n for n in range(len(rows) + 1))]
        columns = (x + width * n for n in range(len(rows[0]) + 1))
        lines += [((at, y), (at, bottom)) for at in columns]
        if at_once:
            turns = [line if n % 2 else line[::-1] for n, line in enumerate(lines)]
            page.draw_polyline([point for line in turns for point in line])
        else:
            for start, end in lines:
                page.draw_line(start, end)
        for row, cells in enumerate(rows):
            for column, cell in enumerate(cells):
                self.text(x + width * column + 4, y + 20 * row + 14, cell)
        return self

    def data(self, **options) -> bytes:
        return self.document.tobytes(**options)

    def blocks(self, **options) -> list[Block]:
        return read(self.data(), **options).blocks


def read(data: bytes, password: str = "", progress=None, ocr: str = "off", **limits) -> ParsedFile:
    """Read a PDF; text is recognised only where a test asks for it."""
    options = ReadOptions(ocr=ocr)
    limited = ReaderLimits(**limits)
    return read_pdf(
        Source(data, password=password, progress=progress, options=options, limits=limited)
    )


def shown(block: Block) -> str:
    """Return a block as a line, so that a document can be compared as a drawing."""
    level = str(block.level) if block.level else ""
    guessed = "" if block.stated else "?"
    if block.table is not None:
        rows = [block.table.header, *block.table.rows]
        return "TABLE " + " / ".join("|".join(row) for row in rows)
    mark = f"{block.marker} " if block.marker else ""
    return f"{block.kind.name}{level}{guessed} {mark}{block.text}"


def drawn(blocks: Sequence[Block]) -> list[str]:
    return [shown(block) for block in blocks]
