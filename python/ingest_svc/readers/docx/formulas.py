"""Formulas of Office Math as one line that can be read: x = (-b ± √(b² - 4ac))/(2a)."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from ingest_svc.readers.docx.names import math_value, name_of
from ingest_svc.readers.prose.formula_signs import (
    fraction,
    grouped,
    lowered,
    plain_letters,
    raised,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ingest_svc.readers.xml_parts import Element

_OPEN_INDEX = re.compile(r"[_^]\w+$")
_ROOT = "√"
_SUM = "∫"
"""What an operator without a sign of its own is."""
_PROPERTIES = (
    "rPr ctrlPr fPr sSupPr sSubPr sSubSupPr sPrePr radPr naryPr dPr mPr mrPr funcPr limLowPr "
    "limUppPr accPr barPr boxPr borderBoxPr eqArrPr groupChrPr phantPr oMathParaPr"
)
_NEVER_READ = frozenset(_PROPERTIES.split())


def formula_text(element: Element) -> str:
    """Return a formula, or a paragraph of formulas, as text.

    Args:
        element: The `m:oMath` or `m:oMathPara`.
    """
    return " ".join(_text(element).split())


def _text(element: Element | None) -> str:
    text = ""
    for part in element if element is not None else ():
        written = _part(part)
        # "x^k a" and not "x^ka": an index that has no bracket ends somewhere
        apart = _OPEN_INDEX.search(text) and written[:1].isalnum()
        text += f" {written}" if apart else written
    return text


def _part(element: Element) -> str:
    name = name_of(element)
    if name in ("t", "m:t"):
        return plain_letters(element.text or "")
    name = name.removeprefix("m:")
    if name in _NEVER_READ or name in ("del", "moveFrom", "instrText", "delText"):
        return ""
    if name in ("tab", "br", "cr"):
        return " "
    writer = _WRITERS.get(name)
    return writer(element) if writer is not None else _text(element)


def _child(element: Element, name: str) -> Element | None:
    return next((part for part in element if name_of(part) == f"m:{name}"), None)


def _inner(element: Element, name: str) -> str:
    return _text(_child(element, name)).strip()


def _property(element: Element, name: str) -> str | None:
    """Return a property by its name; "" where it is stated to be nothing, None where it is not."""
    properties = next((part for part in element if name_of(part).endswith("Pr")), None)
    stated = _child(properties, name) if properties is not None else None
    return (math_value(stated) or "") if stated is not None else None


def _fraction(element: Element) -> str:
    above, below = _inner(element, "num"), _inner(element, "den")
    if _property(element, "type") == "noBar":
        return f"{above} ¦ {below}"
    return fraction(above, below)


def _base(element: Element) -> str:
    text = _inner(element, "e")
    return text if len(text) <= 1 or re.fullmatch(r"\w+|[(\[|].*[)\]|]", text) else f"({text})"


def _with_indices(element: Element) -> str:
    return _base(element) + lowered(_inner(element, "sub")) + raised(_inner(element, "sup"))


def _before(element: Element) -> str:
    return lowered(_inner(element, "sub")) + raised(_inner(element, "sup")) + _inner(element, "e")


def _root(element: Element) -> str:
    degree = _inner(element, "deg")
    return f"{raised(degree) if degree else ''}{_ROOT}{grouped(_inner(element, 'e'))}"


def _operator(element: Element) -> str:
    sign = _property(element, "chr")
    limits = lowered(_inner(element, "sub")) + raised(_inner(element, "sup"))
    return f"{_SUM if sign is None else sign}{limits} {_inner(element, 'e')}"


def _bracketed(element: Element) -> str:
    begin, end = _property(element, "begChr"), _property(element, "endChr")
    between = _property(element, "sepChr")
    parts = [_text(part).strip() for part in element if name_of(part) == "m:e"]
    joined = ("|" if between is None else between).join(parts)
    return f"{'(' if begin is None else begin}{joined}{')' if end is None else end}"


def _matrix(element: Element) -> str:
    rows = [part for part in element if name_of(part) == "m:mr"]
    return "; ".join(
        ", ".join(_text(cell).strip() for cell in row if name_of(cell) == "m:e") for row in rows
    )


def _lines(element: Element) -> str:
    parts = (_text(part).strip() for part in element if name_of(part) == "m:e")
    return "; ".join(part.replace("&", "") for part in parts if part)


def _function(element: Element) -> str:
    name, operand = _inner(element, "fName"), _inner(element, "e")
    return f" {name}{operand}" if operand.startswith(("(", "[", "{")) else f" {name} {operand}"


def _accented(element: Element) -> str:
    sign, base = _property(element, "chr"), _inner(element, "e")
    sign = "\u0302" if sign is None else sign
    if len(base) == 1 and sign and unicodedata.combining(sign[0]):
        return unicodedata.normalize("NFC", base + sign)
    return grouped(base) if base else ""


def _apart(element: Element) -> str:
    return f" {_text(element)} "


_WRITERS: dict[str, Callable[[Element], str]] = {
    "oMath": _apart,
    "f": _fraction,
    "sSup": _with_indices,
    "sSub": _with_indices,
    "sSubSup": _with_indices,
    "sPre": _before,
    "rad": _root,
    "nary": _operator,
    "d": _bracketed,
    "m": _matrix,
    "eqArr": _lines,
    "func": _function,
    "acc": _accented,
    "limLow": lambda element: _inner(element, "e") + lowered(_inner(element, "lim")),
    "limUpp": lambda element: _inner(element, "e") + raised(_inner(element, "lim")),
}
