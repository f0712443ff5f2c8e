"""What an EPUB says of itself: its reading order, its table of contents, who wrote it.

Names of elements are taken without their namespace, which many a book has wrong.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

from ingest_svc.readers.html_part import part_blocks
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.mail.headers import rfc3339
from ingest_svc.readers.xml_parts import Element, parsed_xml
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest_svc.readers.archives.archive import Archive
    from ingest_svc.readers.block import Value

CONTAINER = "META-INF/container.xml"
_TYPE = "{http://www.idpf.org/2007/ops}type"
_NCX = "application/x-dtbncx+xml"
_METADATA = {"creator": "author", "subject": "keywords"}
_KEPT_METADATA = ("creator", "language", "publisher", "subject", "date", "identifier")
_LONGEST_FALLBACK = 10


@dataclass(frozen=True, slots=True)
class BookItem:
    """A file of the book."""

    path: str
    media_type: str
    is_navigation: bool = False


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A line of the table of contents."""

    path: str
    """The file that it points into."""
    label: str
    depth: int
    """1 is outermost."""


@dataclass(slots=True)
class Package:
    """What the book says of itself."""

    title: str = ""
    metadata: dict[str, Value] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)
    spine: list[BookItem] = field(default_factory=list)
    """Files in reading order; those outside the main text are last."""
    outline: list[OutlineEntry] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """What is wrong with it, in words."""


def read_package(archive: Archive, limits: ReaderLimits) -> Package:
    """Return what the package document and the table of contents of a book say.

    Raises:
        DamagedFile: there is no package document, or it cannot be read.
    """
    package = Package()
    path = _package_path(archive, package)
    root = _xml(archive.read(path), path, package)
    items = _manifest(root, posixpath.dirname(path))
    spine = next(_elements(root, "spine"), None)
    references = [] if spine is None else list(_elements(spine, "itemref"))
    found = {
        kind: [
            _shown(items, reference.get("idref", ""))
            for reference in references
            if (reference.get("linear") == "no") is kind
        ]
        for kind in (False, True)
    }
    in_order = [item for item in found[False] + found[True] if item is not None]
    package.spine = list(dict.fromkeys(item for item in in_order if not item.is_navigation))
    _describe(root, package, limits)
    toc = "" if spine is None else spine.get("toc", "")
    package.outline = _outline(
        archive, [item for item, _ in items.values()], items.get(toc), package
    )
    return package


def local_name(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _package_path(archive: Archive, package: Package) -> str:
    if CONTAINER in archive:
        root = _xml(archive.read(CONTAINER), CONTAINER, package)
        for rootfile in _elements(root, "rootfile"):
            path = _path("", rootfile.get("full-path", ""))
            if path in archive:
                return path
    for entry in archive.entries:
        if entry.filename.lower().endswith(".opf"):
            package.faults.append("the container does not say where the package document is")
            return entry.filename
    raise DamagedFile("the book has no package document, which says what is in it")


def _xml(data: bytes, path: str, package: Package) -> Element:
    data = data.lstrip()
    try:
        return parsed_xml(data, path)
    except DamagedFile:
        root = parsed_xml(data, path, mend=True)
        package.faults.append(
            f"part {path!r} is no well-formed XML; what can be read of it is used"
        )
        return root


def _elements(root: Element, name: str) -> Iterator[Element]:
    return (element for element in root.iter() if local_name(element) == name)


def _path(folder: str, href: str) -> str:
    """Return the name in the container of what a link of a file in a folder points to."""
    plain = posixpath.normpath(posixpath.join(folder, unquote(urldefrag(href.strip()).url)))
    while plain.startswith(("../", "/")):
        plain = plain.removeprefix("../").removeprefix("/")
    return plain


def _manifest(root: Element, folder: str) -> dict[str, tuple[BookItem, str]]:
    """Return the files by their ids, each with the id of what to show in its place."""
    items = {}
    for element in _elements(root, "item"):
        item = BookItem(
            _path(folder, element.get("href", "")),
            element.get("media-type", "").strip().lower(),
            "nav" in element.get("properties", "").split(),
        )
        items[element.get("id", "")] = (item, element.get("fallback", ""))
    return items


def _shown(items: dict[str, tuple[BookItem, str]], name: str) -> BookItem | None:
    """Return the file of an id; in place of one that is no text, what it names for that."""
    found = items.get(name)
    for _ in range(_LONGEST_FALLBACK):
        if found is None or is_text(found[0]) or found[1] not in items:
            break
        found = items[found[1]]
    return found[0] if found else None


def is_text(item: BookItem) -> bool:
    """Tell whether a file is a chapter: by its stated type, whatever its name is."""
    kind = item.media_type
    return kind in ("text/html", "application/xml", "text/xml", "text/x-oeb1-document") or (
        "xhtml" in kind
    )


def _describe(root: Element, package: Package, limits: ReaderLimits) -> None:
    metadata = next(_elements(root, "metadata"), None)
    if metadata is None:
        return
    values: dict[str, list[str]] = {}
    for element in metadata.iter():
        text = " ".join("".join(map(str, element.itertext())).split())
        if text:
            values.setdefault(local_name(element), []).append(text)
        if element.get("property") == "dcterms:modified":
            _modified(text, package)
    package.title = values.get("title", [""])[0]
    for name in _KEPT_METADATA:
        found = list(dict.fromkeys(values.get(name, [])))
        if name in ("date", "identifier", "language", "publisher"):
            found = found[:1]
        if found:
            package.metadata[_METADATA.get(name, name)] = found if len(found) > 1 else found[0]
    if "description" in values:  # HTML in many books
        blocks, _ = part_blocks(values["description"][0], limits)
        package.metadata["description"] = " ".join(block.text for block in blocks)


def _modified(text: str, package: Package) -> None:
    try:
        package.dates["modified"] = rfc3339(datetime.fromisoformat(text))
    except ValueError:
        return


def _outline(
    archive: Archive,
    items: list[BookItem],
    ncx: tuple[BookItem, str] | None,
    package: Package,
) -> list[OutlineEntry]:
    """Return the table of contents: that of newer books, else that of older ones."""
    navigation = [item for item in items if item.is_navigation]
    older = [ncx[0]] if ncx else [item for item in items if item.media_type == _NCX]
    for item in navigation + older:
        if item.path not in archive:
            continue
        try:
            root = _xml(archive.read(item.path), item.path, package)
        except DamagedFile as problem:
            package.faults.append(problem.message)
            continue
        read = _navigation_entries if item.is_navigation else _ncx_entries
        entries = list(read(root, posixpath.dirname(item.path)))
        if entries:
            return entries
    return []


def _navigation_entries(root: Element, folder: str) -> Iterator[OutlineEntry]:
    lists = list(_elements(root, "nav"))
    chosen = [nav for nav in lists if "toc" in (nav.get(_TYPE) or "").split()] or lists
    for link in _elements(chosen[0], "a") if chosen else ():
        depth = sum(local_name(above) == "ol" for above in link.iterancestors())
        label = " ".join("".join(map(str, link.itertext())).split())
        if label and link.get("href"):
            yield OutlineEntry(_path(folder, link.get("href", "")), label, max(1, depth))


def _ncx_entries(root: Element, folder: str) -> Iterator[OutlineEntry]:
    for point in _elements(root, "navPoint"):
        depth = 1 + sum(local_name(above) == "navPoint" for above in point.iterancestors())
        parts = {local_name(child): child for child in reversed(point)}
        if "navLabel" not in parts or "content" not in parts:
            continue
        label = " ".join("".join(map(str, parts["navLabel"].itertext())).split())
        if label:
            yield OutlineEntry(_path(folder, parts["content"].get("src", "")), label, depth)
