"""Word documents: what of their body is text, what is not, and in which order."""

from __future__ import annotations

import pytest
from made_archives import zipped
from made_documents import (
    STRICT_WORD,
    cell,
    docx,
    heading_styles,
    paragraph,
    relation,
    row,
    run,
    table,
)

from ingest_svc.readers import read_file
from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.source import ReadOptions
from treespan.errors import DamagedFile, EmptyFile, TooLarge


def texts(data: bytes, **options) -> list[str]:
    return [block.text for block in read_file(data, "a.docx", **options).blocks]


def begun(instruction: str) -> str:
    return (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f"<w:r><w:instrText>{instruction}</w:instrText></w:r>"
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
    )


ENDED = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'


def test_inserted_text_is_in_and_deleted_text_is_out():
    body = paragraph(
        run("We ")
        + f'<w:ins w:id="1">{run("gladly ")}</w:ins>'
        + '<w:del w:id="2"><w:r><w:delText>never </w:delText></w:r></w:del>'
        + run("pay.")
    )
    assert texts(docx(body)) == ["We gladly pay."]


def test_moved_text_stands_once_where_it_was_moved_to():
    body = (
        paragraph(f'<w:moveFrom w:id="1">{run("Moved.")}</w:moveFrom>{run("Left.")}')
        + f'<w:moveTo w:id="2">{paragraph("A whole one.")}</w:moveTo>'
        + paragraph(f'<w:moveTo w:id="3">{run("Moved.")}</w:moveTo>')
    )
    assert texts(docx(body)) == ["Left.", "A whole one.", "Moved."]


def test_a_paragraph_whose_end_was_deleted_goes_on_in_the_next():
    gone = '<w:rPr><w:del w:id="1"/></w:rPr>'
    body = paragraph("One ", properties=gone) + paragraph("sentence.") + paragraph("", "", gone)
    assert texts(docx(body)) == ["One sentence."]


def test_a_paragraph_with_a_deleted_end_stays_before_a_table():
    body = paragraph("Before.", properties='<w:rPr><w:del w:id="1"/></w:rPr>')
    blocks = read_file(docx(body + table(row(cell("a"), cell("b")))), "a.docx").blocks
    assert [block.kind for block in blocks] == [BlockKind.PARAGRAPH, BlockKind.TABLE]


def test_deleted_rows_and_cells_of_tables_are_out():
    body = table(
        row(cell("a"), cell("b")),
        row(cell("gone"), cell("gone"), properties='<w:del w:id="1"/>'),
        row(cell("c"), cell("gone", '<w:cellDel w:id="2"/>'), cell("d")),
    )
    (block,) = read_file(docx(body), "a.docx").blocks
    assert block.table.rows == [["a", "b"], ["c", "d"]]


def test_content_controls_and_smart_tags_only_wrap_text():
    inner = f"<w:sdt><w:sdtContent>{run('deep ')}</w:sdtContent></w:sdt>"
    words = paragraph(f"<w:smartTag>{run('So ')}{inner}</w:smartTag>{run('inside.')}")
    nested = "<w:sdt><w:sdtPr/><w:sdtContent>" * 40 + words + "</w:sdtContent></w:sdt>" * 40
    assert texts(docx(f'<w:customXml w:element="x">{nested}</w:customXml>')) == ["So deep inside."]


def test_fields_show_their_results_and_not_their_instructions():
    link = f"{begun('HYPERLINK &quot;http://x&quot;')}{run('a link')}{ENDED}"
    nested = f"{begun('IF 1 = ')}{ENDED}"
    simple = f'<w:fldSimple w:instr="PAGE">{run("7")}</w:fldSimple>'
    assert texts(docx(paragraph(f"{link}{nested}{run(' on page ')}{simple}"))) == [
        "a link on page 7"
    ]


def test_text_within_an_instruction_is_not_shown():
    inside = f"{begun('DATE')}{run('today')}{ENDED}"
    outer = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>IF</w:instrText></w:r>'
        f'{inside}<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("shown")}{ENDED}'
    )
    assert texts(docx(paragraph(outer))) == ["shown"]


def test_a_field_that_is_never_ended_hides_nothing_of_the_next_paragraph():
    body = paragraph('<w:r><w:fldChar w:fldCharType="begin"/></w:r>') + paragraph("Still here.")
    assert texts(docx(body)) == ["Still here."]


def test_a_result_over_several_paragraphs_is_shown():
    body = (
        paragraph(begun("TOC") + run("One 1"))
        + paragraph("Two 2")
        + paragraph(run("Three 3") + ENDED)
    )
    assert texts(docx(body)) == ["One 1", "Two 2", "Three 3"]


def test_the_entry_chosen_in_a_list_of_a_form_is_text():
    entries = "".join(f'<w:listEntry w:val="{name}"/>' for name in ("red", "green"))
    begin = (
        '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/>'
        f"{entries}</w:ddList></w:ffData></w:fldChar></w:r>"
    )
    body = paragraph(f"{run('Colour: ')}{begin}{ENDED}")
    assert texts(docx(body)) == ["Colour: green"]


def test_a_text_box_is_read_once_behind_its_paragraph():
    inside = f"<w:txbxContent>{paragraph('In the box.')}</w:txbxContent>"
    drawing = (
        '<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor>'
        '<wp:docPr id="1" name="Box" descr="A box"/><a:graphic><a:graphicData><wps:wsp><wps:txbx>'
        f"{inside}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing>"
        f"</mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>{inside}</v:textbox></v:shape>"
        "</w:pict></mc:Fallback></mc:AlternateContent>"
    )
    body = paragraph(f"<w:r>{drawing}</w:r>{run('Beside it.')}") + paragraph("Below.")
    assert texts(docx(body)) == ["Beside it.", "In the box.", "Below."]


def test_notes_follow_the_paragraph_or_the_table_that_refers_to_them():
    notes = (
        f'<w:footnote w:type="separator" w:id="0">{paragraph("line")}</w:footnote>'
        f'<w:footnote w:id="2">{paragraph("First note.")}'
        f"{paragraph('<w:r><w:footnoteReference w:id=&quot;2&quot;/></w:r>')}</w:footnote>"
        f'<w:footnote w:id="3">{paragraph("Note in a cell.")}</w:footnote>'
    ).replace("&quot;", '"')
    body = (
        paragraph(f'{run("Text")}<w:r><w:footnoteReference w:id="2"/></w:r>{run(".")}')
        + table(
            row(
                cell(paragraph(f'{run("a")}<w:r><w:footnoteReference w:id="3"/></w:r>')),
                cell("b"),
            )
        )
        + paragraph('<w:r><w:footnoteReference w:id="99"/></w:r>')
    )
    blocks = read_file(docx(body, footnotes=notes), "a.docx").blocks
    assert [block.text for block in blocks] == ["Text.", "First note.", "", "Note in a cell."]
    assert blocks[2].table.rows == [["a", "b"]]


def test_hidden_text_is_out_unless_it_is_asked_for():
    data = docx(paragraph(run("Seen.") + run(" Hidden.", "<w:vanish/>")))
    parsed = read_file(data, "a.docx")
    assert [block.text for block in parsed.blocks] == ["Seen."]
    assert parsed.counts["skipped"] == 1
    assert [warning.kind for warning in parsed.warnings] == ["SKIPPED_PART"]
    assert texts(data, options=ReadOptions(include_hidden=True)) == ["Seen. Hidden."]


def test_text_is_hidden_by_its_style_and_shown_again_by_its_run():
    styles = (
        '<w:style w:type="character" w:styleId="S"><w:name w:val="s"/>'
        "<w:rPr><w:vanish/></w:rPr></w:style>"
    )
    body = paragraph(
        run("a", '<w:rStyle w:val="S"/>') + run("b", '<w:rStyle w:val="S"/><w:vanish w:val="0"/>')
    )
    assert texts(docx(body, styles=styles)) == ["b"]


def test_comments_headers_and_footers_are_out():
    body = paragraph(f'{run("Text.")}<w:r><w:commentReference w:id="1"/></w:r>')
    parts = {
        "word/comments.xml": f'<w:comments xmlns:w="{STRICT_WORD}"/>',
        "word/header1.xml": "not even XML",
    }
    relations = relation("comments", "comments.xml") + relation("header", "header1.xml")
    parsed = read_file(docx(body, parts=parts, relations=relations), "a.docx")
    assert [block.text for block in parsed.blocks] == ["Text."]
    assert "1 comments" in parsed.warnings[0].message


def test_signs_of_white_space_and_hyphens_are_as_they_show():
    body = paragraph(
        f"<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:cr/><w:t>d</w:t>"
        f"<w:noBreakHyphen/><w:t>e</w:t><w:softHyphen/><w:t>f\xadg</w:t></w:r>{run('   h  ')}"
    )
    assert texts(docx(body)) == ["a\tb\nc\nd\u2011efg h"]


def test_signs_of_symbol_fonts_are_characters():
    signs = '<w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Wingdings" w:char="F0FC"/>'
    body = paragraph(f"<w:r>{signs}</w:r>" + run(" \uf0ae x", '<w:rFonts w:ascii="Symbol"/>'))
    assert texts(docx(body)) == ["α✓ → x"]


def test_a_picture_is_what_is_said_of_it():
    picture = (
        '<w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" title="Plan" descr="The cellar"/>'
        "<a:graphic><a:graphicData><pic:pic><pic:nvPicPr><pic:cNvPr id='0' name='x.png'/>"
        "</pic:nvPicPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>"
    )
    silent = picture.replace('title="Plan" descr="The cellar"', "")
    parsed = read_file(docx(paragraph(f"<w:r>{picture}{silent}</w:r>{run('See:')}")), "a.docx")
    assert [(block.kind.name, block.text) for block in parsed.blocks] == [
        ("PARAGRAPH", "See:"),
        ("IMAGE", "Plan: The cellar"),
    ]
    assert parsed.counts["images"] == 2


def test_captions_join_their_table_and_their_picture():
    styles = '<w:style w:type="paragraph" w:styleId="C"><w:name w:val="caption"/></w:style>'
    picture = (
        '<w:drawing><wp:inline><wp:docPr id="1" name="p"/><a:graphic><a:graphicData><pic:pic/>'
        "</a:graphicData></a:graphic></wp:inline></w:drawing>"
    )
    number = begun("SEQ Table") + run("1") + ENDED
    body = (
        paragraph(f"{run('Table ')}{number}{run(' Prices')}", "C")
        + table(row(cell("a"), cell("b")), row(cell("1"), cell("2")))
        + paragraph(f"<w:r>{picture}</w:r>")
        + paragraph("Figure 1 A pump", "C")
    )
    blocks = read_file(docx(body, styles=styles), "a.docx").blocks
    assert blocks[0].table.caption == "Table 1 Prices"
    assert [(block.kind.name, block.text) for block in blocks[1:]] == [("IMAGE", "Figure 1 A pump")]


def test_code_and_quotes_are_told_by_their_styles():
    styles = heading_styles("Source Code", "Intense Quote")
    body = (
        paragraph("def f():", "H1")
        + paragraph("", "H1")
        + paragraph("    return 1", "H1")
        + paragraph("To be.", "H2")
    )
    blocks = read_file(docx(body, styles=styles), "a.docx").blocks
    assert [(block.kind.name, block.text) for block in blocks] == [
        ("CODE", "def f():\n\n    return 1"),
        ("QUOTE", "To be."),
    ]


def test_html_that_is_put_in_is_read_in_its_place():
    parts = {"word/chunk.html": "<html><body><h2>Inside</h2><p>Caf\xe9</p></body></html>"}
    relations = relation("aFChunk", "chunk.html")
    body = paragraph("Before.") + '<w:altChunk r:id="aFChunk"/>' + paragraph("After.")
    blocks = read_file(docx(body, parts=parts, relations=relations), "a.docx").blocks
    assert [(block.kind.name, block.text) for block in blocks] == [
        ("PARAGRAPH", "Before."),
        ("HEADING", "Inside"),
        ("PARAGRAPH", "Café"),
        ("PARAGRAPH", "After."),
    ]


def test_a_document_that_is_put_into_itself_ends_at_the_limit_of_depth():
    relations = relation("aFChunk", "inner.docx")
    inner = docx(paragraph("Innermost."))
    for _ in range(7):
        body = paragraph("Around.") + '<w:altChunk r:id="aFChunk"/>'
        inner = docx(body, parts={"word/inner.docx": inner}, relations=relations)
    with pytest.raises(TooLarge, match="max_archive_depth"):
        read_file(inner, "a.docx")


def test_a_part_that_is_put_in_and_missing_is_counted():
    parsed = read_file(docx(paragraph("Text.") + '<w:altChunk r:id="none"/>'), "a.docx")
    assert parsed.counts["skipped"] == 1


@pytest.mark.parametrize(
    "content_type",
    [
        "application/vnd.ms-word.document.macroEnabled.main+xml",
        "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    ],
)
def test_templates_and_documents_with_macros_are_read(content_type):
    assert texts(docx(paragraph("Text."), content_type=content_type)) == ["Text."]


def test_strict_files_are_read_as_others():
    numbering = (
        '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/>'
        '<w:numFmt w:val="decimal"/><w:lvlText w:val="%1)"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    body = paragraph("Item", "", '<w:numPr><w:numId w:val="1"/></w:numPr>')
    (block,) = read_file(docx(body, numbering=numbering, word=STRICT_WORD), "a.docx").blocks
    assert (block.kind, block.marker, block.text) == (BlockKind.LIST_ITEM, "1)", "Item")


def test_metadata_and_dates_are_those_of_the_core_properties():
    core = (
        "<dc:title>Stated</dc:title><dc:creator>Eve</dc:creator>"
        "<dcterms:created>2024-05-06T07:08:09Z</dcterms:created>"
    )
    parsed = read_file(docx(paragraph("Text."), core=core), "a.docx")
    assert (parsed.title, parsed.metadata, parsed.dates) == (
        "Stated",
        {"author": "Eve"},
        {"created": "2024-05-06T07:08:09Z"},
    )


def test_parts_that_are_broken_cost_only_what_they_say():
    parts = {"word/styles.xml": "<w:styles", "word/media/x.png": b""}
    relations = relation("styles", "styles.xml") + relation("image", "media/none.png")
    parsed = read_file(docx(paragraph("Text."), parts=parts, relations=relations), "a.docx")
    assert [block.text for block in parsed.blocks] == ["Text."]
    assert [warning.kind for warning in parsed.warnings] == ["DAMAGED"]


def test_a_long_body_keeps_its_order_and_every_paragraph():
    body = "".join(
        paragraph(f"Number {at} of many.") + (table(row(cell(f"{at}"), cell("x"))) * (at % 3 == 0))
        for at in range(3_000)
    )
    found = texts(docx(f"{body}<w:bookmarkStart w:id='1' w:name='x'/><w:sectPr/>"))
    assert [text for text in found if text] == [f"Number {at} of many." for at in range(3_000)]


def test_a_body_of_many_megabytes_in_a_small_file_is_refused():
    data = docx(paragraph("x" * 1_000) * 80_000)
    assert len(data) < 1 << 20
    with pytest.raises(TooLarge, match="unpack_ratio"):
        read_file(data, "a.docx")


def test_elements_in_one_another_without_end_are_refused():
    body = "<w:sdt><w:sdtContent>" * 5_000 + "</w:sdtContent></w:sdt>" * 5_000
    with pytest.raises(TooLarge, match="nested too deeply"):
        read_file(docx(body), "a.docx")


def test_declared_entities_are_refused():
    declared = '<!DOCTYPE x [<!ENTITY a "aaaa">]>'
    inside = "<w:body><w:p><w:r><w:t>&a;</w:t></w:r></w:p></w:body>"
    whole = f'{declared}<w:document xmlns:w="{STRICT_WORD}">{inside}</w:document>'
    with pytest.raises(DamagedFile, match="entities"):
        read_file(docx("", parts={"word/document.xml": whole}), "a.docx")


def test_a_cut_body_is_damaged_and_an_empty_one_is_empty():
    with pytest.raises(DamagedFile, match=r"word/document\.xml"):
        read_file(docx(paragraph("Text.") + "<w:p>"), "a.docx")
    with pytest.raises(EmptyFile):
        read_file(docx(paragraph("")), "a.docx")


def test_the_usual_main_part_is_read_where_none_is_named():
    parts = {
        "[Content_Types].xml": '<Types><Override ContentType="wordprocessingml.document.main"/>',
        "word/document.xml": f'<w:document xmlns:w="{STRICT_WORD}"><w:body>'
        "<w:p><w:r><w:t>Text.</w:t></w:r></w:p></w:body></w:document>",
    }
    assert texts(zipped(parts)) == ["Text."]
