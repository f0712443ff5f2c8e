"""Elements of a large XML part one after the other, each let go of once it was looked at."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from lxml import etree

from ingest_svc.readers.xml_parts import Element
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def elements(data: bytes, what: str, names: Sequence[str]) -> Iterator[tuple[str, Element]]:
    """Yield elements with their name, at their end, in any namespace.

    Entities that the file declares are refused, as `parsed_xml` does.

    Args:
        data: The bytes of the part.
        what: Its name, for the error.
        names: Names of the elements, none of which may hold another one that is asked for.

    Raises:
        DamagedFile: the part is no well-formed XML, or declares entities.
    """
    stream = etree.iterparse(
        io.BytesIO(data),
        events=("end",),
        tag=[f"{{*}}{name}" for name in names],
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    is_checked = False
    try:
        for _, element in stream:
            if not is_checked:
                _refuse_entities(element, what)
                is_checked = True
            yield local_name(element), element
            _forget(element)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise DamagedFile(f"part {what!r} is no well-formed XML: {error}") from error


def local_name(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _refuse_entities(element: Element, what: str) -> None:
    dtd = element.getroottree().docinfo.internalDTD
    if dtd is not None and any(dtd.entities()):  # type: ignore[attr-defined]  # not in the stubs
        raise DamagedFile(f"part {what!r} declares entities, as no document does that is safe")


def _forget(element: Element) -> None:
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
