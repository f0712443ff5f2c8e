"""XML of parts of documents, without entities, DTDs or anything fetched from elsewhere."""

from __future__ import annotations

from lxml import etree

from treespan.errors import DamagedFile

Element = etree._Element  # its only name


def parsed_xml(data: bytes, what: str, *, mend: bool = False) -> Element:
    """Return the root element of an XML part.

    Entities that the file declares are refused, not left out: no document that a person wrote has
    them, and their text would be lost in silence.

    Args:
        data: The bytes of the part.
        what: Its name, for the error.
        mend: Read on behind mistakes, as far as that goes.

    Raises:
        DamagedFile: it is no well-formed XML, or declares entities.
    """
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        recover=mend,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise DamagedFile(f"part {what!r} is no well-formed XML: {error}") from error
    if root is None:
        raise DamagedFile(f"part {what!r} is empty")
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and any(dtd.entities()):  # type: ignore[union-attr]  # not in the stubs
        raise DamagedFile(f"part {what!r} declares entities, as no document does that is safe")
    return root
