"""XML of any vocabulary, and the words of SVG pictures: text in document order.

Elements named like titles head what stands beside them; elements that only hold fields become lines
of "name: value", and several such of one name a table. DTDs are not loaded, entities that a file
declares are not expanded, and nothing is fetched.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from lxml import etree

from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Table, Warning
from ingest_svc.readers.limits import check
from treespan.errors import DamagedFile, TooLarge

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ingest_svc.readers.source import Source
    from ingest_svc.readers.xml_parts import Element

_TITLES = frozenset({"title", "head", "heading", "subject", "headline", "article-title"})
_LONG = 300
_MOST_COLUMNS = 256


def read_xml(source: Source) -> ParsedFile:
    """Return the blocks of an XML text.

    Raises:
        DamagedFile: it is no well-formed XML.
        TooLarge: it has too many cells, or is nested too deeply.
    """
    root, entities = _parsed(source.text)
    walk = _Walk(source)
    walk.take(root)
    warnings = []
    if entities:
        message = f"{entities} entities that the file itself declares were left out"
        warnings.append(Warning("SKIPPED_PART", message))
    name = etree.QName(root).localname
    return ParsedFile(
        blocks=walk.blocks,
        media_type="image/svg+xml" if name == "svg" else "application/xml",
        title=walk.title,
        warnings=warnings,
        counts={"skipped": entities},
    )


def _parsed(text: str) -> tuple[Element, int]:
    """Return the root, entity references taken out, and how many there were."""
    parser = etree.XMLParser(
        encoding="utf-8",  # of what is handed over, whatever the text says of itself
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=True,  # the readers' own limits hold
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(text.lstrip("\ufeff\n\r\t ").encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        if "Excessive depth" in str(error):
            raise TooLarge("nested too deeply: XML is read to a depth of 2,048") from error
        raise DamagedFile(f"the file is no well-formed XML: {error}") from error
    entities = list(root.iter(etree.Entity))
    for entity in entities:
        _take_out(entity)
    return root, len(entities)


def _take_out(entity: Element) -> None:
    """Remove a reference and keep the text behind it."""
    parent, before, tail = entity.getparent(), entity.getprevious(), entity.tail or ""
    if parent is None:
        return
    if before is None:
        parent.text = (parent.text or "") + tail
    else:
        before.tail = (before.tail or "") + tail
    entity.tail = None
    parent.remove(entity)


_Part: TypeAlias = "Element | list[Element]"
"""An element, or several that are rows of a table."""


@dataclass(slots=True)
class _Walk:
    """Walks a tree without recursion."""

    source: Source
    blocks: list[Block] = field(default_factory=list)
    title: str = ""
    _cells: int = 0

    def take(self, root: Element) -> None:
        """Take an element and all below it."""
        stack: list[tuple[_Part, int]] = [(root, 1)]
        while stack:
            part, level = stack.pop()
            if isinstance(part, list):
                self._table(part)
            else:
                stack += reversed(self._element(part, level))

    def _element(self, element: Element, level: int) -> list[tuple[_Part, int]]:
        """Add what an element says itself; return the parts below that are still to be taken."""
        children = list(element)
        if not children or _is_mixed(element):
            self._paragraph(_words(element) or _attributes(element))
            return []
        inner = level
        if (title := _title_among(children)) is not None:
            words = _words(title)
            self.title = self.title or words
            self.blocks.append(
                Block(BlockKind.HEADING, words, min(level, self.source.limits.max_nesting))
            )
            children.remove(title)
            inner += 1
        return self._children(children, inner)

    def _children(self, children: list[Element], level: int) -> list[tuple[_Part, int]]:
        fields = [child for child in children if _is_field(child)]
        if fields and len(fields) == len(children):
            self._fields(fields)
            return []
        rest: list[tuple[_Part, int]] = []
        for records in _alike(children):
            columns = {one.tag for record in records for one in record}
            if len(records) > 1 and 0 < len(columns) <= _MOST_COLUMNS:
                rest.append((records, level))
            else:
                rest += [(one, level) for one in records]
        return rest

    def _fields(self, fields: Sequence[Element]) -> None:
        """Add elements without any below: short ones as lines of one paragraph."""
        if all(field.tag == fields[0].tag for field in fields):
            for one in fields:
                self._paragraph(_words(one) or _attributes(one))
            return
        lines: list[str] = []
        for one in fields:
            words = _words(one) or _attributes(one)
            if len(words) > _LONG:
                self._paragraph("\n".join(lines))
                lines = []
                self._paragraph(words)
            elif words:
                lines.append(f"{_name(one)}: {words}")
        self._paragraph("\n".join(lines))

    def _table(self, records: Sequence[Element]) -> None:
        columns = list(dict.fromkeys(_name(one) for record in records for one in record))
        self._cells += len(columns) * (len(records) + 1)
        check(self.source.limits, "max_table_cells", self._cells)
        rows = []
        for record in records:
            held: dict[str, str] = {}
            for one in record:
                words, name = _words(one) or _attributes(one), _name(one)
                held[name] = f"{held[name]}; {words}" if name in held else words
            rows.append([held.get(column, "") for column in columns])
        self.blocks.append(Block(BlockKind.TABLE, table=Table(columns, rows)))

    def _paragraph(self, text: str) -> None:
        if text:
            self.blocks.append(Block(BlockKind.PARAGRAPH, text))


def _alike(children: Sequence[Element]) -> Iterator[list[Element]]:
    """Yield the children, records of one name together where the first of them stands."""
    records = Counter(child.tag for child in children if _is_record(child))
    named = Counter(child.tag for child in children)
    done: set[object] = set()
    for child in children:
        if records[child.tag] < named[child.tag]:
            yield [child]
        elif child.tag not in done:
            done.add(child.tag)
            yield [one for one in children if one.tag == child.tag]


def _name(element: Element) -> str:
    return str(etree.QName(element).localname)


def _words(element: Element) -> str:
    return " ".join("".join(map(str, element.itertext())).split())


def _attributes(element: Element) -> str:
    """Return the attributes of an element that says nothing else."""
    named = [f"{etree.QName(key).localname}: {value!s}" for key, value in element.attrib.items()]
    return "; ".join(named) if len(element) == 0 else ""


def _is_mixed(element: Element) -> bool:
    """Tell whether an element holds running text with elements in it."""
    own = [element.text, *(child.tail for child in element)]
    return any(part and part.strip() for part in own)


def _is_field(element: Element) -> bool:
    return len(element) == 0


def _is_record(element: Element) -> bool:
    """Tell whether an element holds only short fields, two of them or more."""
    return (
        len(element) > 1
        and not _is_mixed(element)
        and all(len(child) == 0 and len(child.text or "") <= _LONG for child in element)
    )


def _title_among(children: Sequence[Element]) -> Element | None:
    """Return the title of what stands beside it, where there is more than it."""
    if len(children) < 2:
        return None
    for child in children:
        if _name(child).lower() in _TITLES and 0 < len(_words(child)) <= _LONG:
            return child
    return None
