"""Presentations made for tests: `python made_slides.py` writes the goldens.

The first slide has its parts in another order than people read them; the second a table, a chart,
a diagram, a picture and notes; the third is hidden; the fourth has no title.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import made_office as office

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "blocks"
NAMES = (
    f'xmlns:p="{office.PRESENTATION}" xmlns:a="{office.DRAWING}" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
INCH = 914_400


def paragraph(text: str, properties: str = "") -> str:
    return f"<a:p>{properties}<a:r><a:t>{text}</a:t></a:r></a:p>"


def place(left: float, top: float) -> str:
    at = f'<a:off x="{round(left * INCH)}" y="{round(top * INCH)}"/>'
    return f'<a:xfrm>{at}<a:ext cx="{INCH}" cy="{INCH}"/></a:xfrm>'


def shape(
    paragraphs: str, at: tuple[float, float] | None = None, placeholder: str = "", own: str = ""
) -> str:
    """Return a shape with text; left and top in inches."""
    properties = f"<p:spPr>{place(*at) if at else ''}</p:spPr>"
    inner = f"<p:ph {placeholder}/>" if placeholder else ""
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="n" {own}/><p:cNvSpPr/><p:nvPr>{inner}</p:nvPr>'
        f"</p:nvSpPr>{properties}<p:txBody><a:bodyPr/><a:lstStyle/>{paragraphs}</p:txBody></p:sp>"
    )


def group(at: tuple[float, float], *shapes: str) -> str:
    properties = f"<p:grpSpPr>{place(*at)}</p:grpSpPr>"
    return f"<p:grpSp><p:nvGrpSpPr/>{properties}{''.join(shapes)}</p:grpSp>"


def graphic(data: str, at: tuple[float, float]) -> str:
    inner = place(*at).replace("a:xfrm", "p:xfrm")
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="1" name="n"/></p:nvGraphicFramePr>'
        f"{inner}<a:graphic><a:graphicData>{data}</a:graphicData></a:graphic></p:graphicFrame>"
    )


def picture(alt: str, at: tuple[float, float]) -> str:
    return (
        f'<p:pic><p:nvPicPr><p:cNvPr id="1" name="n" descr="{alt}"/></p:nvPicPr>'
        f"<p:spPr>{place(*at)}</p:spPr></p:pic>"
    )


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table with a head row; a cell "<" goes on to the left, "^" upwards."""
    body = ""
    for number, row in enumerate(rows):
        body += "<a:tr>" + "".join(_cell(rows, number, at) for at in range(len(row))) + "</a:tr>"
    return f'<a:tbl><a:tblPr firstRow="1"/><a:tblGrid/>{body}</a:tbl>'


def _cell(rows: Sequence[Sequence[str]], row: int, column: int) -> str:
    text = rows[row][column]
    if text in ("<", "^"):
        merged = 'hMerge="1"' if text == "<" else 'vMerge="1"'
        return f"<a:tc {merged}><a:txBody>{paragraph('covered')}</a:txBody></a:tc>"
    return f"<a:tc><a:txBody>{paragraph(text) if text else '<a:p/>'}</a:txBody></a:tc>"


def tree(shapes: str, kind: str = "sld", attributes: str = "", after: str = "") -> str:
    inner = f"<p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{shapes}</p:spTree></p:cSld>"
    return f"<p:{kind} {NAMES} {attributes}>{inner}{after}</p:{kind}>"


def presentation(
    slides: Sequence[str],
    related: Mapping[int, Mapping[str, tuple[str, str]]] | None = None,
    parts: Mapping[str, str | bytes] | None = None,
    order: Sequence[int] | None = None,
) -> bytes:
    """Return a presentation.

    Args:
        slides: XML of slide1.xml and so on.
        related: Further relations of slides, by their number from 1.
        parts: Further parts.
        order: Numbers of the slides in the order in which they are shown.
    """
    order = order or range(1, len(slides) + 1)
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="s{n}"/>' for n in order)
    made: dict[str, str | bytes] = {
        "ppt/presentation.xml": (
            f"<p:presentation {NAMES}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>"
        ),
        "ppt/_rels/presentation.xml.rels": office.relations(
            {f"s{n}": ("slide", f"slides/slide{n}.xml") for n in order}
        ),
        "ppt/slideLayouts/slideLayout1.xml": LAYOUT,
        "ppt/slideLayouts/_rels/slideLayout1.xml.rels": office.relations(
            {"m": ("slideMaster", "../slideMasters/slideMaster1.xml")}
        ),
        "ppt/slideMasters/slideMaster1.xml": MASTER,
    }
    for number, slide in enumerate(slides, 1):
        made[f"ppt/slides/slide{number}.xml"] = slide
        layout = {"l": ("slideLayout", "../slideLayouts/slideLayout1.xml")}
        made[f"ppt/slides/_rels/slide{number}.xml.rels"] = office.relations(
            {**layout, **(related or {}).get(number, {})}
        )
    kind = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
    return office.office_file("ppt/presentation.xml", kind, {**made, **(parts or {})})


LAYOUT = tree(
    shape("<a:p/>", (1, 0.5), 'type="title"')
    + shape("<a:p/>", (1, 3), 'type="body" idx="1"')
    + shape("<a:p/>", (6, 3), 'idx="2"'),
    "sldLayout",
)
MASTER = tree(
    shape("<a:p/>", (1, 0.2), 'type="title"'),
    "sldMaster",
    after=(
        "<p:txStyles><p:titleStyle/><p:bodyStyle>"
        '<a:lvl1pPr><a:buChar char="*"/></a:lvl1pPr><a:lvl2pPr><a:buChar char="-"/></a:lvl2pPr>'
        "</p:bodyStyle><p:otherStyle/></p:txStyles>"
    ),
)

CHART = (
    f"<c:chartSpace {NAMES}><c:chart><c:title><c:tx><c:rich>{paragraph('Calls')}</c:rich></c:tx>"
    "</c:title><c:plotArea><c:barChart>{series}</c:barChart></c:plotArea></c:chart></c:chartSpace>"
)


def series(name: str, categories: Sequence[str], values: Sequence[str]) -> str:
    return (
        f"<c:ser><c:tx><c:strRef><c:strCache>{_points([name])}</c:strCache></c:strRef></c:tx>"
        f"<c:cat><c:strRef><c:strCache>{_points(categories)}</c:strCache></c:strRef></c:cat>"
        f"<c:val><c:numRef><c:numCache><c:formatCode>General</c:formatCode>{_points(values)}"
        "</c:numCache></c:numRef></c:val></c:ser>"
    )


def _points(values: Sequence[str]) -> str:
    return "".join(f'<c:pt idx="{n}"><c:v>{v}</c:v></c:pt>' for n, v in enumerate(values))


def diagram(points: Mapping[str, str], lines: Sequence[tuple[str, str]]) -> str:
    """Return a diagram's data: texts by number, and what is below what; "0" is the whole."""
    listed = '<dgm:pt modelId="0" type="doc"/>' + "".join(
        f'<dgm:pt modelId="{n}"><dgm:t>{paragraph(text)}</dgm:t></dgm:pt>'
        for n, text in points.items()
    )
    drawn = "".join(
        f'<dgm:cxn srcId="{above}" destId="{below}" srcOrd="{rank}"/>'
        for rank, (above, below) in enumerate(lines)
    )
    return (
        f"<dgm:dataModel {NAMES}><dgm:ptLst>{listed}</dgm:ptLst>"
        f"<dgm:cxnLst>{drawn}</dgm:cxnLst></dgm:dataModel>"
    )


def pptx() -> bytes:
    level = '<a:pPr lvl="1"/>'
    numbered = '<a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr>'
    first = tree(
        shape(paragraph("right body"), None, 'idx="2"')
        + shape(paragraph("12"), (1, 7), 'type="sldNum" idx="9"')
        + shape(
            paragraph("a point") + paragraph("below it", level) + paragraph("one", numbered)
            + paragraph("two", numbered),
            None,
            'type="body" idx="1"',
        )
        + group(
            (1, 5),
            shape(paragraph("group, right"), (9, 2.02)),
            group((2, 2), shape(paragraph("group, left"), (0, 0))),
        )
        + shape(paragraph("box at the top"), (4, 2))
        + shape(paragraph("Harbour news"), None, 'type="title"')
    )  # fmt: skip
    second = tree(
        shape(paragraph("Figures"), None, 'type="title"')
        + graphic('<c:chart r:id="c"/>', (1, 3))
        + graphic(table([("Berth", "Size", "<"), ("North", "12", "m"), ("^", "13", "m")]), (1, 2))
        + graphic('<dgm:relIds r:dm="d"/>', (1, 4))
        + picture("The harbour at night", (1, 5))
    )
    hidden = tree(shape(paragraph("not shown"), (1, 1)), attributes='show="0"')
    untitled = tree(shape(paragraph("Thanks") + paragraph("to everybody"), (1, 1)))
    notes = tree(
        shape("<a:p/>", None, 'type="sldImg"')
        + shape(paragraph("say it slowly"), None, 'type="body" idx="1"')
        + shape(paragraph("7"), None, 'type="sldNum" idx="5"'),
        "notes",
    )
    bars = series("2023", ["May", "June"], ["7", "8.5"]) + series(
        "2024", ["May", "June"], ["9", ""]
    )
    points = {"1": "Sea", "2": "Coast", "3": "Beach"}
    related = {
        2: {
            "c": ("chart", "../charts/chart1.xml"),
            "d": ("diagramData", "../diagrams/data1.xml"),
            "n": ("notesSlide", "../notesSlides/notesSlide1.xml"),
        }
    }
    parts = {
        "docProps/core.xml": office.CORE,
        "ppt/charts/chart1.xml": CHART.format(series=bars),
        "ppt/diagrams/data1.xml": diagram(points, [("0", "2"), ("2", "3"), ("0", "1")]),
        "ppt/notesSlides/notesSlide1.xml": notes,
    }
    # The slide that is shown first is not the first part.
    slides = [second, first, hidden, untitled]
    return presentation(slides, {1: related[2]}, parts, [2, 1, 3, 4])


def odp() -> bytes:
    def frame(inner: str, at: tuple[float, float], kind: str = "") -> str:
        stated = f' presentation:class="{kind}"' if kind else ""
        place = f'svg:x="{at[0]}cm" svg:y="{at[1]}cm"'
        return f"<draw:frame{stated} {place}>{inner}</draw:frame>"

    def box(paragraphs: str) -> str:
        return f"<draw:text-box>{paragraphs}</draw:text-box>"

    items = (
        "<text:list><text:list-item><text:p>a point</text:p><text:list><text:list-item>"
        "<text:p>below<text:s/><text:span>it</text:span></text:p></text:list-item></text:list>"
        "</text:list-item></text:list>"
    )
    cells = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    rows = (("Berth", "Size"), ("North", "12"))
    grid = "".join(
        f"<table:table-row>{''.join(cells.format(text) for text in row)}</table:table-row>"
        for row in rows
    )
    pages = (
        "<draw:page>"
        + frame(box("<text:p>footer</text:p>"), (1, 15), "footer")
        + frame(box("<text:p>right</text:p>"), (9, 4.02))
        + f"<draw:g>{frame(box(items), (1, 4))}</draw:g>"
        + frame(box("<text:p>Harbour news</text:p>"), (1, 1), "title")
        + frame(f"<table:table>{grid}</table:table>", (1, 8))
        + frame("<draw:image/><svg:desc>The harbour at night</svg:desc>", (1, 12))
        + f"<presentation:notes>{frame(box('<text:p>say it slowly</text:p>'), (1, 1), 'notes')}"
        "</presentation:notes></draw:page>"
        '<draw:page draw:style-name="gone"><draw:rect svg:x="1cm" svg:y="1cm">'
        "<text:p>not shown</text:p></draw:rect></draw:page>"
    )
    content = (
        f"<office:document-content {office.ODF_NAMES}><office:automatic-styles>"
        '<style:style style:name="gone" style:family="drawing-page">'
        '<style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
        f"</office:automatic-styles><office:body><office:presentation>{pages}"
        "</office:presentation></office:body></office:document-content>"
    )
    return office.open_document("presentation", content, office.ODF_META)


MADE = {"news.pptx": pptx, "news.odp": odp}


if __name__ == "__main__":
    for name, make in MADE.items():
        (GOLDEN / name).write_bytes(make())
