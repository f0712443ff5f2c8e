"""The plain text of a mail: flowed lines joined, quoted replies told from what was written."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec

from ingest_svc.readers.block import Block, BlockKind
from ingest_svc.readers.text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest_svc.readers.mail.parts import MailText
    from ingest_svc.readers.source import Source

_QUOTE_MARKS = re.compile(r" ?(?:> ?)+")
_SIGNATURE_MARK = "-- "
_SIGNED_HEAD = re.compile(r"-----BEGIN PGP SIGNED MESSAGE-----\n(?:[A-Za-z-]+: .*\n)*\n?")
_SIGNED_TAIL = re.compile(
    r"-----BEGIN PGP SIGNATURE-----\n.*?(?:-----END PGP SIGNATURE-----|\Z)", re.DOTALL
)
_ENCRYPTED = re.compile(
    r"^-----BEGIN PGP MESSAGE-----$.*?(?:^-----END PGP MESSAGE-----$|\Z)", re.DOTALL | re.MULTILINE
)


def text_blocks(mail_text: MailText, source: Source) -> tuple[list[Block], bool]:
    """Return the blocks of a plain text, and whether some of it was encrypted and is left out."""
    text = mail_text.text.replace("\r\n", "\n").replace("\r", "\n")
    text, encrypted = _ENCRYPTED.subn("", text)
    lines = _lines(_without_signature(text))
    if mail_text.flowed:
        lines = _flowed(lines, delete_space=mail_text.delete_space)
    blocks: list[Block] = []
    for depth, run in groupby(lines, key=lambda line: line[0]):
        words = "\n".join(line for _, line in run)
        found = read_text(replace(source, text=words)).blocks
        blocks += [_quoted(block) for block in found] if depth else found
    return blocks, encrypted > 0


def _without_signature(text: str) -> str:
    if "-----BEGIN PGP SIGN" not in text:
        return text
    text = _SIGNED_TAIL.sub("", _SIGNED_HEAD.sub("", text))
    return re.sub("^- (?=-)", "", text, flags=re.MULTILINE)  # dashes are escaped in such a text


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield every line with the depth of its quote, without the marks."""
    for line in text.split("\n"):
        marks = _QUOTE_MARKS.match(line)
        if line.startswith(">From "):  # as mailboxes write a line that starts with "From "
            yield 0, line[1:]
        elif marks:
            yield marks[0].count(">"), line[marks.end() :]
        else:
            yield 0, "" if line.rstrip() == "--" else line


def _flowed(lines: Iterator[tuple[int, str]], *, delete_space: bool) -> Iterator[tuple[int, str]]:
    """Yield lines with those joined that a program has broken for the sake of narrow screens."""
    start, open_depth = "", -1
    for depth, line in lines:
        # A space in front protects lines that start with a mark; behind marks it is gone already.
        words = line.removeprefix(" ") if not depth else line
        if open_depth not in (-1, depth):
            yield open_depth, start.rstrip()
            start, open_depth = "", -1
        start += words
        if words.endswith(" ") and words != _SIGNATURE_MARK:
            start, open_depth = start[:-1] if delete_space else start, depth
            continue
        yield depth, start
        start, open_depth = "", -1
    if open_depth >= 0:
        yield open_depth, start.rstrip()


def _quoted(block: Block) -> Block:
    if block.kind is BlockKind.TABLE:
        return block
    text = f"{block.marker} {block.text}" if block.marker else block.text
    return msgspec.structs.replace(block, kind=BlockKind.QUOTE, text=text, level=0, marker="")
