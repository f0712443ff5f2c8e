"""Parts of formulas on one line: indices, exponents, fractions."""

from __future__ import annotations

import re
import unicodedata

_RAISED = dict(zip("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", strict=True))
_LOWERED = dict(zip("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", strict=True))
_MATH_LETTERS = re.compile("[\U0001d400-\U0001d7ff\u210a-\u2131]")
_SINGLE = re.compile(r"[\w′∞]+|\([^()]*\)")
_INVISIBLE = re.compile("[\u2061-\u2064\u200b]")
_PRIMES = frozenset("′″‴'*†")


def plain_letters(text: str) -> str:
    """Return characters without the styles of mathematics: 𝑥 is x."""
    text = _INVISIBLE.sub("", text)
    return _MATH_LETTERS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def grouped(text: str) -> str:
    """Return a part in brackets, unless it holds together without."""
    return text if len(text) == 1 or _SINGLE.fullmatch(text) else f"({text})"


def raised(text: str) -> str:
    """Return an exponent, by small digits where it is made of such: ² or ^(n+k)."""
    return text if text and set(text) <= _PRIMES else _moved(text, _RAISED, "^")


def lowered(text: str) -> str:
    """Return an index, by small digits where it is made of such: ₂ or _(n+k)."""
    return _moved(text, _LOWERED, "_")


def fraction(above: str, below: str) -> str:
    """Return a fraction with a stroke."""
    return f"{grouped(above)}/{grouped(below)}"


def _moved(text: str, signs: dict[str, str], mark: str) -> str:
    text = text.replace("−", "-").strip()
    if not text:
        return ""
    if all(sign in signs for sign in text):
        return "".join(signs[sign] for sign in text)
    return mark + grouped(text)
