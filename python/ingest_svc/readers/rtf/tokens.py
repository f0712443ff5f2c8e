"""The bytes of an RTF file as tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum, auto

_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?[0-9]{1,10})?[ ]?"
    rb"|\\'([0-9A-Fa-f]{2})"
    rb"|\\(.)"
    rb"|([{}])"
    rb"|([^\\{}]+)",
    re.DOTALL,
)
_NO_TEXT = b"\r\n\0"


class Kind(IntEnum):
    """What a token is."""

    OPEN = auto()
    CLOSE = auto()
    WORD = auto()
    """A control word, its name in `text`, its number in `number`."""
    SYMBOL = auto()
    """A control symbol: one character that is no letter."""
    BYTE = auto()
    """A byte of text that is written as two hexadecimal digits."""
    TEXT = auto()


Token = tuple[Kind, bytes, int | None]
"""What it is; its name or bytes; the number behind a control word, if there is one."""


def tokens(data: bytes) -> Iterator[Token]:
    """Yield the tokens of a file; binary data is passed over."""
    at, end = 0, len(data)
    while at < end:
        found = _TOKEN.match(data, at)
        if found is None:  # a backslash at the very end
            return
        at = found.end()
        group = found.lastindex
        if group == 6:
            text = found[6].translate(None, _NO_TEXT)
            if text:
                yield Kind.TEXT, text, None
        elif group == 5:
            yield (Kind.OPEN if found[5] == b"{" else Kind.CLOSE), b"", None
        elif group == 4:
            yield Kind.SYMBOL, found[4], None
        elif group == 3:
            yield Kind.BYTE, bytes([int(found[3], 16)]), None
        else:
            number = int(found[2]) if found[2] is not None else None
            if found[1] == b"bin" and number is not None:
                at += max(number, 0)
            else:
                yield Kind.WORD, found[1], number
