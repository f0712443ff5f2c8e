"""Whole documents through the PDF reader, each made here with all its blocks known."""

from __future__ import annotations

import pymupdf
import pytest
from made_pdf import HEIGHT, WIDTH, MadePdf, drawn, read

from ingest_svc.readers.pdf.reader import read_pdf
from ingest_svc.readers.source import ReadOptions, Source
from treespan.errors import (
    DamagedFile,
    EmptyFile,
    EncryptedFile,
    NoTextLayer,
    TooLarge,
    UnsupportedEncryption,
    WrongPassword,
)

LEFT = (
    "The left column starts here and",
    "goes on over several lines until",
    "it is full of words that say what",
    "has to be said on the left side.",
)
RIGHT = (
    "The right column begins with its",
    "own sentence and also has several",
    "lines of about the same length as",
    "all lines of its neighbour have.",
)
PROSE = (
    "This paragraph is only here to fill the page with plain text of the usual size, so that",
    "the reader can tell which letters are larger than most; it ends with a full stop here.",
)


def picture() -> pymupdf.Pixmap:
    pixmap = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 60, 80))
    pixmap.clear_with(120)
    return pixmap


def test_two_columns_are_read_left_before_right_under_a_heading_over_both():
    made = MadePdf().page().text(180, 90, "Columns of Text", 18, "hebo")
    for step in range(4):  # drawn row by row, so that only their shape says columns
        made.text(60, 130 + 14 * step, LEFT[step]).text(310, 130 + 14 * step, RIGHT[step])
    made.lines(60, 220, PROSE)
    assert drawn(made.blocks()) == [
        "HEADING1? Columns of Text",
        f"PARAGRAPH {' '.join(LEFT)}",
        f"PARAGRAPH {' '.join(RIGHT)}",
        f"PARAGRAPH {' '.join(PROSE)}",
    ]


def test_a_paragraph_goes_on_from_one_column_to_the_next():
    left = (*LEFT[:3], "has to be said at this place but")
    right = ("goes on in the right column until", *RIGHT[1:])
    blocks = MadePdf().page().lines(60, 130, left).lines(310, 130, right).blocks()
    assert drawn(blocks) == [f"PARAGRAPH {' '.join(left)} {' '.join(right)}"]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_page_shown_rotated_is_read_as_it_is_written(rotation):
    made = MadePdf().page().lines(60, 130, PROSE)
    made.document[0].set_rotation(rotation)
    assert drawn(made.blocks()) == [f"PARAGRAPH {' '.join(PROSE)}"]


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_text_written_sideways_is_read_in_its_own_direction(turn):
    document = pymupdf.open()
    page = document.new_page(width=WIDTH, height=HEIGHT)
    spot = {90: (300, 700), 180: (500, 500), 270: (300, 100)}[turn]
    page.insert_text(spot, "First line that runs sideways.\nSecond line of it.", rotate=turn)
    (block,) = read(document.tobytes()).blocks
    assert block.text == "First line that runs sideways. Second line of it."


def test_words_broken_at_line_ends_are_made_whole_also_over_pages():
    made = MadePdf().page()
    made.lines(60, 130, ("The long para-", "graph has hyphen-", "ated words and con-"))
    made.page().lines(60, 130, ("tinues on the next page, where a well-known", "word stays."))
    (block,) = made.blocks()
    assert block.text == (
        "The long paragraph has hyphenated words and continues on the next page,"
        " where a well-known word stays."
    )
    assert (block.page_start, block.page_end) == (1, 2)


def test_running_heads_and_page_numbers_go_and_titles_stay():
    made = MadePdf()
    for number in range(1, 7):
        made.page().text(60, 40, "Annual Handbook", 9).text(280, 815, f"Page {number} of 6", 9)
        made.text(60, 90, f"Topic {'ABCDEF'[number - 1]}", 18, "hebo").lines(60, 130, PROSE)
    blocks = made.blocks()
    assert drawn(blocks[:2]) == ["HEADING1? Topic A", f"PARAGRAPH {' '.join(PROSE)}"]
    assert [block.text for block in blocks[::2]] == [f"Topic {letter}" for letter in "ABCDEF"]
    assert [block.page_start for block in blocks[::2]] == [1, 2, 3, 4, 5, 6]


def test_the_same_line_on_every_page_stays_where_it_is_all_there_is():
    made = MadePdf()
    for _ in range(4):
        made.page().text(60, 60, "Draft")
    assert drawn(made.blocks()) == ["PARAGRAPH Draft"] * 4


def test_a_head_and_foot_of_a_single_page_go_where_both_stand_apart():
    made = MadePdf().page().text(60, 40, "Some Company").text(60, 815, "Phone 555")
    made.text(60, 90, "Offer", 11, "hebo").lines(60, 130, PROSE)
    assert drawn(made.blocks()) == ["HEADING1? Offer", f"PARAGRAPH {' '.join(PROSE)}"]


def test_a_first_line_of_a_single_page_stays_without_a_foot():
    blocks = MadePdf().page().text(60, 40, "Some Company").lines(60, 90, PROSE).blocks()
    assert drawn(blocks) == ["PARAGRAPH Some Company", f"PARAGRAPH {' '.join(PROSE)}"]


def test_outline_titles_bind_to_their_own_pages_with_their_levels():
    made = MadePdf()
    toc = []
    for number in range(3):
        made.page().text(60, 90, "Summary", 11).lines(60, 130, PROSE)
        made.text(60, 200, "Details", 11).lines(60, 230, PROSE)
        toc += [[1, "Summary", number + 1], [2, "Details", number + 1]]
    made.document.set_toc(toc)
    parsed = read(made.data())
    headings = [
        (block.level, block.text, block.page_start, block.stated)
        for block in parsed.blocks
        if block.level
    ]
    assert headings == [
        (level, title, page, True)
        for page in (1, 2, 3)
        for level, title in toc[:2] and ((1, "Summary"), (2, "Details"))
    ]
    assert parsed.counts["outline"] == 6


def test_an_outline_title_that_the_text_lacks_is_not_added():
    made = MadePdf().page().lines(60, 130, PROSE)
    made.document.set_toc([[1, "Invented", 1], [1, "Elsewhere", 1]])
    assert drawn(made.blocks()) == [f"PARAGRAPH {' '.join(PROSE)}"]


def test_numbers_say_how_deep_headings_are():
    made = MadePdf().page().text(60, 80, "1 Introduction", 14, "hebo").lines(60, 110, PROSE)
    made.text(60, 160, "1.1", 12, "hebo").text(100, 160, "Scope of it", 12, "hebo")
    made.lines(60, 190, PROSE).text(60, 240, "2 Results", 14, "hebo").lines(60, 270, PROSE)
    headings = [line for line in drawn(made.blocks()) if line.startswith("HEADING")]
    assert headings == ["HEADING1 1 Introduction", "HEADING2 1.1 Scope of it", "HEADING1 2 Results"]


def test_chinese_numbers_say_how_deep_headings_are():
    prose = "本条例适用于中华人民共和国境内的所有单位，以及在该单位工作的全部人员。"
    made = MadePdf().page()
    for place, text in enumerate(
        ["第一章 总则", prose, "第一节 范围", prose, "一、适用对象", prose, "第二章 附则", prose]
    ):
        made.text(60, 90 + 30 * place, text, 11, "china-s")
    headings = [line for line in drawn(made.blocks()) if line.startswith("HEADING")]
    assert headings == [
        "HEADING1 第一章 总则",
        "HEADING2 第一节 范围",
        "HEADING3 一、适用对象",
        "HEADING1 第二章 附则",
    ]


def test_list_items_keep_their_marks_and_depth():
    made = MadePdf().page().lines(60, 90, PROSE)
    made.text(60, 140, "1.").text(80, 140, "First thing").text(80, 154, "that takes two lines")
    made.text(80, 168, "a)").text(100, 168, "A part of it").text(60, 182, "2.")
    made.text(80, 182, "Second thing")
    assert drawn(made.blocks()[1:]) == [
        "LIST_ITEM1 1. First thing that takes two lines",
        "LIST_ITEM2 a) A part of it",
        "LIST_ITEM1 2. Second thing",
    ]


def test_a_ruled_table_is_a_table_and_not_text_too():
    rows = [["Name", "City", "Score"], ["Ann", "Bern", "12"], ["Bob", "", "7"]]
    made = MadePdf().page().lines(60, 90, PROSE).grid(60, 140, rows).lines(60, 240, PROSE)
    made.text(60, 125, "Table 1. Scores by name")
    blocks = made.blocks()
    assert drawn(blocks) == [
        f"PARAGRAPH {' '.join(PROSE)}",
        "TABLE Name|City|Score / Ann|Bern|12 / Bob||7",
        f"PARAGRAPH {' '.join(PROSE)}",
    ]
    assert blocks[1].table is not None
    assert blocks[1].table.caption == "Table 1. Scores by name"


def test_a_table_over_pages_is_one_table_with_the_pages_of_its_rows():
    made = MadePdf().page().lines(60, 90, PROSE)
    made.grid(60, 600, [["Name", "City"], ["Ann", "Bern"], ["Bob", "Rome"]])
    made.page().grid(60, 60, [["Name", "City"], ["Cid", "Oslo"], ["Dan", "Kiel"]])
    made.page().grid(60, 60, [["Eve", "Linz"], ["Fay", "Graz"]])
    (table,) = [block for block in made.blocks() if block.table]
    assert drawn([table]) == [
        "TABLE Name|City / Ann|Bern / Bob|Rome / Cid|Oslo / Dan|Kiel / Eve|Linz / Fay|Graz"
    ]
    assert table.table is not None
    assert table.table.row_pages == [1, 1, 2, 2, 3, 3]
    assert (table.page_start, table.page_end) == (1, 3)


def test_a_table_without_rules_is_found_by_its_columns():
    made = MadePdf().page().lines(60, 90, PROSE)
    rows = [["Item", "Pieces", "Price"], ["Bolt", "12", "3.50"], ["Nut", "", "1.20"]]
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            made.text(60 + 120 * column, 160 + 18 * row, cell)
    assert drawn(made.blocks())[1:] == ["TABLE Item|Pieces|Price / Bolt|12|3.50 / Nut||1.20"]


def test_numbers_set_too_close_to_tell_apart_are_parted_by_the_rows_below():
    made = MadePdf().page().lines(60, 90, PROSE)
    made.text(60, 160, "All").text(180, 160, "1,234,567 2,345,678 3,456,789")
    for row, name in enumerate(["North", "South", "West"]):
        made.text(60, 178 + 18 * row, name)
        for column in range(3):
            made.text(200 + 55 * column, 178 + 18 * row, f"{row}{column}")
    assert drawn(made.blocks())[1:] == [
        "TABLE ||| / All|1,234,567|2,345,678|3,456,789 / North|00|01|02 / South|10|11|12"
        " / West|20|21|22"
    ]


def test_a_contents_list_is_no_table():
    made = MadePdf().page().lines(60, 90, PROSE)
    for row, (title, page) in enumerate([("Aims", 2), ("Means", 5), ("Ends", 9), ("Sources", 12)]):
        made.text(60, 160 + 18 * row, str(row + 1)).text(80, 160 + 18 * row, title)
        made.text(500, 160 + 18 * row, str(page))
    assert [block.table for block in made.blocks()] == [None] * 5


def test_a_page_number_stays_where_it_is_all_there_is():
    assert drawn(MadePdf().page().text(290, 800, "7").blocks()) == ["PARAGRAPH 7"]


def test_typed_pages_are_text_and_not_code():
    made = MadePdf().page()
    for step, line in enumerate(PROSE):
        made.text(20, 100 + 14 * step, line, 10, "cour")
    assert drawn(made.blocks()) == [f"PARAGRAPH {' '.join(PROSE)}"]


def test_a_table_on_a_rotated_page_keeps_rows_and_columns():
    rows = [["Name", "City", "Score"], ["Ann", "Bern", "12"], ["Bob", "Rome", "7"]]
    made = MadePdf().page().grid(60, 140, rows)
    made.document[0].set_rotation(90)
    assert drawn(made.blocks()) == ["TABLE Name|City|Score / Ann|Bern|12 / Bob|Rome|7"]


def test_code_keeps_its_lines_and_indents():
    made = MadePdf().page().lines(60, 90, PROSE)
    for step, line in enumerate(["def f(x):", "    return x", "", "print(f(1))"]):
        made.text(60, 150 + 12 * step, line, 10, "cour")
    assert drawn(made.blocks())[1:] == ["CODE def f(x):\n    return x\n\nprint(f(1))"]


def test_glyphs_printed_twice_for_fake_bold_are_read_once():
    made = MadePdf().page()
    for shift in (0.0, 0.4):
        made.text(60 + shift, 100, "Printed twice")
    assert drawn(made.blocks()) == ["PARAGRAPH Printed twice"]


def test_invisible_text_is_kept_but_is_no_heading():
    made = MadePdf().page().lines(60, 130, PROSE)
    made.document[0].insert_text((60, 300), "Hidden words", fontsize=20, render_mode=3)
    assert drawn(made.blocks())[1:] == ["PARAGRAPH Hidden words"]


def test_pages_that_are_pictures_are_named_in_a_warning():
    made = MadePdf().page().lines(60, 130, PROSE).page()
    made.document[-1].insert_image(made.document[-1].rect, pixmap=picture())
    (warning,) = read(made.data()).warnings
    assert (warning.kind, warning.pages) == ("NO_TEXT_LAYER", [2])


def test_a_blank_page_is_no_fault():
    assert read(MadePdf().page().lines(60, 130, PROSE).page().data()).warnings == []


def test_a_file_of_pictures_alone_is_refused():
    made = MadePdf().page()
    made.document[0].insert_image(made.document[0].rect, pixmap=picture())
    with pytest.raises(NoTextLayer, match="the only page has no text"):
        read(made.data())


def test_a_file_of_blank_pages_is_empty():
    with pytest.raises(EmptyFile, match="2 pages with nothing on them"):
        read(MadePdf().page().page().data())


def test_no_bytes_are_empty():
    with pytest.raises(EmptyFile):
        read(b"")


def test_what_is_no_pdf_is_damaged():
    with pytest.raises(DamagedFile, match="cannot be opened"):
        read(b"plain words and nothing else")


def test_half_a_file_is_damaged_or_said_to_be():
    made = MadePdf()
    for _ in range(20):
        made.page().lines(60, 130, PROSE)
    data = made.data()
    try:
        kinds = {warning.kind for warning in read(data[: len(data) // 2]).warnings}
    except DamagedFile:
        return
    assert "DAMAGED" in kinds


def test_bytes_before_the_header_do_no_harm():
    data = b"HTTP/1.1 200 OK\r\n\r\n" + MadePdf().page().lines(60, 130, PROSE).data()
    assert drawn(read(data).blocks) == [f"PARAGRAPH {' '.join(PROSE)}"]


def encrypted(user: str) -> bytes:
    made = MadePdf().page().lines(60, 130, PROSE)
    return made.data(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=user, owner_pw="owner")


def test_an_encrypted_file_needs_its_password():
    with pytest.raises(EncryptedFile):
        read(encrypted("secret"))


def test_a_wrong_password_is_told_from_a_missing_one():
    with pytest.raises(WrongPassword):
        read(encrypted("secret"), password="guess")


@pytest.mark.parametrize("password", ["secret", "owner"])
def test_either_password_opens_a_file(password):
    assert read(encrypted("secret"), password=password).page_count == 1


def test_an_owner_password_alone_hides_nothing():
    assert read(encrypted("")).page_count == 1


def test_too_many_pages_are_refused_with_the_limit():
    with pytest.raises(TooLarge, match=r"limit readers\.max_pages is 1; this file has 2"):
        read(MadePdf().page().page().data(), max_pages=1)


def test_a_slow_page_is_refused_with_the_limit():
    made = MadePdf().page().lines(60, 130, PROSE)
    with pytest.raises(
        TooLarge, match=r"limit readers\.max_page_s is 0\.0; this file has page 1, which took"
    ):
        read(made.data(), max_page_s=0.0)


@pytest.mark.parametrize("limits", [{"max_page_rules": 3}, {"max_page_drawing_bytes": 10}])
def test_a_page_not_searched_for_tables_is_named_in_a_warning(limits):
    rows = [["Name", "City"], ["Ann", "Bern"], ["Bob", "Rome"]]
    made = MadePdf().page().grid(60, 140, rows, at_once=True)
    assert made.blocks()[0].table is not None
    (warning,) = read(made.data(), **limits).warnings
    assert (warning.kind, warning.pages) == ("TRUNCATED_TABLE", [1])


def test_progress_is_told_after_each_page():
    told: list[tuple[int, int]] = []
    made = MadePdf().page().lines(60, 130, PROSE).page()
    read(made.data(), progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("stated", "title"),
    [("Annual Report", "Annual Report"), ("report.docx", ""), ("untitled", ""), ("C:\\x\\y", "")],
)
def test_a_title_is_taken_where_it_is_one(stated, title):
    made = MadePdf().page().lines(60, 130, PROSE)
    made.document.set_metadata({"title": stated, "author": "A. Writer"})
    parsed = read(made.data())
    assert (parsed.title, parsed.metadata["author"]) == (title, "A. Writer")


@pytest.mark.parametrize(("stated", "language"), [("de-CH", "de"), ("zh-CN", "zh-Hans"), ("", "")])
def test_the_language_is_what_the_catalogue_states(stated, language):
    made = MadePdf().page().lines(60, 130, PROSE)
    made.document.set_language(stated)
    assert read(made.data()).metadata.get("language", "") == language


def test_keywords_and_dates_are_as_the_file_states_them():
    made = MadePdf().page().lines(60, 130, PROSE)
    made.document.set_metadata(
        {
            "keywords": "valves, pipes; tanks",
            "creator": "A Program",
            "creationDate": "D:20240131120000+01'30'",
            "modDate": "D:2024",
        }
    )
    parsed = read(made.data())
    assert parsed.metadata == {"generator": "A Program", "keywords": ["valves", "pipes", "tanks"]}
    assert parsed.dates == {
        "created": "2024-01-31T12:00:00+01:30",
        "modified": "2024-01-01T00:00:00Z",
    }


def test_attached_files_are_read_below_their_names():
    made = MadePdf().page().lines(60, 130, PROSE)
    made.document.embfile_add("notes.txt", b"notes of the day")
    made.document.embfile_add("photo.bin", bytes(range(256)))
    parsed = read(made.data())
    assert drawn(parsed.blocks)[-3:] == [
        "FILE1 notes.txt",
        "PARAGRAPH notes of the day",
        "FILE1 photo.bin",
    ]
    assert (parsed.counts["attachments"], parsed.counts["skipped"]) == (2, 1)
    assert [warning.kind for warning in parsed.warnings] == ["SKIPPED_FILE"]


def test_encryption_by_another_handler_is_told_from_damage():
    data = encrypted("").replace(b"/Filter/Standard", b"/Filter/FooBarXX")
    with pytest.raises(UnsupportedEncryption, match="encrypted by 'FooBarXX'"):
        read(data)


def test_numbered_sections_stand_below_the_title_of_the_first_page():
    made = MadePdf().page().text(60, 90, "The Harbour of Bergen", size=22)
    made.text(60, 140, "1 History", size=14, font="hebo").lines(60, 165, PROSE)
    made.text(60, 260, "2 Trade", size=14, font="hebo").lines(60, 285, PROSE)
    headings = [line for line in drawn(made.blocks()) if line.startswith("HEADING")]
    assert headings == ["HEADING1? The Harbour of Bergen", "HEADING2 1 History", "HEADING2 2 Trade"]


def test_a_mode_that_is_not_there_is_said_not_to_be():
    source = Source(
        MadePdf().page().lines(60, 130, PROSE).data(), options=ReadOptions(pdf_mode="layout")
    )
    (warning,) = read_pdf(source).warnings
    assert (warning.kind, warning.message[:20]) == ("SKIPPED_PART", 'pdf_mode is "layout"')
