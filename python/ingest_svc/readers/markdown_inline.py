"""The words of a Markdown paragraph, heading or cell, from the parser's inline tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ingest_svc.readers.text import is_wide

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markdown_it.token import Token

_BREAK = re.compile(r"<br\b", re.IGNORECASE)
_ALT = re.compile(r"""<img\b[^>]*?\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_AROUND_IMAGES = ("link_open", "link_close", "softbreak", "hardbreak", "image")
_SPACES = re.compile(r"[ \t\xa0]+")


def inline_text(inline: Token) -> str:
    """Return the words: links by their text, images by their alternative text, math as written."""
    return _text(inline.children or [])


def _text(tokens: Sequence[Token]) -> str:
    parts: list[str] = []
    for at, token in enumerate(tokens):
        if token.type == "softbreak":
            parts.append("" if _between_wide(tokens, at) else " ")
        else:
            parts.append(_words(token))
    lines = "".join(parts).split("\n")
    return "\n".join(_SPACES.sub(" ", line).strip() for line in lines).strip()


def note_labels(inline: Token) -> Iterator[str]:
    """Yield the labels of the footnotes that are referred to."""
    for token in inline.children or []:
        if token.type == "footnote_ref" and "label" in token.meta:
            yield token.meta["label"]


def image_alts(inline: Token) -> list[str] | None:
    """Return the alternative texts where there is nothing but images; None where there is more."""
    tokens = inline.children or []
    images = [token for token in tokens if token.type == "image"]
    others = [token for token in tokens if token.type not in _AROUND_IMAGES]
    if not images or any(token.type != "text" or token.content.strip() for token in others):
        return None
    return [alt for alt in (_words(image).strip() for image in images) if alt]


def write_inline_notes(tokens: Sequence[Token], notes: Mapping[int, Mapping[str, Any]]) -> None:
    """Put the words of notes that stand within the text, `^[so]`, in brackets where they stand.

    Args:
        tokens: Of a whole document.
        notes: The parser's notes by number; those within the text have tokens.
    """
    inner = [note["tokens"] for _, note in sorted(notes.items(), reverse=True) if "tokens" in note]
    for children in [*inner, *(token.children for token in tokens if token.children)]:
        for child in children:
            if child.type == "footnote_ref" and "label" not in child.meta:
                child.content = f"({_text(notes[child.meta['id']]['tokens'])})"


def _words(token: Token) -> str:
    match token.type:
        case "text" | "code_inline" | "text_special":
            return token.content
        case "hardbreak":
            return "\n"
        case "image":
            return inline_text(token)
        case "math_inline":
            return f"${token.content}$"
        case "math_inline_double":
            return f"$${token.content}$$"
        case "footnote_ref":
            return f"[{token.meta['label']}]" if "label" in token.meta else token.content
        case "html_inline":
            return _html_words(token.content)
        case _:
            return ""


def _html_words(tag: str) -> str:
    if _BREAK.match(tag):
        return "\n"
    found = _ALT.match(tag)
    return (found[1] or found[2] or "") if found else ""


def _between_wide(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a line break stands between two characters of a script without spaces."""
    before = tokens[at - 1].content[-1:] if at else ""
    after = tokens[at + 1].content[:1] if at + 1 < len(tokens) else ""
    return bool(before and after) and is_wide(before) and is_wide(after)
