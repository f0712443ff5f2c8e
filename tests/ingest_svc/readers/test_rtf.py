"""RTF: code pages, Unicode, groups that are no text, paragraphs, lists, tables, notes."""

from __future__ import annotations

import pytest

from ingest_svc.readers import read_file
from ingest_svc.readers.block import Block, BlockKind, ParsedFile
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.source import ReadOptions
from treespan.errors import EmptyFile, TooLarge

FONTS = (
    rb"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset2 Symbol;}{\f2\fcharset204 Arial CYR;}"
    rb"{\f3\fcharset128 \'82\'6c\'82\'72;}{\f4\fcharset134 SimSun;}{\f5\cpg1250 Arial CE;}}"
)
STYLES = (
    rb"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 mine;}{\s2 heading 2;}{\s3\sbasedon2 below;}"
    rb"{\s4 Title;}{\s5\sbasedon6 a;}{\s6\sbasedon5 b;}{\*\cs2 heading 1;}{\s7 caption;}}"
)


def read(body: bytes, *, head: bytes = rb"\ansi\ansicpg1252", **options) -> ParsedFile:
    data = rb"{\rtf1" + head + rb"\deff0" + FONTS + STYLES + b"\n" + body + b"}"
    return read_file(data, "a.rtf", **options)


def texts(body: bytes, **options) -> list[str]:
    return [block.text for block in read(body, **options).blocks]


def test_bytes_are_in_the_code_page_of_their_font():
    body = rb"caf\'e9 {\f2 \'cc\'e8\'f0} {\f3 \'83\'51\'83o} {\f4\'c4\'e3\'ba\'c3} {\f5 \'9a}\par"
    assert texts(body) == ["café Мир ゲバ 你好 š"]


def test_bytes_of_a_font_without_a_code_page_are_in_that_of_the_document():
    assert texts(rb"\f9 \'c4\'e3\par", head=rb"\ansi\ansicpg936") == ["你"]
    assert texts(rb"\f9 \'8e\par", head=rb"\mac") == ["é"]


def test_pairs_of_bytes_in_a_western_font_are_of_the_documents_own_script():
    head = rb"\ansi\ansicpg936"
    assert texts(rb"\f0 \'c4\'e3\'ba\'c3 caf\'e9 x\par", head=head)[0].startswith("\xc4")
    assert texts(rb"\f0 \'c4\'e3\'ba\'c3\par", head=head) == ["你好"]


def test_a_character_over_two_runs_of_bytes_is_one():
    assert texts(b"\\f3 \\'83\\'51\n\\'83\\'6f\\par") == ["ゲバ"]


def test_letters_of_a_symbol_font_are_signs():
    assert texts(rb"{\f1 \'61\'b3} {\f1 \u-3999?}\par") == ["α≥ a".replace("a", "α")]


def test_unicode_is_read_and_what_old_programs_show_instead_is_passed_over():
    assert texts(rb"\uc1\u31532?\u19968\'81 {\uc2\u31456ab}{\uc0\u33}x\par") == [
        "第一章!x".replace("章", " 章")
    ]


def test_two_halves_of_a_character_are_one_and_single_halves_are_counted():
    assert texts(rb"\u-10179?\u-8704?\par") == ["\U0001f600"]
    parsed = read(rb"a \u-10240? b\par")
    assert parsed.blocks[0].text == "a \ufffd b"
    assert [warning.kind for warning in parsed.warnings] == ["REPLACED_CHARACTERS"]


def test_bytes_that_are_no_characters_are_counted():
    parsed = read(rb"\f3 a\'83\'ff b\par")
    assert "REPLACED_CHARACTERS" in [warning.kind for warning in parsed.warnings]


def test_control_words_and_symbols_are_the_signs_they_stand_for():
    body = (
        rb"\ldblquote a\rdblquote\emdash b\endash c\bullet d\~e\_f\-g\tab h\line i\{j\}\\k"
        rb"\lquote l\rquote\par"
    )
    assert texts(body) == ["“a”—b–c•d e\u2011fg\th\ni{j}\\k‘l’"]


@pytest.mark.parametrize(
    "group",
    [
        rb"{\*\unknown gone}",
        rb"{\colortbl;\red0\green0\blue0;}",
        rb"{\header\pard gone\par}",
        rb"{\footerf\pard gone\par}",
        rb"{\pict\pngblip 89504e470d0a}",
        rb"{\nonshppict{\pict 00ff}}",
        b"{\\pict\\bin4 }}}{}",
        rb"{\xe gone}",
        rb"{\*\bkmkstart gone}",
        rb"{\field{\*\fldinst{ HYPERLINK gone }}}",
        rb"{\v gone}",
        rb"{\deleted gone}",
        rb"{\*\annotation gone}",
        rb"{\upr{gone}{\*\ud{}}}",
        rb"{\object{\*\objdata 0105}}",
    ],
)
def test_groups_that_are_no_text_are_out(group):
    assert texts(rb"be" + group + rb"fore\par") == ["before"]


def test_what_is_left_out_is_counted():
    parsed = read(rb"Text {\v hidden} {\*\annotation c}{\object{\*\objdata 01}}\par")
    assert parsed.counts["skipped"] == 3
    assert texts(rb"a{\v  b}\par", options=ReadOptions(include_hidden=True)) == ["a b"]


def test_a_field_shows_its_result():
    field = rb'{\field{\*\fldinst HYPERLINK "http://x"}{\fldrslt {\b a link}}}'
    assert texts(rb"See " + field + rb".\par") == ["See a link."]


def test_information_and_generator_become_metadata():
    body = (
        rb"{\info{\upr{\title ??}{\*\ud{\title \u20320?}}}{\author A}{\author Eve}{\keywords a b}"
        rb"{\doccomm c}{\creatim\yr2004}{\*\company no}}{\*\generator Us 1;}x\par"
    )
    parsed = read(body)
    assert parsed.title == "你"
    assert parsed.metadata == {
        "author": "Eve",
        "keywords": "a b",
        "description": "c",
        "generator": "Us 1",
    }


def test_headings_have_the_level_of_the_paragraph_or_of_its_style():
    body = (
        rb"\pard\s1 One\par\pard\s2 Two\par\pard\s3 Also two\par\pard\outlinelevel3 Four\par"
        rb"\pard\s2\outlinelevel9 Text\par\pard\s5 Circle\par"
    )
    assert [(block.level, block.text) for block in read(body).blocks] == [
        (1, "One"),
        (2, "Two"),
        (2, "Also two"),
        (4, "Four"),
        (0, "Text"),
        (0, "Circle"),
    ]


def test_a_title_is_that_of_the_document():
    parsed = read(rb"{\info{\title file}}\pard\s4 The title\par\pard Text.\par")
    assert (parsed.title, parsed.blocks[0].kind) == ("The title", BlockKind.HEADING)


def test_items_have_the_numbers_that_are_written_before_them():
    body = (
        rb"{\listtext\pard 1.\tab}\pard\ls1\ilvl0 one\par{\listtext\pard a)\tab}\pard\ls1\ilvl1 two"
        rb"\par{\pntext\f1\'b7\tab}\pard three\par{\listtext\pard 2.\tab}\pard\s1\ls1 Head\par"
    )
    assert read(body).blocks == [
        Block(BlockKind.LIST_ITEM, "one", 1, marker="1."),
        Block(BlockKind.LIST_ITEM, "two", 2, marker="a)"),
        Block(BlockKind.LIST_ITEM, "three", 1),
        Block(BlockKind.HEADING, "Head", 1, marker="2."),
    ]


def test_notes_and_text_boxes_follow_their_paragraph():
    note = rb"{\footnote\pard\plain Note.\par Two.}"
    box = (
        rb"{\shp{\*\shpinst{\sp{\sn wzDescription}{\sv A pump}}{\sp{\sn x}{\sv no}}"
        rb"{\shptxt\pard Boxed.\par}}{\shprslt{\*\do{\dptxbxtext\pard Boxed.\par}}}}"
    )
    found = read(rb"A" + note + box + rb" b.\par Next.\par").blocks
    assert [(block.kind.name, block.text) for block in found] == [
        ("PARAGRAPH", "A b."),
        ("PARAGRAPH", "Note."),
        ("PARAGRAPH", "Two."),
        ("IMAGE", "A pump"),
        ("PARAGRAPH", "Boxed."),
        ("PARAGRAPH", "Next."),
    ]


def test_a_picture_is_counted_once_and_is_what_is_said_of_it():
    alt = rb"{\*\picprop{\sp{\sn wzDescription}{\sv A cat}}}"
    parsed = read(rb"{\*\shppict{\pict" + alt + rb"\pngblip 89}}{\nonshppict{\pict 00}}x\par")
    assert [block.text for block in parsed.blocks] == ["x", "A cat"]
    assert parsed.counts["images"] == 1


def test_a_tables_cells_cover_the_columns_that_lie_over_their_edges():
    body = (
        rb"\trowd\trhdr\cellx1000\cellx2000\cellx3000\pard\intbl A\cell B\cell C\cell\row"
        rb"\trowd\clvmgf\cellx1000\cellx3010\intbl tall\par two\cell wide\cell\row"
        rb"\trowd\clvmrg\cellx1000\clmgf\cellx2000\clmrg\cellx3000\intbl\cell d\cell\cell\row"
        rb"\pard After.\par"
    )
    table, after = read(body).blocks
    assert table.table.header == ["A", "B", "C"]
    assert table.table.rows == [["tall\ntwo", "wide", ""], ["", "d", ""]]
    assert after.text == "After."


def test_a_table_in_a_cell_follows_the_one_around_it():
    body = (
        rb"\trowd\cellx900\cellx2000\pard\intbl a\cell\pard\intbl\itap2 x\nestcell y\nestcell"
        rb"{\*\nesttableprops\trowd\cellx1500\cellx2000\nestrow}{\nonesttables\par}"
        rb"\pard\intbl b\cell\row\pard End.\par"
    )
    found = read(body).blocks
    assert [block.table.rows for block in found[:2]] == [[["a", "b"]], [["x", "y"]]]


def test_a_table_takes_its_caption():
    body = rb"\pard\s7 Table 1\par\trowd\cellx9\cellx99\pard\intbl 1\cell 2\cell\row\pard x\par"
    table, _ = read(body).blocks
    assert table.table.caption == "Table 1"


def test_two_tables_with_a_paragraph_between_them_are_two():
    row = rb"\trowd\cellx900\cellx1900\pard\intbl 1\cell 2\cell\row"
    assert len(read(row + row + rb"\pard\par" + row).blocks) == 2


def test_cells_are_counted_before_a_grid_is_made():
    rows = b"".join(
        rb"\trowd\cellx%d\cellx90000\intbl 1\cell 2\cell\row" % (at * 100) for at in range(1, 60)
    )
    with pytest.raises(TooLarge, match="max_table_cells"):
        read(rows, limits=ReaderLimits(max_table_cells=1_000))


def test_a_file_that_ends_early_is_read_as_far_as_it_goes():
    parsed = read_file(rb"{\rtf1\ansi {\b Half a", "a.rtf")
    assert [block.text for block in parsed.blocks] == ["Half a"]
    assert [warning.kind for warning in parsed.warnings] == ["DAMAGED"]


def test_what_stands_behind_the_last_group_is_no_text():
    data = b"{\\rtf1 Text.\\par}}} not this {"
    assert [block.text for block in read_file(data, "a.rtf").blocks] == ["Text."]


def test_groups_in_one_another_are_read_or_refused_without_end():
    deep = b"{" * 50_000 + b"deep" + b"}" * 50_000
    assert texts(deep + rb"\par") == ["deep"]
    with pytest.raises(TooLarge, match="nested too deeply"):
        read(b"{" * 200_000)


def test_a_file_without_text_is_empty():
    with pytest.raises(EmptyFile):
        read(rb"\par")
