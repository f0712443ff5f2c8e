"""Office packages made for tests: parts that are written out, in a ZIP that is always the same."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
PRESENTATION = "http://schemas.openxmlformats.org/presentationml/2006/main"

CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
    'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:dcterms="http://purl.org/dc/terms/"><dc:title>Berths</dc:title>'
    "<dc:creator>Treespan authors</dc:creator>"
    "<dcterms:created>2024-05-06T07:08:09Z</dcterms:created></cp:coreProperties>"
)


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a ZIP of parts, without compression and with one date, so that it never changes."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
        for name, data in parts.items():
            entry = zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0))
            archive.writestr(entry, data)
    return whole.getvalue()


def unpacked(archive: bytes) -> dict[str, str | bytes]:
    """Return the parts of a ZIP."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """Return the XML of relations: number to kind and target."""
    listed = "".join(
        f'<Relationship Id="{number}" Type="{_type(kind)}" Target="{target}"/>'
        for number, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'


def _type(kind: str) -> str:
    if kind == "core-properties":
        return f"{_PACKAGE}/relationships/metadata/core-properties"
    return f"{RELATIONS}/{kind}"


def office_file(main: str, content_type: str, parts: Mapping[str, str | bytes]) -> bytes:
    """Return an Office file.

    Args:
        main: Name of the main part.
        content_type: Of the main part.
        parts: All parts but the list of types and the outermost relations.
    """
    types = (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" '
        f'ContentType="application/xml"/><Override PartName="/{main}" '
        f'ContentType="{content_type}"/></Types>'
    )
    outer = {"r1": ("officeDocument", main)}
    if "docProps/core.xml" in parts:
        outer["r2"] = ("core-properties", "docProps/core.xml")
    return packed({"[Content_Types].xml": types, "_rels/.rels": relations(outer), **parts})


def open_document(kind: str, content: str, meta: str = "") -> bytes:
    """Return an OpenDocument file; the content is what stands in the office body's place."""
    parts = {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content}
    return packed({**parts, "meta.xml": meta} if meta else parts)


ODF_NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"'
    for name, space in {
        "office": "office",
        "table": "table",
        "text": "text",
        "style": "style",
        "draw": "drawing",
        "svg": "svg-compatible",
        "presentation": "presentation",
        "meta": "meta",
    }.items()
)

ODF_META = (
    f'<office:document-meta {ODF_NAMES} xmlns:dc="http://purl.org/dc/elements/1.1/">'
    "<office:meta><dc:title>Berths</dc:title>"
    "<meta:initial-creator>Treespan authors</meta:initial-creator>"
    "<meta:creation-date>2024-05-06T07:08:09Z</meta:creation-date></office:meta>"
    "</office:document-meta>"
)
