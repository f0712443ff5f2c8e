from __future__ import annotations

import time

import pytest

from ingest_svc.readers.block import BlockKind, ParsedFile
from ingest_svc.readers.html import read_html
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.source import Source
from treespan.errors import TooLarge


def read(text: str, **limits: int) -> ParsedFile:
    return read_html(Source(b"", text, limits=ReaderLimits(**limits)))


def drawn(text: str) -> list[str]:
    """Return blocks as lines: kind, level and marker, text; of tables the rows."""
    return [
        f"{block.kind.name.lower()}{block.level or ''} {block.marker + ' ' if block.marker else ''}"
        + (block.text if block.table is None else str([block.table.header, *block.table.rows]))
        for block in read(text).blocks
    ]


def test_blocks_end_lines_and_inline_elements_do_not():
    assert drawn("<div>a <b>b</b>c<p>d<br>e</div>f<hr>g") == [
        "paragraph a bc",
        "paragraph d\ne",
        "paragraph f",
        "paragraph g",
    ]


def test_two_line_breaks_part_paragraphs():
    assert drawn("one<br><br>two<br>three") == ["paragraph one", "paragraph two\nthree"]


def test_white_space_is_as_shown():
    assert drawn("<p>a\n  b&nbsp;c co\xadop 第一\n  行 x\n y</p>") == [
        "paragraph a b c coop 第一行 x y"
    ]


def test_headings_have_their_level_and_hold_what_is_inside():
    assert drawn(
        "<h2><div>A</div><span> b<br>c</span></h2><h6><img alt='logo'></h6><h3> </h3>"
    ) == [
        "heading2 A b c",
        "heading6 logo",
    ]


def test_an_unclosed_heading_ends_where_other_blocks_start():
    assert drawn("<h1>One<p>two<ul><li>b<h2>Three</h2>four") == [
        "heading1 One",
        "paragraph two",
        "list_item1 b",
        "heading2 Three",
        "paragraph four",
    ]


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>x</script>",
        "<style>x</style>",
        "<template><p>x</p></template>",
        "<noscript>x</noscript>",
        "<p hidden>x</p>",
        "<p aria-hidden='true'>x</p>",
        "<div style='color:red; Display : none'><p>x</p></div>",
        "<select><option>x</select>",
        "<svg><title>x</title></svg>",
        "<dialog>x</dialog>",
        "<table hidden><tr><td>x</table>",
    ],
)
def test_what_does_not_show_is_left_out(hidden):
    assert drawn(f"<p>a</p>{hidden}<p>b</p>") == ["paragraph a", "paragraph b"]


def test_landmarks_outside_the_main_part_are_left_out():
    page = (
        "<header>logo</header><main><header><h1>T</h1></header><p>a<aside>b</aside></main>"
        "<footer>c</footer>"
    )
    assert drawn(page) == ["heading1 T", "paragraph a", "paragraph b"]


def test_landmarks_that_are_mostly_links_are_left_out_and_others_kept():
    page = "<nav><a href=a>Home</a></nav><footer>Written by me, <a href=c>me</a></footer>"
    assert drawn(page) == ["paragraph Written by me, me"]


def test_a_header_with_the_title_stays_but_not_its_menu():
    page = "<header><h1><a href=a>T</a></h1><ul><li><a href=b>b</a></ul></header><p>c"
    assert drawn(page) == ["heading1 T", "paragraph c"]


def test_a_page_of_links_alone_is_still_read():
    assert drawn("<nav><ul><li><a href=a>Home</a></ul></nav>") == ["list_item1 Home"]


def test_lists_have_depth_and_the_numbers_that_are_shown():
    page = (
        "<ol start=3><li>a<p>more</p><ul><li>b</ul><li value=9>c<li>d</ol>"
        "<ol type=I><li>e</ol><ol type=a><li>f</ol>"
    )
    assert drawn(page) == [
        "list_item1 3. a\nmore",
        "list_item2 b",
        "list_item1 9. c",
        "list_item1 10. d",
        "list_item1 I. e",
        "list_item1 a. f",
    ]


def test_terms_and_their_definitions_are_items():
    assert drawn("<dl><dt>a<dd>b</dl>") == ["list_item1 a", "list_item2 b"]


def test_code_keeps_its_lines_and_names_its_language():
    blocks = read(
        "<pre><code class='language-py'>\ndef f():\n\treturn&nbsp;1\n</code></pre>"
    ).blocks
    assert [(block.kind, block.text, block.language) for block in blocks] == [
        (BlockKind.CODE, "def f():\n\treturn 1", "py")
    ]


def test_quotes_and_images_are_told_apart():
    assert drawn("<blockquote>a<p>b</blockquote><img alt=c><img><p>see <img alt=d> here") == [
        "quote a",
        "quote b",
        "image c",
        "paragraph see d here",
    ]


def test_ruby_readings_are_left_out():
    assert drawn("<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>字") == ["paragraph 漢字"]


def test_title_language_and_metadata_are_what_the_page_states():
    parsed = read(
        "<html lang=de><head><title> A\n b </title><meta name=Author content=' me '>"
        "<meta property=og:title content=other></head><body><svg><title>c</title></svg>x"
    )
    assert (parsed.title, parsed.metadata) == ("A b", {"author": "me", "language": "de"})


@pytest.mark.parametrize(
    "page",
    [
        "<html xml:lang=de>x",
        "<meta http-equiv=Content-Language content=de>x",
        "<meta name=DC.language content=de>x",
        "<html lang=de><meta http-equiv=content-language content=en>x",
    ],
)
def test_a_page_can_state_its_language_in_several_ways(page):
    assert read(page).metadata == {"language": "de"}


def test_the_title_for_sharing_stands_in_for_a_missing_one():
    assert read("<head><meta property=og:title content=other></head>x").title == "other"


def test_tables_that_lay_out_a_page_are_unwrapped():
    page = (
        "<table><tr><td><h1>T</h1><p>a</p></td><td><ul><li>b</ul></td></tr></table>"
        "<table role=presentation><tr><td>c<td>d<tr><td>e<td>f</table>"
        "<table><tr><td>only</td></tr></table>"
        "<table><tr><td><table><tr><td>1<td>2<tr><td>3<td>4</table><td>g</table>"
    )
    assert drawn(page) == [
        "heading1 T",
        "paragraph a",
        "list_item1 b",
        "paragraph c d",
        "paragraph e f",
        "paragraph only",
        "table [['', ''], ['1', '2'], ['3', '4']]",
        "paragraph g",
    ]


def test_twenty_thousand_nested_elements_are_read():
    page = "<div>" * 20_000 + "deep text" + "</div>" * 20_000 + "<h1>After</h1>"
    started = time.process_time()
    assert drawn(page) == ["paragraph deep text", "heading1 After"]
    assert time.process_time() - started < 20


def test_deeply_nested_tables_and_lists_are_read():
    page = "<table><tr><td>" * 500 + "x" + "<ul><li>" * 500 + "y"
    blocks = read(page, max_nesting=30).blocks
    assert [(block.text, block.level) for block in blocks] == [("x", 0), ("y", 30)]


def test_too_many_pieces_are_refused_by_name():
    with pytest.raises(TooLarge, match=r"readers\.max_nodes is 10"):
        read("<p>x" * 100, max_nodes=10)
