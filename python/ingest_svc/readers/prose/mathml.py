"""Formulas of MathML as one line that can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest_svc.readers.prose.formula_signs import fraction, grouped, lowered, plain_letters, raised

if TYPE_CHECKING:
    from ingest_svc.readers.xml_parts import Element

_NEVER_READ = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts"})
_TOKENS = frozenset({"mi", "mn", "mo", "mtext", "ms"})


def formula_text(root: Element) -> str:
    """Return a formula as text; empty where the element is none."""
    return " ".join(_text(root).split()) if _name(root) == "math" else ""


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _text(element: Element) -> str:
    name = _name(element)
    if name in _NEVER_READ:
        return ""
    if name in _TOKENS:
        return plain_letters(" ".join((element.text or "").split()))
    if name == "mspace":
        return " "
    parts = [_text(part) for part in element if _name(part) not in _NEVER_READ]
    return _joined(name, parts, element)


def _joined(name: str, parts: list[str], element: Element) -> str:
    match name, parts:
        case "mfrac", [above, below]:
            return fraction(above, below)
        case "msup" | "mover", [base, above]:
            return f"{base}{raised(above)}"
        case "msub" | "munder", [base, below]:
            return f"{base}{lowered(below)}"
        case "msubsup" | "munderover", [base, below, above]:
            return f"{base}{lowered(below)}{raised(above)}"
        case "msqrt", _:
            return f"√{grouped(''.join(parts))}"
        case "mroot", [base, degree]:
            return f"{raised(degree)}√{grouped(base)}"
        case "mfenced", _:
            opens, closes = element.get("open", "("), element.get("close", ")")
            return f"{opens}{', '.join(parts)}{closes}"
        case "mtr" | "mlabeledtr", _:
            return f"{', '.join(parts)}; "
        case "mtable", _:
            return "".join(parts).removesuffix("; ")
    return "".join(parts)
