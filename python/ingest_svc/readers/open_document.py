"""OpenDocument files: what they state of themselves, and the words of a paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from ingest_svc.readers.office_package import Facts, stated_date
from ingest_svc.readers.xml_parts import Element, parsed_xml
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from ingest_svc.readers.archives.archive import Archive
    from ingest_svc.readers.block import Value

_META = "meta.xml"
_STATED = {
    "initial-creator": "author",
    "creator": "author",
    "subject": "subject",
    "description": "description",
    "language": "language",
    "generator": "generator",
}
_DATES = {"creation-date": "created", "date": "modified"}
_NOT_SAID = frozenset({"annotation", "annotation-end", "ruby-text", "note-citation"})
_MOST_SPACES = 1_000


def local_name(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def attribute(element: Element, name: str) -> str:
    """Return an attribute by its name in whatever namespace; empty where there is none."""
    for key, value in element.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return ""


def facts_of(archive: Archive) -> Facts:
    """Return title, author and the like, as the file states them."""
    title, metadata, dates = "", dict[str, "Value"](), dict[str, str]()
    keywords: list[str] = []
    try:
        stated = parsed_xml(archive.read(_META), _META) if _META in archive else None
    except DamagedFile:
        stated = None  # the document itself may be whole
    for element in stated.iterfind("{*}meta/*") if stated is not None else ():
        name = local_name(element)
        text = " ".join("".join(map(str, element.itertext())).split())
        if name == "title":
            title = text
        elif name == "keyword":
            keywords.append(text)
        elif name in _DATES:
            dates.update(stated_date(_DATES[name], text))
        elif name in _STATED and text:
            metadata.setdefault(_STATED[name], text)
    if keywords:
        metadata["keywords"] = keywords
    return Facts(title, metadata, dates)


def paragraph_text(paragraph: Element) -> str:
    """Return the words of a paragraph, white space as it is meant; comments left out."""
    if not len(paragraph):
        return " ".join((paragraph.text or "").split())
    parts: list[str] = []
    walk = etree.iterwalk(paragraph, events=("start", "end"))
    for event, element in walk:
        name = local_name(element)
        if event == "end":
            parts.append(_collapsed(element.tail) if element is not paragraph else "")
        elif name in _NOT_SAID:
            walk.skip_subtree()
        else:
            parts.append(_meant(element, name) + _collapsed(element.text))
    lines = "".join(parts).split("\n")
    return "\n".join(line.strip() for line in lines).strip()


def _collapsed(text: str | None) -> str:
    if not text:
        return ""
    words = " ".join(text.split())
    return f"{' ' * text[0].isspace()}{words}{' ' * (bool(words) and text[-1].isspace())}"


def _meant(element: Element, name: str) -> str:
    if name == "line-break":
        return "\n"
    if name == "tab":
        return "\t"
    if name != "s":
        return ""
    count = attribute(element, "c")
    return " " * min(int(count), _MOST_SPACES) if count.isascii() and count.isdigit() else " "
