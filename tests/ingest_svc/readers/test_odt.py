"""OpenDocument texts: headings, lists and their numbers, tables, notes, what is not shown."""

from __future__ import annotations

import pytest
from made_documents import odt

from ingest_svc.readers import read_file
from ingest_svc.readers.block import Block, BlockKind, ParsedFile
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.source import ReadOptions
from treespan.errors import DamagedFile, TooLarge

STYLES = (
    '<style:style style:name="Heading_20_3" style:display-name="Heading 3"'
    ' style:family="paragraph" style:default-outline-level="3"/>'
    '<style:style style:name="Title" style:family="paragraph"/>'
    '<style:style style:name="Caption" style:family="paragraph"/>'
    '<style:style style:name="Table" style:family="paragraph"'
    ' style:parent-style-name="Caption"/>'
    '<style:style style:name="Preformatted_20_Text" style:family="paragraph"/>'
    '<style:style style:name="Quotations" style:family="paragraph"/>'
    '<style:style style:name="Hidden" style:family="text">'
    '<style:text-properties text:display="none"/></style:style>'
    '<text:list-style style:name="L">'
    '<text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>'
    '<text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/>'
    '<text:list-level-style-number text:level="3" style:num-format="i" text:display-levels="3"'
    ' style:num-prefix="("  style:num-suffix=")"/></text:list-style>'
    '<text:list-style style:name="B"><text:list-level-style-bullet text:level="1"'
    ' text:bullet-char="•"/></text:list-style>'
)
OUTLINE = (
    '<text:outline-style><text:outline-level-style text:level="1" style:num-format="I"'
    ' style:num-suffix="."/><text:outline-level-style text:level="2" style:num-format="1"'
    ' text:display-levels="2"/></text:outline-style>'
)


def read(body: str, *, styles: str = STYLES, **more) -> ParsedFile:
    options = {key: more.pop(key) for key in ("options", "limits") if key in more}
    return read_file(odt(body, styles=styles, **more), "a.odt", **options)


def texts(body: str, **more) -> list[str]:
    return [block.text for block in read(body, **more).blocks]


def p(content: str, style: str = "") -> str:
    return f'<text:p text:style-name="{style}">{content}</text:p>'


def listed(*items: str, style: str = "L", more: str = "") -> str:
    inside = "".join(f"<text:list-item>{item}</text:list-item>" for item in items)
    return f'<text:list text:style-name="{style}" {more}>{inside}</text:list>'


def markers(body: str) -> list[tuple[int, str, str]]:
    return [(block.level, block.marker, block.text) for block in read(body).blocks]


def table(*rows: str) -> str:
    return f"<table:table>{''.join(rows)}</table:table>"


def row(*cells: str, more: str = "") -> str:
    return f"<table:table-row {more}>{''.join(cells)}</table:table-row>"


def cell(text: str, more: str = "") -> str:
    inside = text if text.startswith("<") else p(text)
    return f"<table:table-cell {more}>{inside}</table:table-cell>"


COVERED = "<table:covered-table-cell/>"


def test_headings_have_their_level_and_the_number_that_is_counted():
    body = (
        '<text:h text:outline-level="1">One</text:h><text:h text:outline-level="2">Below</text:h>'
        '<text:h text:outline-level="1" text:is-list-header="true">Preface</text:h>'
        '<text:h text:outline-level="1">Two</text:h><text:h text:outline-level="2">Deep</text:h>'
    )
    blocks = read(body, styles=STYLES + OUTLINE).blocks
    assert [(block.level, block.marker, block.text) for block in blocks] == [
        (1, "I.", "One"),
        (2, "I.1", "Below"),
        (1, "", "Preface"),
        (1, "II.", "Two"),
        (2, "II.1", "Deep"),
    ]


def test_a_paragraph_in_a_heading_style_is_a_heading():
    automatic = (
        '<style:style style:name="P1" style:family="paragraph"'
        ' style:parent-style-name="Heading_20_3"/>'
    )
    (block,) = read(p("Words", "P1"), automatic=automatic).blocks
    assert (block.kind, block.level) == (BlockKind.HEADING, 3)


def test_the_title_is_the_paragraph_in_its_style_else_that_of_the_file():
    meta = (
        "<dc:title>File</dc:title><meta:initial-creator>Eve</meta:initial-creator>"
        "<meta:keyword>a</meta:keyword>"
    )
    automatic = (
        '<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>'
    )
    shown = read(p("Shown", "P1") + p("Text."), automatic=automatic, meta=meta)
    assert (shown.title, shown.metadata) == ("Shown", {"author": "Eve", "keywords": ["a"]})
    assert read(p("Text."), meta=meta).title == "File"


def test_white_space_is_as_it_is_meant():
    body = p(
        "a\n  b<text:s text:c='9'/>c<text:tab/>d<text:line-break/>e<text:span> f </text:span> g"
    )
    assert texts(body) == ["a b c\td\ne f g"]


def test_tracked_changes_are_taken_as_accepted():
    gone = (
        '<text:tracked-changes><text:changed-region text:id="c"><text:deletion>'
        "<text:p>Gone</text:p></text:deletion></text:changed-region></text:tracked-changes>"
    )
    body = gone + p(
        'We<text:change text:change-id="c"/> <text:change-start/>gladly<text:change-end/> pay.'
    )
    assert texts(body) == ["We gladly pay."]


def test_notes_follow_and_comments_are_out():
    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        f"{p('The note.')}</text:note-body></text:note>"
    )
    comment = f"<office:annotation><dc:creator>Eve</dc:creator>{p('A remark.')}</office:annotation>"
    parsed = read(p(f"Text{note}{comment}.") + p("Next."))
    assert [block.text for block in parsed.blocks] == ["Text.", "The note.", "Next."]
    assert parsed.counts["skipped"] == 1


def test_hidden_text_is_out_unless_it_is_asked_for():
    body = (
        p('a<text:span text:style-name="Hidden"> b</text:span>')
        + f'<text:section text:display="none">{p("c")}</text:section>'
        + p('<text:hidden-paragraph text:is-hidden="true"/>d')
        + f"<text:section>{p('e')}</text:section>"
    )
    assert texts(body) == ["a", "e"]
    assert read(body).counts["skipped"] == 3
    assert texts(body, options=ReadOptions(include_hidden=True)) == ["a b", "c", "d", "e"]


def test_items_are_counted_by_level_and_their_further_paragraphs_are_lines():
    deep = listed(p("c"))
    body = listed(p("a") + p("more") + listed(p("b") + deep, p("d"), style=""), p("e"))
    assert markers(body) == [
        (1, "1.", "a\nmore"),
        (2, "a)", "b"),
        (3, "(1.a.i)", "c"),
        (2, "b)", "d"),
        (1, "2.", "e"),
    ]


def test_lists_begin_anew_unless_they_say_that_they_go_on():
    body = (
        listed(p("a"), p("b"), more='xml:id="x"')
        + p("Text.")
        + listed(p("c"), more='text:continue-numbering="true"')
        + listed(p("d"))
        + listed(p("e"), more='text:continue-list="x"')
    )
    assert [marker for _, marker, _ in markers(body)] == ["1.", "2.", "", "3.", "1.", "4."]


def test_an_item_can_state_its_number_and_bullets_and_heads_have_none():
    items = "<text:list-header>" + p("Head") + "</text:list-header>"
    items += f'<text:list-item text:start-value="7">{p("a")}</text:list-item>'
    body = f'<text:list text:style-name="L">{items}</text:list>' + listed(p("b"), style="B")
    assert markers(body) == [(0, "", "Head"), (1, "7.", "a"), (1, "", "b")]


def test_an_item_that_only_holds_a_list_counts_nothing():
    assert markers(listed(listed(p("a"), style=""), p("b"))) == [(2, "a)", "a"), (1, "1.", "b")]


def test_merged_cells_of_tables_hold_their_text_once():
    head = "<table:table-header-rows>{}</table:table-header-rows>"
    wide = 'table:number-columns-spanned="2"'
    tall = 'table:number-rows-spanned="2"'
    body = table(
        head.format(row(cell("A"), cell("B"), cell("C"))),
        row(cell("wide", wide), COVERED, cell("c")),
        row(cell("tall", tall), cell("d", 'table:number-columns-repeated="2"')),
        row(COVERED, cell("e"), cell("f")),
        row(
            cell("", 'table:number-columns-repeated="1024"'),
            more='table:number-rows-repeated="1000000"',
        ),
    )
    found = read(body).blocks[0].table
    assert found.header == ["A", "B", "C"]
    assert found.rows == [["wide", "", "c"], ["tall", "d", "d"], ["", "e", "f"]]


def test_rows_that_are_said_to_be_repeated_are_counted_first():
    body = table(row(cell("a"), cell("b"), more='table:number-rows-repeated="9999999"'))
    with pytest.raises(TooLarge, match="max_table_cells"):
        read(body, limits=ReaderLimits(max_table_cells=1_000))


def test_a_table_in_a_cell_follows_and_a_caption_joins():
    inner = table(row(cell("x"), cell("y")))
    number = '<text:sequence text:name="Table">1</text:sequence>'
    body = p(f"Table {number}", "Table") + table(row(cell(p("a") + inner), cell("b")))
    outer, nested = read(body).blocks
    assert (outer.table.caption, outer.table.rows) == ("Table 1", [["a", "b"]])
    assert nested.table.rows == [["x", "y"]]


def test_frames_and_shapes_follow_their_paragraph():
    box = f"<draw:frame><draw:text-box>{p('Boxed.')}</draw:text-box></draw:frame>"
    picture = (
        '<draw:frame><draw:image xlink:href="x"/><svg:title>Plan</svg:title>'
        "<svg:desc>The cellar</svg:desc></draw:frame>"
    )
    shape = f"<draw:g><draw:custom-shape>{p('In a shape.')}</draw:custom-shape></draw:g>"
    parsed = read(p(f"Text{box}{picture}.") + shape)
    assert [(block.kind.name, block.text) for block in parsed.blocks] == [
        ("PARAGRAPH", "Text."),
        ("PARAGRAPH", "Boxed."),
        ("IMAGE", "Plan: The cellar"),
        ("PARAGRAPH", "In a shape."),
    ]
    assert parsed.counts["images"] == 1


def test_formulas_are_text_and_other_objects_are_counted():
    math = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mi>A</mi><mo>=</mo>'
        "<mfrac><mrow><mi>π</mi><msup><mi>r</mi><mn>2</mn></msup></mrow><mn>2</mn></mfrac></mrow>"
        '<annotation encoding="StarMath 5.0">A = %pi</annotation></semantics></math>'
    )
    frame = '<draw:frame><draw:object xlink:href="./Object {}"/><draw:image/></draw:frame>'
    body = p(f"The area {frame.format(1)} is half.{frame.format(2)}")
    parsed = read(body, parts={"Object 1/content.xml": math})
    assert [block.text for block in parsed.blocks] == ["The area A=πr²/2 is half."]
    assert parsed.counts["skipped"] == 1


def test_code_and_quotes_are_told_by_their_styles():
    body = (
        p("def f():", "Preformatted_20_Text")
        + p('<text:s text:c="4"/>pass', "Preformatted_20_Text")
        + p("To be.", "Quotations")
    )
    assert read(body).blocks == [
        Block(BlockKind.CODE, "def f():\n    pass"),
        Block(BlockKind.QUOTE, "To be."),
    ]


def test_headings_are_guessed_by_their_looks():
    automatic = (
        '<style:style style:name="T" style:family="text">'
        '<style:text-properties fo:font-weight="bold" fo:font-size="150%"/></style:style>'
    )
    bold = p('<text:span text:style-name="T">Scope</text:span>')
    blocks = read(bold + p("A sentence of text.") * 3, automatic=automatic).blocks
    assert (blocks[0].kind, blocks[0].stated) == (BlockKind.HEADING, False)


def test_a_file_without_content_is_damaged_and_broken_styles_are_said():
    with pytest.raises(DamagedFile, match=r"content\.xml"):
        read("", parts={"content.xml": "<x"})
    parsed = read(p("Text."), parts={"styles.xml": "<x"})
    assert [warning.kind for warning in parsed.warnings] == ["DAMAGED"]
