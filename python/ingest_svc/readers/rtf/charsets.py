"""Which code page the bytes of a run are in: the font's, else the document's."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_BY_CHARSET = {
    0: "cp1252",
    77: "mac_roman",
    78: "cp932",
    79: "cp949",
    80: "gb18030",
    81: "cp950",
    83: "mac_greek",
    85: "mac_turkish",
    88: "mac_latin2",
    89: "mac_cyrillic",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
    255: "cp850",
}
_BY_PAGE = {936: "gb18030", 54936: "gb18030", 65001: "utf-8", 10000: "mac_roman", 1361: "johab"}
BY_WORD = {b"ansi": "cp1252", b"mac": "mac_roman", b"pc": "cp437", b"pca": "cp850"}
"""Control words that name the document's character set."""
_SYMBOL_CHARSET = 2
_LONGEST_NAME = 200
_OF_TWO_BYTES = frozenset({"cp932", "gb18030", "cp949", "cp950", "johab"})
_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HIGH = re.compile(rb"[\x80-\xff]+")


@dataclass(slots=True)
class Font:
    """An entry of the font table."""

    charset: int | None = None
    page: int | None = None
    name: str = ""

    @property
    def is_symbol(self) -> bool:
        """Tell whether its letters are signs."""
        return self.charset == _SYMBOL_CHARSET

    def codec(self, default: str) -> str:
        """Return the codec of its bytes; the default where it names none."""
        if self.page is not None:
            return codec_of_page(self.page) or default
        return _BY_CHARSET.get(self.charset, default) if self.charset is not None else default


class Fonts:
    """The font table."""

    def __init__(self) -> None:
        """Begin without any."""
        self.default = 0
        self._fonts: dict[int, Font] = {}
        self._open: Font | None = None
        """The one whose entry is being read."""

    def of(self, number: int) -> Font | None:
        """Return a font by its number, the default one for a negative number."""
        return self._fonts.get(number if number >= 0 else self.default)

    def word(self, word: bytes, number: int | None) -> bool:
        """Take a control word of the table; return False where it is none."""
        if word == b"f":
            self._open = self._fonts[number or 0] = Font()
        elif word not in (b"fcharset", b"cpg"):
            return False
        elif self._open is not None and word == b"fcharset":
            self._open.charset = number
        elif self._open is not None:
            self._open.page = number
        return True

    def named(self, text: str) -> None:
        """Take a part of a name."""
        if self._open is not None and len(self._open.name) < _LONGEST_NAME:
            self._open.name += text.partition(";")[0]


def codec_of_page(page: int) -> str:
    """Return the codec of a code page by its number; empty where there is none."""
    name = _BY_PAGE.get(page) or f"cp{page}"
    try:
        return codecs.lookup(name).name
    except LookupError:
        return ""


def decoded(data: bytes, font: Font | None, default: str) -> str:
    """Return the characters of a run; a byte that is none becomes a lone surrogate, to be counted.

    Args:
        data: The bytes of the run, both bytes of a character in it.
        font: Its font, None where it has none.
        default: The document's codec.
    """
    codec = font.codec(default) if font is not None else default
    if data.isascii():
        return data.decode("ascii")
    if codec == "cp1252" and default in _OF_TWO_BYTES and _are_pairs(data):
        # Programs give Western fonts to text of the document's own script.
        try:
            return data.decode(default)
        except UnicodeDecodeError:
            pass
    return data.decode(codec, "surrogateescape")


def paired(text: str) -> str:
    """Return a text with the halves of characters, which RTF writes one by one, put together."""
    if not _HALVES.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _are_pairs(data: bytes) -> bool:
    return all(len(run) % 2 == 0 for run in _HIGH.findall(data))
