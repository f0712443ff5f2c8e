"""Presentations, PowerPoint's and OpenDocument's."""

from __future__ import annotations

from pathlib import Path

import made_office as office
import pytest
from made_slides import (
    CHART,
    MADE,
    diagram,
    graphic,
    group,
    paragraph,
    picture,
    pptx,
    presentation,
    series,
    shape,
    table,
    tree,
)

from ingest_svc.readers import read_file
from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Table
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.source import ReadOptions
from treespan.errors import DamagedFile, EmptyFile, TooLarge

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "blocks"


def read(*slides: str, **more: object) -> ParsedFile:
    return read_file(presentation(slides, **more), "p.pptx")  # type: ignore[arg-type]


def texts(parsed: ParsedFile) -> list[str]:
    return [block.text for block in parsed.blocks if block.kind is not BlockKind.HEADING]


def tables(parsed: ParsedFile) -> list[Table]:
    return [block.table for block in parsed.blocks if block.table is not None]


@pytest.mark.parametrize("name", MADE)
def test_the_golden_presentations_are_what_their_script_makes(name):
    assert (GOLDEN / name).read_bytes() == MADE[name]()


def test_slides_are_in_the_order_in_which_they_are_shown():
    found = read_file(pptx(), "p.pptx")
    headings = [block for block in found.blocks if block.kind is BlockKind.HEADING]
    assert [(block.text, block.page_start) for block in headings] == [
        ("Harbour news", 1),
        ("Figures", 2),
        ("Thanks", 4),
    ]
    assert found.page_count == 4
    assert [block.stated for block in headings] == [True, True, False]


def test_a_hidden_slide_is_left_out_and_counted_unless_it_is_wanted():
    hidden = tree(shape(paragraph("secret"), (1, 1)), attributes='show="0"')
    found = read(tree(shape(paragraph("shown"), (1, 1))), hidden)
    assert texts(found) == ["shown"]
    assert (found.warnings[0].kind, found.warnings[0].pages) == ("SKIPPED_PART", [2])
    assert found.counts["skipped"] == 1
    whole = presentation([hidden])
    wanted = read_file(whole, "p.pptx", options=ReadOptions(include_hidden=True))
    assert texts(wanted) == ["secret"]


def test_shapes_are_read_from_top_to_bottom_and_level_ones_from_left_to_right():
    shapes = (
        shape(paragraph("third"), (1, 3))
        + shape(paragraph("second"), (5, 1))
        + shape(paragraph("first"), (1, 1.04))
    )
    assert texts(read(tree(shapes)))[-2:] == ["second", "third"]


def test_a_group_is_read_whole_at_its_place():
    inner = group((0, 0), shape(paragraph("two"), (9, 9)), shape(paragraph("one"), (0, 0)))
    shapes = shape(paragraph("right"), (6, 1)) + group((1, 1), inner) + shape("<a:p/>", (0, 0))
    assert texts(read(tree(shape(paragraph("T"), None, 'type="title"') + shapes))) == [
        "one",
        "two",
        "right",
    ]


def test_groups_may_lie_in_each_other_as_deeply_as_xml_allows():
    inner = shape(paragraph("deep"), (0, 0))
    for _ in range(200):
        inner = group((1, 1), inner)
    assert texts(read(tree(inner + shape(paragraph("T"), None, 'type="title"')))) == ["deep"]


def test_what_every_slide_repeats_is_left_out():
    furniture = "".join(
        shape(paragraph("every slide"), (1, 7), f'type="{kind}"')
        for kind in ("dt", "ftr", "sldNum")
    )
    title = shape(paragraph("T"), None, 'type="title"')
    assert texts(read(tree(title + furniture + shape(paragraph("body"), (1, 2))))) == ["body"]


def test_bullets_come_from_the_master_unless_a_paragraph_says_otherwise():
    none = "<a:pPr><a:buNone/></a:pPr>"
    body = shape(
        paragraph("point")
        + paragraph("inner", '<a:pPr lvl="1"/>')
        + paragraph("no point", none)
        + paragraph("third level", '<a:pPr lvl="2"/>'),
        None,
        'type="body" idx="1"',
    )
    found = read(tree(shape(paragraph("T"), None, 'type="title"') + body)).blocks[1:]
    assert [(block.kind.name, block.level) for block in found] == [
        ("LIST_ITEM", 1),
        ("LIST_ITEM", 2),
        ("PARAGRAPH", 0),
        ("PARAGRAPH", 0),
    ]


def test_numbers_are_counted_as_they_are_shown():
    def numbered(text: str, scheme: str, start: str = "") -> str:
        return paragraph(text, f'<a:pPr><a:buAutoNum type="{scheme}" {start}/></a:pPr>')

    body = (
        numbered("a", "arabicPeriod")
        + numbered("b", "arabicPeriod")
        + paragraph("between")
        + numbered("c", "alphaLcParenR", 'startAt="27"')
        + numbered("d", "romanUcPeriod", 'startAt="4"')
        + numbered("e", "arabicParenBoth")
    )
    found = read(tree(shape(paragraph("T"), None, 'type="title"') + shape(body, (1, 1))))
    assert [block.marker for block in found.blocks[1:]] == ["1.", "2.", "", "aa)", "IV.", "(1)"]


def test_fields_line_breaks_and_formulas_are_words():
    words = (
        "<a:p><a:r><a:t>on </a:t></a:r><a:fld><a:t>1 May</a:t></a:fld><a:br/>"
        "<mc:AlternateContent><mc:Choice><x xmlns='m'><t>x+1</t></x></mc:Choice>"
        "<mc:Fallback><a:r><a:t>twice</a:t></a:r></mc:Fallback></mc:AlternateContent></a:p>"
    )
    title = shape(paragraph("T"), None, 'type="title"')
    assert texts(read(tree(title + shape(words, (1, 1))))) == ["on 1 May\nx+1"]


def test_merged_cells_hold_their_text_once():
    grid = table([("Berth", "Size", "<"), ("North", "12", "m"), ("^", "13", "m")])
    [found] = tables(read(tree(graphic(grid, (1, 1)))))
    assert found == Table(["Berth", "Size", ""], [["North", "12", "m"], ["", "13", "m"]])


def chart(inner: str) -> ParsedFile:
    return read(
        tree(graphic('<c:chart r:id="c"/>', (1, 1))),
        related={1: {"c": ("chart", "../charts/chart1.xml")}},
        parts={"ppt/charts/chart1.xml": CHART.format(series=inner)},
    )


def test_a_chart_is_a_table_of_its_series():
    found = chart(
        series("2023", ["May", "June"], ["7", "8.50"]) + series("2024", ["May", "June"], ["9"])
    )
    assert tables(found) == [
        Table(["", "2023", "2024"], [["May", "7", "9"], ["June", "8.5", ""]], caption="Calls")
    ]


def test_series_of_other_categories_are_tables_of_their_own():
    found = chart(series("sea", ["May"], ["7"]) + series("land", ["June"], ["8"]))
    assert [found.rows for found in tables(found)] == [[["May", "7"]], [["June", "8"]]]


def test_a_diagram_is_a_list_in_the_order_of_its_lines():
    points = {"1": "Sea", "2": "Coast", "3": "Beach", "9": "alone"}
    found = read(
        tree(graphic('<dgm:relIds r:dm="d"/>', (1, 1))),
        related={1: {"d": ("diagramData", "../diagrams/data1.xml")}},
        parts={"ppt/diagrams/data1.xml": diagram(points, [("0", "2"), ("2", "3"), ("0", "1")])},
    )
    assert [(block.level, block.text) for block in found.blocks[1:]] == [
        (1, "Coast"),
        (2, "Beach"),
        (1, "Sea"),
        (1, "alone"),
    ]


def test_a_diagram_that_goes_in_a_circle_ends():
    found = read(
        tree(graphic('<dgm:relIds r:dm="d"/>', (1, 1))),
        related={1: {"d": ("diagramData", "../diagrams/data1.xml")}},
        parts={"ppt/diagrams/data1.xml": diagram({"1": "a", "2": "b"}, [("1", "2"), ("2", "1")])},
    )
    assert texts(found) == ["a", "b"]


def test_a_picture_is_what_its_author_says_of_it():
    found = read(tree(picture("The harbour", (1, 1)) + shape(paragraph("T"), None, 'type="title"')))
    assert found.blocks[-1] == Block(BlockKind.IMAGE, "The harbour", 0, 1, 1)
    assert found.counts["images"] == 1


def test_slides_of_pictures_alone_say_that_they_have_no_text():
    found = read(tree(picture("", (1, 1))), tree(shape(paragraph("words"), (1, 1))))
    assert [(warning.kind, warning.pages) for warning in found.warnings] == [("NO_TEXT_LAYER", [1])]
    with pytest.raises(EmptyFile):
        read(tree(picture("", (1, 1))))


def test_notes_follow_their_slide_without_its_number():
    notes = tree(
        shape(paragraph("say it slowly"), None, 'type="body" idx="1"')
        + shape(paragraph("7"), None, 'type="sldNum" idx="5"'),
        "notes",
    )
    found = read(
        tree(shape(paragraph("T"), None, 'type="title"')),
        related={1: {"n": ("notesSlide", "../notesSlides/notesSlide1.xml")}},
        parts={"ppt/notesSlides/notesSlide1.xml": notes},
    )
    assert texts(found) == ["say it slowly"]


def test_an_embedded_file_is_read_behind_the_slides():
    frame = graphic('<p:oleObj r:id="e" name="Worksheet"/>', (1, 1))
    found = read(
        tree(frame + shape(paragraph("T"), None, 'type="title"')),
        tree(shape(paragraph("U"), None, 'type="title"')),
        related={1: {"e": ("package", "../embeddings/table.csv")}},
        parts={"ppt/embeddings/table.csv": "name,size\nash,7\n"},
    )
    assert [block.kind.name for block in found.blocks] == ["HEADING", "HEADING", "FILE", "TABLE"]
    assert found.blocks[2].text == "table.csv"
    assert found.counts["attachments"] == 1


def test_one_damaged_slide_does_not_lose_the_others():
    found = read(tree(shape(paragraph("whole"), (1, 1))), "<p:sld")
    assert texts(found) == ["whole"]
    assert (found.warnings[0].kind, found.warnings[0].pages) == ("DAMAGED", [2])
    with pytest.raises(DamagedFile, match="no slide can be read"):
        read("<p:sld")


def test_entities_in_a_slide_are_not_followed():
    bomb = '<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>' + tree(
        shape(paragraph("&b;"), (1, 1))
    )
    with pytest.raises(DamagedFile):
        read(bomb)


def test_too_many_slides_and_cells_are_refused():
    whole = presentation([tree(shape(paragraph("x"), (1, 1)))] * 3)
    with pytest.raises(TooLarge, match="max_pages is 2; this file has 3"):
        read_file(whole, "p.pptx", limits=ReaderLimits(max_pages=2))
    grid = presentation([tree(graphic(table([("a", "b")] * 3), (1, 1)))])
    with pytest.raises(TooLarge, match="max_table_cells is 4"):
        read_file(grid, "p.pptx", limits=ReaderLimits(max_table_cells=4))


def test_strict_namespaces_are_read_alike():
    parts = {
        name: data.replace(office.PRESENTATION.encode(), b"http://purl.oclc.org/ooxml/p")
        .replace(office.DRAWING.encode(), b"http://purl.oclc.org/ooxml/a")
        .replace(office.RELATIONS.encode(), b"http://purl.oclc.org/ooxml/r")
        for name, data in office.unpacked(pptx()).items()
        if isinstance(data, bytes)
    }
    assert read_file(office.packed(parts), "p.pptx").blocks == read_file(pptx(), "p.pptx").blocks


def test_pages_of_an_open_document_are_slides():
    found = read_file(MADE["news.odp"](), "p.odp")
    assert [(block.kind.name, block.level, block.text) for block in found.blocks] == [
        ("HEADING", 1, "Harbour news"),
        ("LIST_ITEM", 1, "a point"),
        ("LIST_ITEM", 2, "below it"),
        ("PARAGRAPH", 0, "right"),
        ("TABLE", 0, ""),
        ("IMAGE", 0, "The harbour at night"),
        ("PARAGRAPH", 0, "say it slowly"),
    ]
    assert (found.page_count, found.title) == (2, "Berths")
    assert found.warnings[0].pages == [2]
