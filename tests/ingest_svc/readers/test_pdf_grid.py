"""Ruled grids, and the tables read from them."""

from __future__ import annotations

from ingest_svc.readers.pdf.grid import GridCell, grids_of
from ingest_svc.readers.pdf.lines import Box, Line, Page, Rules
from ingest_svc.readers.pdf.split import lines_over_rules, split_at_rules
from ingest_svc.readers.pdf.tables import FoundTable, has_header, ruled_tables
from ingest_svc.readers.pdf.text import is_number, is_period


def line(order: int, x: float, y: float, text: str) -> Line:
    box = Box(x, y, x + 5.0 * len(text), y + 10)
    return Line(box, text, 10.0, False, False, False, True, True, order)


def rules(xs: tuple[float, ...], ys: tuple[float, ...]) -> Rules:
    return Rules(
        horizontal=tuple((y, xs[0], xs[-1]) for y in ys),
        vertical=tuple((x, ys[0], ys[-1]) for x in xs),
    )


def table_of(drawn: Rules, lines: list[Line]) -> FoundTable | None:
    page = Page(1, 600, 800, tuple(lines), drawn, 10, True, 0.0, 0)
    tables, _ = ruled_tables(page, 1000)
    return tables[0] if tables else None


def cells(words: list[tuple[float, float, str]]) -> list[Line]:
    return [line(order, x, y, text) for order, (x, y, text) in enumerate(words)]


def test_crossing_rules_make_a_grid_of_cells():
    (grid,) = grids_of(rules((0, 100, 200), (0, 20, 40)))
    assert grid.box == Box(0, 0, 200, 40)
    assert len(grid.cells) == 4


def test_a_rule_that_is_missing_joins_two_cells():
    drawn = Rules(
        horizontal=((0, 0, 200), (20, 0, 200), (40, 0, 200)),
        vertical=((0, 0, 40), (100, 20, 40), (200, 0, 40)),
    )
    (grid,) = grids_of(drawn)
    assert grid.cells[0] == GridCell(row=0, row_end=1, column=0, column_end=2)
    assert len(grid.cells) == 3


def test_two_tables_apart_are_two_grids():
    one, other = rules((0, 50, 100), (0, 20, 40)), rules((300, 350, 400), (0, 20, 40))
    both = Rules(one.horizontal + other.horizontal, one.vertical + other.vertical)
    assert len(grids_of(both)) == 2


def test_check_boxes_in_a_cell_make_no_columns():
    drawn = rules((0, 100, 300), (0, 30, 60))
    box = rules((150, 160), (10, 20))
    (grid,) = [
        grid
        for grid in grids_of(
            Rules(drawn.horizontal + box.horizontal, drawn.vertical + box.vertical)
        )
        if len(grid.xs) > 2
    ]
    assert grid.xs == (0, 100, 300)


def test_a_header_over_several_columns_names_each_of_them():
    drawn = Rules(
        horizontal=((0, 0, 300), (20, 100, 300), (40, 0, 300), (60, 0, 300), (80, 0, 300)),
        vertical=((0, 0, 80), (100, 0, 80), (200, 20, 80), (300, 0, 80)),
    )
    table = table_of(
        drawn,
        cells(
            [
                (10, 5, "Model"),
                (150, 5, "Score"),
                (110, 25, "easy"),
                (210, 25, "hard"),
                (10, 45, "one"),
                (110, 45, "9"),
                (210, 45, "7"),
                (10, 65, "two"),
                (110, 65, "8"),
                (210, 65, "6"),
            ]
        ),
    )
    assert table is not None
    assert table.header == ("Model", "Score easy", "Score hard")
    assert table.rows == (("one", "9", "7"), ("two", "8", "6"))


def test_rows_that_one_ruled_band_packs_are_split():
    drawn = rules((0, 100, 200, 300), (0, 20, 60))
    words = [(5 + 100 * column, 5.0, name) for column, name in enumerate("abc")]
    words += [
        (5 + 100 * column, 24 + 12.0 * row, f"{row}{column}")
        for row in range(3)
        for column in range(3)
    ]
    table = table_of(drawn, cells(words))
    assert table is not None
    assert table.rows == (("00", "01", "02"), ("10", "11", "12"), ("20", "21", "22"))


def test_broken_text_in_cells_is_no_row_of_its_own():
    drawn = rules((0, 100, 200, 300), (0, 20, 60))
    words = [(5 + 100 * column, 5.0, name) for column, name in enumerate("abc")]
    words += [
        (5 + 100 * column, 24 + 12.0 * row, f"{part} words")
        for row, part in enumerate(("some", "more"))
        for column in range(3)
    ]
    table = table_of(drawn, cells(words))
    assert table is not None
    assert table.rows == (("some words more words",) * 3,)


def test_a_panel_with_text_is_no_table():
    words = cells([(10, 5.0 + 12 * step, "words in a box") for step in range(5)])
    assert table_of(rules((0, 300), (0, 80)), words) is None


def test_a_line_over_a_rule_is_cut_between_its_words():
    drawn = rules((0, 100, 200), (0, 20))
    long = line(0, 60, 5, "03/25/2016 07/01")
    words = [(Box(60, 5, 98, 15), "03/25/2016"), (Box(104, 5, 139, 15), "07/01")]
    parts = split_at_rules([long], lines_over_rules([long], drawn), words)
    assert [part.text for part in parts] == ["03/25/2016", "07/01"]
    assert [part.order for part in parts] == [0, 1]


def test_a_word_over_a_rule_keeps_its_line_whole():
    long = line(0, 60, 5, "unbroken")
    crossing = lines_over_rules([long], rules((0, 80, 200), (0, 20)))
    assert split_at_rules([long], crossing, [(long.box, "unbroken")]) == [long]


def test_a_first_row_of_numbers_over_numbers_is_no_header():
    assert not has_header([["2015", "76", "4,864"], ["2016", "71", "6,102"]])
    assert has_header([["", "2014", "2015"], ["Sales", "12", "14"]])
    assert not has_header([["Report date:", "May"], ["Author:", "Ann"]])


def test_numbers_are_told_from_words():
    numbers = ["12", "4,864", "$3.50", "12 %", "-7", "2015-07-01"]
    words = ["Ann", "Q1 sales", "", "twelve"]
    assert [is_number(text) for text in numbers + words] == [True] * 6 + [False] * 4


def test_years_are_told_from_other_numbers():
    texts = ["2015", "2008–09 to 2015–16", "1,998 pieces", "20150", "12"]
    assert [is_period(text) for text in texts] == [True, True, False, False, False]
