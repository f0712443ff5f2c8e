"""Reads HTML: what a person sees of the content, in order, without navigation and hidden parts.

The tree is walked without recursion, so that 20,000 nested elements are as good as two. Tables that
only lay out a page are unwrapped; headings inside cells stay headings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from ingest_svc.readers.block import Block, ParsedFile
from ingest_svc.readers.html_survey import survey
from ingest_svc.readers.html_tags import lines, walk, words
from ingest_svc.readers.html_walk import PageWalk
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.source import Source

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_METADATA = {
    "author": "author",
    "description": "description",
    "keywords": "keywords",
    "date": "date",
    "dcterms.created": "date",
    "article:published_time": "date",
    "content-language": "language",
    "dcterms.language": "language",
    "dc.language": "language",
}
"""Names of `meta` elements that are kept, and what they are called."""


def read_html(source: Source) -> ParsedFile:
    """Return the blocks of a page; its text is already decoded."""
    root = _root(source.text)
    if root is None:
        return ParsedFile(blocks=[], media_type="text/html")
    found = survey(root)
    page = PageWalk(found, found.boilerplate, source.limits)
    page.over(root)
    if not page.blocks:  # a page of links alone
        page = PageWalk(found, frozenset(), source.limits)
        page.over(root)
    title, metadata = _head(root)
    return ParsedFile(
        blocks=page.blocks,
        media_type="text/html",
        title=title,
        metadata=metadata,
        warnings=page.warnings(),
    )


def fragment_blocks(text: str, limits: ReaderLimits) -> list[Block]:
    """Return the blocks of a piece of HTML inside another format."""
    root = _root(text)
    if root is None:
        return []
    page = PageWalk(survey(root), frozenset(), limits)
    page.over(root)
    return page.blocks


def _root(text: str) -> LexborNode | None:
    return LexborHTMLParser(text).root if text.strip() else None


def _head(root: LexborNode) -> tuple[str, dict[str, str]]:
    """Return the title and the metadata that the page states."""
    head = _Head()
    walk(root, head.enter, lambda _: None)
    attributes = root.attributes
    language = (attributes.get("lang") or attributes.get("xml:lang") or "").strip()
    if language:
        head.metadata["language"] = language
    return head.title or head.other_title, head.metadata


class _Head:
    """Takes the title and the metadata; the body is not entered."""

    def __init__(self) -> None:
        self.title = ""
        self.other_title = ""
        self.metadata: dict[str, str] = {}

    def enter(self, node: LexborNode) -> bool:
        if node.tag == "title" and not self.title:
            self.title = " ".join(filter(None, lines([words(node.text(deep=True))])))
        elif node.tag == "meta":
            self._meta(node.attributes)
        return node.tag in ("html", "head")

    def _meta(self, attributes: dict[str, str | None]) -> None:
        names = (attributes.get(key) for key in ("name", "property", "http-equiv"))
        name = next(filter(None, names), "").lower()
        content = " ".join((attributes.get("content") or "").split())
        if name == "og:title":
            self.other_title = content
        elif name in _METADATA and content:
            self.metadata.setdefault(_METADATA[name], content)
