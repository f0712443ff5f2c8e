from __future__ import annotations

import pytest
from made_archives import NCX, book, chapter, contents, zipped

from ingest_svc.readers import read_file
from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.limits import ReaderLimits
from treespan.errors import DamagedFile, EmptyFile, TooLarge, UnsupportedEncryption

NAV = '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
    'xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
    '<enc:EncryptionMethod Algorithm="{algorithm}"/>'
    '<enc:CipherData><enc:CipherReference URI="{path}"/></enc:CipherData>'
    "</enc:EncryptedData></encryption>"
)


def headings(data: bytes) -> list[tuple[int, str]]:
    blocks = read_file(data, "a.epub").blocks
    return [(block.level, block.text) for block in blocks if block.kind is BlockKind.HEADING]


def texts(data: bytes) -> list[str]:
    return [block.text for block in read_file(data, "a.epub").blocks]


def test_chapters_are_read_in_the_order_of_the_spine_and_others_last():
    data = book(
        {name: chapter(f"<p>{name}</p>") for name in ("c", "note", "a", "b")},
        spine='<itemref idref="a"/><itemref idref="note" linear="no"/><itemref idref="b"/>'
        '<itemref idref="c"/><itemref idref="a"/><itemref idref="missing"/>',
    )
    assert texts(data) == ["a", "b", "c", "note"]
    assert read_file(data, "a.epub").page_count == 0


def test_a_book_says_who_wrote_it():
    data = book(
        {"a": chapter("<p>x</p>")},
        metadata="<dc:title>战争与和平</dc:title><dc:creator>A. One</dc:creator>"
        "<dc:creator>B. Two</dc:creator><dc:language>zh</dc:language>"
        "<dc:publisher>House</dc:publisher><dc:date>1869</dc:date><dc:subject>War</dc:subject>"
        "<dc:identifier>urn:isbn:1</dc:identifier>"
        "<dc:description>&lt;p&gt;A &lt;b&gt;long&lt;/b&gt; book.&lt;/p&gt;</dc:description>"
        '<meta property="dcterms:modified">2020-02-03T04:05:06Z</meta>',
    )
    parsed = read_file(data, "a.epub")
    assert parsed.title == "战争与和平"
    assert parsed.metadata == {
        "author": ["A. One", "B. Two"],
        "language": "zh",
        "publisher": "House",
        "date": "1869",
        "keywords": "War",
        "identifier": "urn:isbn:1",
        "description": "A long book.",
    }
    assert parsed.dates == {"modified": "2020-02-03T04:05:06+00:00"}


@pytest.mark.parametrize("empty", ["<title/>", "<script src='x'/>", "<style/>", '<a id="p1"/>'])
def test_elements_that_are_closed_at_once_swallow_nothing(empty):
    text = f"<html xmlns='http://www.w3.org/1999/xhtml'><head>{empty}</head><body>"
    text += f"<h1>One{empty}</h1><p>alpha<br/>beta<i/></p><p>gamma</p></body></html>"
    assert texts(book({"a": text})) == ["One", "alpha\nbeta", "gamma"]


def test_xhtml_that_a_web_page_is_not_is_read_all_the_same():
    text = (
        "<h:html xmlns:h='http://www.w3.org/1999/xhtml'><h:body><h:p>alpha &amp; &nbsp;beta</h:p>"
        "<h:p><![CDATA[1 < 2]]></h:p></h:body></h:html>"
    )
    assert texts(book({"a": text})) == ["alpha & beta", "1 < 2"]


def test_types_are_those_of_the_manifest_not_of_the_names():
    chapters = {"a.xml": chapter("<h1>One</h1>"), "b.bin": chapter("<p>two</p>")}
    assert texts(book(chapters)) == ["One", "two"]


def test_chapters_are_as_deep_as_the_contents_have_them():
    data = book(
        {
            "p1": chapter("<h1>Part One</h1>"),
            "c1": chapter("<h1>Chapter 1</h1><h2>Scene</h2>"),
            "c1b": chapter("<h2>Scene 2</h2>"),
            "p2": chapter("<h1>Part Two</h1>"),
            "c2": chapter("<h3>Chapter 2</h3>"),
        },
        items=NCX,
        parts={
            "OPS/toc.ncx": contents(
                (1, "Part One", "p1"),
                (2, "Chapter 1", "c1#x"),
                (1, "Part Two", "p2"),
                (2, "Chapter 2", "c2"),
            )
        },
    )
    assert headings(data) == [
        (1, "Part One"),
        (2, "Chapter 1"),
        (3, "Scene"),
        (3, "Scene 2"),
        (1, "Part Two"),
        (3, "Chapter 2"),
    ]
    assert read_file(data, "a.epub").counts["outline"] == 4


def test_a_title_that_only_the_contents_have_is_the_chapters_heading():
    data = book(
        {
            "cover": chapter('<img src="c.jpg" alt="Cover"/>'),
            "a": chapter("<p>It begins.</p>"),
            "b": chapter("<p class='big'>Chapter\n2</p><p>It ends.</p>"),
        },
        items=NCX,
        parts={
            "OPS/toc.ncx": contents(
                (1, "Cover", "cover"), (1, "Chapter 1", "a"), (1, "CHAPTER 2", "b")
            )
        },
    )
    parsed = read_file(data, "a.epub")
    assert [(block.kind.name, block.text) for block in parsed.blocks] == [
        ("IMAGE", "Cover"),
        ("HEADING", "Chapter 1"),
        ("PARAGRAPH", "It begins."),
        ("HEADING", "Chapter 2"),
        ("PARAGRAPH", "It ends."),
    ]


def test_the_contents_of_newer_books_are_a_page_which_is_no_chapter():
    page = chapter(
        '<nav epub:type="landmarks"><ol><li><a href="a">Start</a></li></ol></nav>'
        '<nav epub:type="toc"><ol><li><a href="a">One</a><ol><li><a href="b%20c#x">Two</a></li>'
        "</ol></li></ol></nav>"
    )
    data = book(
        {"a": chapter("<p>alpha</p>"), "b c": chapter("<p>beta</p>")},
        items=NAV,
        spine='<itemref idref="nav"/><itemref idref="a"/><itemref idref="b c"/>',
        parts={"OPS/nav.xhtml": page},
    )
    assert texts(data) == ["One", "alpha", "Two", "beta"]
    assert headings(data) == [(1, "One"), (2, "Two")]


def test_notes_tables_and_pictures_of_a_chapter_are_kept():
    data = book(
        {
            "a": chapter(
                "<header><h1>One</h1></header><p>alpha</p>"
                '<aside epub:type="footnote"><p>a note</p></aside>'
                "<table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>"
                '<img src="x.png" alt="A map"/>'
            )
        }
    )
    parsed = read_file(data, "a.epub")
    assert [block.text for block in parsed.blocks] == ["One", "alpha", "a note", "", "A map"]
    assert parsed.blocks[3].table.rows == [["1", "2"]]


def test_a_book_that_a_shop_has_encrypted_is_refused_with_that_reason():
    lock = ENCRYPTION.format(algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc", path="OPS/a")
    data = book({"a": "\x8f\x13"}, parts={"META-INF/encryption.xml": lock})
    with pytest.raises(UnsupportedEncryption, match=r"'OPS/a' of the book is encrypted"):
        read_file(data, "a.epub", password="x")


def test_one_encrypted_chapter_is_left_out_and_said():
    lock = ENCRYPTION.format(algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc", path="OPS/a")
    chapters = {"a": "\x8f\x13", "b": chapter("<p>beta</p>")}
    parsed = read_file(book(chapters, parts={"META-INF/encryption.xml": lock}), "a.epub")
    assert [block.text for block in parsed.blocks] == ["beta"]
    assert [warning.kind for warning in parsed.warnings] == ["SKIPPED_PART"]
    assert parsed.counts["skipped"] == 1


@pytest.mark.parametrize(
    "algorithm", ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"]
)
def test_fonts_that_are_hard_to_copy_are_no_matter(algorithm):
    lock = ENCRYPTION.format(algorithm=algorithm, path="OPS/font.otf")
    data = book({"a": chapter("<p>x</p>")}, parts={"META-INF/encryption.xml": lock})
    assert read_file(data, "a.epub").warnings == []


def test_a_missing_chapter_is_said_and_the_rest_is_read():
    spine = '<itemref idref="gone"/><itemref idref="a"/>'
    gone = '<item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/>'
    parsed = read_file(book({"a": chapter("<p>x</p>")}, items=gone, spine=spine), "a.epub")
    assert [block.text for block in parsed.blocks] == ["x"]
    assert [(warning.kind, "OPS/gone.xhtml" in warning.message) for warning in parsed.warnings] == [
        ("DAMAGED", True)
    ]


def test_a_chapter_that_is_no_text_is_left_out_but_for_what_stands_in_for_it():
    items = (
        '<item id="p" href="p.pdf" media-type="application/pdf" fallback="a"/>'
        '<item id="q" href="q.pdf" media-type="application/pdf"/>'
    )
    data = book(
        {"a": chapter("<p>x</p>")},
        items=items,
        spine='<itemref idref="p"/><itemref idref="q"/>',
        parts={"OPS/q.pdf": "%PDF-1.4"},
    )
    parsed = read_file(data, "a.epub")
    assert [block.text for block in parsed.blocks] == ["x"]
    assert "'OPS/q.pdf' of the book is no text but application/pdf" in parsed.warnings[0].message


def test_a_package_document_that_is_not_well_formed_is_read_as_far_as_it_goes():
    whole = book({"a": chapter("<p>x</p>")}, metadata="<dc:title>A & B</dc:title>")
    parsed = read_file(whole, "a.epub")
    assert [block.text for block in parsed.blocks] == ["x"]
    assert [warning.kind for warning in parsed.warnings] == ["DAMAGED"]


def test_a_book_without_a_package_document_is_damaged():
    with pytest.raises(DamagedFile, match="no package document"):
        read_file(zipped({"mimetype": "application/epub+zip", "a.html": "x"}), "a.epub")


def test_entity_bombs_in_the_package_are_refused():
    bomb = '<!DOCTYPE p [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]><package>&b;</package>'
    data = zipped({"mimetype": "application/epub+zip", "a.opf": bomb})
    with pytest.raises(DamagedFile, match="declares entities"):
        read_file(data, "a.epub")


def test_a_book_without_chapters_is_empty():
    with pytest.raises(EmptyFile):
        read_file(book({"a": chapter("<p> </p>")}), "a.epub")


def test_limits_hold_over_all_chapters():
    data = book({f"c{n}": chapter("<p>x</p>") for n in range(5)})
    with pytest.raises(TooLarge, match="max_nodes is 3"):
        read_file(data, "a.epub", limits=ReaderLimits(max_nodes=3))
    large = book({"a": chapter("<p>x</p>" + " " * (80 << 20))})
    with pytest.raises(TooLarge, match="max_unpack_ratio"):
        read_file(large, "a.epub")
