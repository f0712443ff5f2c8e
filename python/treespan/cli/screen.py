"""What is written to the terminal: consoles, and texts made fit for one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

import click
from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from treespan.cli.plain import Json

_WIDE: Final = (
    "\u2e80-\u2fff\u3040-\u31ff\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_OPENING: Final = "（【《〈「『〔"
_CLOSING: Final = "）】》〉」』〕，。、；：？！…"
# A line may be broken around white space and wide characters, but not before a closing mark nor
# behind an opening one. Quotation marks belong to the characters beside them, wide or not.
_PIECE: Final = re.compile(
    f"\\s+"
    f"|[{_OPENING}“‘(]*[{_WIDE}][{_CLOSING}”’,.;:?!)%]*"
    f"|[{_OPENING}]*[^\\s{_WIDE}{_OPENING}{_CLOSING}]+[{_CLOSING}]*"
    f"|[{_OPENING}{_CLOSING}]+"
)
_UNBOUNDED: Final = 1000
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def screen() -> Console:
    """Return a console for results; it never takes a text for markup."""
    return Console(highlight=False, markup=False, emoji=False)


def notices() -> Console:
    """Return a console on standard error, for progress and remarks."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def show(shown: Table) -> None:
    """Write a table; where there is no terminal, no cell is broken to fit a width."""
    console = screen()
    if not console.is_terminal:
        # A console that does not know its width takes 80, and no table may be wider than it.
        console.width = _UNBOUNDED
    console.print(shown, crop=False)


def megabytes(size: int) -> str:
    """Return a size in bytes as "0.4 MB" or "1,234.5 MB"."""
    return f"{size / 1e6:,.1f} MB"


def counted(number: int, noun: str) -> str:
    """Return "1 hit" or "1,234 hits"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def echo_json(value: Json, *, indent: int | None = None) -> None:
    """Write a value as JSON and a line end."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=indent))


def table(*columns: str, numbers: tuple[str, ...] = ()) -> Table:
    """Return an empty table without lines; `numbers` are the columns to align right."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        made.add_column(
            column,
            header_style="bold",
            justify="right" if column in numbers else "left",
            overflow="fold",
            no_wrap=column in numbers,
        )
    return made


def row(cells: Mapping[str, str]) -> Table:
    """Return a table of one row of numbers, by the names of their columns."""
    made = table(*cells, numbers=tuple(cells))
    made.add_row(*cells.values())
    return made


def printable(text: str) -> str:
    """Return a text without what could steer the terminal: control and direction characters."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", lines).expandtabs(4)


def one_line(text: str) -> str:
    """Return a text with every run of white space made one space."""
    return " ".join(printable(text).split())


def wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text, none wider than `width` cells, broken as its script wants it."""
    return [line for source in printable(text).split("\n") for line in _broken(source, width)]


def _broken(source: str, width: int) -> Iterator[str]:
    line, used = "", 0
    for piece in _pieces(source, width):
        cells = cell_len(piece)
        if used + cells > width and used:
            yield line.rstrip()
            line, used = "", 0
            if piece.isspace():
                continue
        line += piece
        used += cells
    yield line.rstrip()


def _pieces(source: str, width: int) -> Iterator[str]:
    for piece in _PIECE.findall(source):
        if cell_len(piece) > width:
            yield from chop_cells(piece, width)
        else:
            yield piece
