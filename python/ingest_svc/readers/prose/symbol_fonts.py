"""Fonts whose letters are signs: what a character stands for in Symbol and Wingdings.

Such characters are written as codes of the font, at 0xF000 above them in Unicode's private part.
"""

from __future__ import annotations

import re

_SYMBOL = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘ"
    "ΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
)
"""From 0x20 to 0x7E."""
_SYMBOL_ABOVE = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇"
    "®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
)
"""From 0xA0 to 0xFE."""
_WINGDINGS = {
    0x21: "✏",
    0x22: "✂",
    0x28: "☎",
    0x2A: "✉",
    0x36: "⌛",
    0x3F: "✍",
    0x4A: "☺",
    0x4C: "☹",
    0x6C: "●",
    0x6E: "■",
    0x6F: "□",
    0x71: "❑",
    0x72: "❒",
    0x75: "◆",
    0x76: "❖",
    0x77: "◆",
    0x9E: "·",
    0x9F: "•",
    0xA7: "▪",
    0xA8: "◻",
    0xD8: "➢",
    0xDF: "←",
    0xE0: "→",
    0xE1: "↑",
    0xE2: "↓",
    0xE8: "➔",
    0xEF: "⇦",
    0xF0: "⇨",
    0xFB: "✗",
    0xFC: "✓",
    0xFD: "☒",
    0xFE: "☑",
}
_PRIVATE = re.compile("[\uf020-\uf0ff]")
_FIRST = 0xF000


def is_symbol_font(font: str) -> bool:
    """Tell whether a font's letters are signs that are known here."""
    return font.lower().startswith(("symbol", "wingdings"))


def sign(code: int, font: str) -> str:
    """Return the character that a code of a font stands for; empty where it is not known.

    Args:
        code: From 0x20 to 0xFF, or the same above 0xF000; any other is a character itself.
        font: Its name.
    """
    private = _FIRST + 0x20 <= code <= _FIRST + 0xFF
    place = code - _FIRST if private else code
    if not 0x20 <= place <= 0xFF:
        return chr(code) if 0x20 <= code <= 0x10FFFF else ""
    if font.lower().startswith("wingdings"):
        return _WINGDINGS.get(place, "") if font.lower() == "wingdings" else ""
    if not font or font.lower().startswith("symbol"):
        return _of_symbol(place)
    return "" if private else chr(code)


def in_unicode(text: str, font: str) -> str:
    """Return a text with the codes of fonts in it as characters.

    Args:
        text: As written.
        font: Name of its font; with any other than those known here nothing is changed.
    """
    if not is_symbol_font(font) or not _PRIVATE.search(text):
        return text
    return _PRIVATE.sub(lambda found: sign(ord(found[0]), font), text)


def _of_symbol(place: int) -> str:
    if place < 0x7F:
        return _SYMBOL[place - 0x20]
    return _SYMBOL_ABOVE[place - 0xA0] if 0xA0 <= place <= 0xFE else ""
