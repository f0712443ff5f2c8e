"""DOCX and ODT files made for tests, part by part; the same bytes at every run."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping

from made_archives import zipped

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT_WORD = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_OTHERS = (
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"'
)
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_ODF_SPACES = " ".join(
    f'xmlns:{prefix}="{_ODF}:{name}:1.0"'
    for prefix, name in {
        "office": "office",
        "text": "text",
        "table": "table",
        "draw": "drawing",
        "style": "style",
        "svg": "svg-compatible",
        "fo": "xsl-fo-compatible",
        "meta": "meta",
    }.items()
)
_ODF_SPACES += (
    ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)


def docx(
    body: str,
    *,
    styles: str = "",
    numbering: str = "",
    footnotes: str = "",
    core: str = "",
    parts: Mapping[str, str | bytes] | None = None,
    relations: str = "",
    word: str = WORD,
    content_type: str = _MAIN,
) -> bytes:
    """Return a Word document.

    Args:
        body: What is in `w:body`.
        styles: What is in `w:styles`; likewise the parts named after it.
        numbering: As styles.
        footnotes: As styles.
        core: What is in the core properties.
        parts: Further parts by name.
        relations: Further relationships of the document.
        word: The namespace of `w:`.
        content_type: Of the main part.
    """
    own = {"styles": styles, "numbering": numbering, "footnotes": footnotes}
    related = "".join(_relation(name, f"{name}.xml") for name, text in own.items() if text)
    made: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        f'<Override PartName="/word/document.xml" ContentType="{content_type}"/></Types>',
        "_rels/.rels": _relations(
            _relation("officeDocument", "word/document.xml")
            + (_relation("core-properties", "docProps/core.xml") if core else "")
        ),
        "word/_rels/document.xml.rels": _relations(related + relations),
        "word/document.xml": f'<w:document xmlns:w="{word}" {_OTHERS}>'
        f"<w:body>{body}</w:body></w:document>",
    }
    for name, text in own.items():
        if text:
            made[f"word/{name}.xml"] = f'<w:{name} xmlns:w="{word}" {_OTHERS}>{text}</w:{name}>'
    if core:
        made["docProps/core.xml"] = (
            f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" '
            'xmlns:dc="http://purl.org/dc/elements/1.1/" '
            f'xmlns:dcterms="http://purl.org/dc/terms/">{core}</cp:coreProperties>'
        )
    return zipped({**made, **(parts or {})})


def _relations(listed: str) -> str:
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'


def _relation(kind: str, target: str) -> str:
    return f'<Relationship Id="{kind}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'


def relation(kind: str, target: str) -> str:
    """Return a relationship whose id is its kind."""
    return _relation(kind, target)


def run(text: str, properties: str = "") -> str:
    stated = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{stated}<w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(text: str, style: str = "", properties: str = "") -> str:
    """Return a paragraph; text that is no markup yet becomes a run."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    content = text if text.startswith("<") else run(text)
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{content}</w:p>"


def in_list(list_id: int, level: int = 0) -> str:
    return f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>'


def heading_styles(*names: str) -> str:
    """Return styles for paragraphs by their names, with ids H1, H2 and so on, without levels."""
    return "".join(
        f'<w:style w:type="paragraph" w:styleId="H{at}"><w:name w:val="{name}"/></w:style>'
        for at, name in enumerate(names, 1)
    )


def level(at: int, text: str, style: str = "decimal", start: int = 1, more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{at}"><w:start w:val="{start}"/><w:numFmt w:val="{style}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


def row(*cells: str, properties: str = "") -> str:
    stated = f"<w:trPr>{properties}</w:trPr>" if properties else ""
    return f"<w:tr>{stated}{''.join(cells)}</w:tr>"


def cell(content: str, properties: str = "") -> str:
    """Return a cell; text that is no markup yet becomes a paragraph."""
    inside = content if content.startswith("<") else paragraph(content)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inside}</w:tc>"


def odt(
    body: str,
    *,
    styles: str = "",
    automatic: str = "",
    meta: str = "",
    parts: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """Return an OpenDocument text.

    Args:
        body: What is in `office:text`.
        styles: What is in `office:styles`.
        automatic: What is in `office:automatic-styles`.
        meta: What is in `office:meta`.
        parts: Further parts by name.
    """
    made: dict[str, str | bytes] = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": _odf(
            "document-content",
            f"<office:automatic-styles>{automatic}</office:automatic-styles>"
            f"<office:body><office:text>{body}</office:text></office:body>",
        ),
        "styles.xml": _odf("document-styles", f"<office:styles>{styles}</office:styles>"),
        "meta.xml": _odf("document-meta", f"<office:meta>{meta}</office:meta>"),
        "META-INF/manifest.xml": "<manifest/>",
    }
    return zipped({**made, **(parts or {})}, zipfile.ZIP_DEFLATED)


def _odf(name: str, content: str) -> str:
    return f"<office:{name} {_ODF_SPACES}>{content}</office:{name}>"
