"""The body of a document, element by element, so that a long one never stands in memory whole."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from lxml import etree

from treespan.errors import DamagedFile, TooLarge

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ingest_svc.readers.xml_parts import Element

_TOO_DEEP = "Excessive depth"
"""How the XML library says that elements stand in one another more than 256 deep."""


def body_elements(
    data: bytes, what: str, bodies: Collection[str], often: tuple[str, ...]
) -> Iterator[Element]:
    """Yield the children of the body; each is gone once the next is asked for.

    Args:
        data: The bytes of the part.
        what: Its name, for the error.
        bodies: Tags of what may be the body.
        often: Tags of most of its children; others come along with the next of these.

    Raises:
        DamagedFile: it is no well-formed XML, or declares entities.
        TooLarge: its elements are nested too deeply.
    """
    events = etree.iterparse(
        io.BytesIO(data),
        events=("end",),
        tag=often,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    taken = _Taken(what)
    try:
        for _, element in events:
            parent = element.getparent()
            if parent is not None and parent.tag in bodies:
                yield from taken.up_to(element)
    except etree.XMLSyntaxError as error:
        if _TOO_DEEP in str(error):
            raise TooLarge(
                f"part {what!r} is nested too deeply: the most is 256 elements in one another"
            ) from error
        raise DamagedFile(f"part {what!r} is no well-formed XML: {error}") from error
    _refuse_entities(events.root, what)
    for part in events.root.iter(*bodies):
        if len(part):
            yield from taken.up_to(part[-1])


class _Taken:
    """Hands out what has been read of a body and was not handed out before."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._last: Element | None = None

    def up_to(self, element: Element) -> Iterator[Element]:
        """Yield what is new up to an element that is whole; the parser may be far behind it."""
        if self._last is None:
            _refuse_entities(element, self._what)
        if element is self._last:
            return
        before = []
        for sibling in element.itersiblings(preceding=True):
            if sibling is self._last:
                break
            before.append(sibling)
        yield from reversed(before)
        yield element
        body = element.getparent()
        while body is not None and body[0] is not element:
            del body[0]
        element.clear(keep_tail=True)  # type: ignore[call-arg]  # not in the stubs
        self._last = element


def _refuse_entities(root: Element, what: str) -> None:
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and any(dtd.entities()):  # type: ignore[attr-defined]  # not in the stubs
        raise DamagedFile(f"part {what!r} declares entities, as no document does that is safe")
