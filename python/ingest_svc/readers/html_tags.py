"""What is known about HTML elements, and how a tree is walked: without recursion."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}

_NEVER_SHOWN_WORDS = (
    "script style template noscript head svg iframe object embed canvas audio video map "
    "select datalist button input textarea progress meter rt rp annotation annotation-xml "
    "colgroup link meta param source track "
)
NEVER_SHOWN = frozenset(_NEVER_SHOWN_WORDS.split())
"""Elements that hold no words of the document."""

_BLOCKS_WORDS = (
    "address article aside blockquote body caption center dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html "
    "legend li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul "
    "xmp listing plaintext "
)
BLOCKS = frozenset(_BLOCKS_WORDS.split())
"""Elements before and after which a line ends."""

_SPACE = re.compile("[ \t\n\r\f]+")
_WIDE = "[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60\uffe0-\uffe6]"
_BREAK_IN_WIDE = re.compile(f"(?<={_WIDE})[ \t\r\f]*\n[ \t\n\r\f]*(?={_WIDE})")
_INVISIBLE = re.compile("[\xad\u200b\u2060\ufeff]")
_HIDING_STYLE = re.compile(r"\bdisplay\s*:\s*none\b|\bvisibility\s*:\s*hidden\b", re.IGNORECASE)


def walk(
    root: LexborNode, enter: Callable[[LexborNode], bool], leave: Callable[[LexborNode], None]
) -> None:
    """Call `enter` and `leave` for `root` and every node below it, in document order.

    Args:
        root: Where to start.
        enter: Returns False for nodes whose inside is to be passed over.
        leave: Called for these too.
    """
    above: list[LexborNode] = []
    node: LexborNode | None = root
    while node is not None:
        child = node.child if enter(node) else None
        if child is not None:
            above.append(node)
            node = child
            continue
        leave(node)
        while above and node.next is None:
            node = above.pop()
            leave(node)
        node = node.next if above else None


def is_hidden(attributes: dict[str, str | None]) -> bool:
    """Tell whether an element's own attributes hide it."""
    if not attributes:
        return False
    if "hidden" in attributes and attributes["hidden"] != "until-found":
        return True
    return attributes.get("aria-hidden") == "true" or bool(
        _HIDING_STYLE.search(attributes.get("style") or "")
    )


def words(text: str) -> str:
    """Return a text node's characters as they show: white space as one space, no soft hyphens.

    A line break between two Chinese or Japanese characters is none of the text's.
    """
    if text.isascii():
        return _SPACE.sub(" ", text)
    text = _SPACE.sub(" ", _BREAK_IN_WIDE.sub("", text))
    return _INVISIBLE.sub("", text).replace("\xa0", " ")


def lines(parts: list[str]) -> list[str]:
    """Return collected words as trimmed lines, cut at line breaks; empty ones are kept."""
    return [_SPACE.sub(" ", line).strip() for line in "".join(parts).split("\n")]
