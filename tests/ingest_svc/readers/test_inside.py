from __future__ import annotations

import pytest

from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Warning
from ingest_svc.readers.inside import Inside, shown_name
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.source import Source, Unpacked
from treespan.errors import (
    DamagedFile,
    EmptyFile,
    EncryptedFile,
    NoTextLayer,
    TooLarge,
    UnsupportedFile,
    WrongPassword,
)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def inside(**limits) -> Inside:
    made = ReaderLimits(**limits)
    return Inside(Source(b"", limits=made, unpacked=Unpacked(made, 1)))


def raising(problem: Exception):
    def read(_: Source) -> ParsedFile:
        raise problem

    return read


def test_what_is_in_a_file_follows_its_name():
    found = inside()
    found.add(b"# A\n\nb", "docs/a.md")
    assert [(block.kind, block.text, block.level) for block in found.blocks] == [
        (BlockKind.FILE, "docs/a.md", 1),
        (BlockKind.HEADING, "A", 1),
        (BlockKind.PARAGRAPH, "b", 0),
    ]
    assert (found.read, found.skipped) == (1, 0)


def test_a_file_that_cannot_be_read_is_named_with_the_reason_and_the_next_is_read():
    found = inside()
    found.add(b"", "empty.txt")
    found.add(b"fine", "b.txt")
    assert [block.text for block in found.blocks] == ["empty.txt", "b.txt", "fine"]
    assert found.warnings == [Warning("SKIPPED_FILE", "empty.txt: EMPTY: the file has no bytes")]
    assert (found.read, found.skipped) == (1, 1)


def test_a_fault_of_one_reader_costs_its_file_alone():
    found = inside()
    found.add(b"x", "a.txt", raising(KeyError("secret words")))
    assert found.warnings[0].message == "a.txt: DAMAGED: the file cannot be read (KeyError)"


@pytest.mark.parametrize(
    ("error", "limit"), [(RecursionError(), "max_nesting"), (MemoryError(), "memory_bytes")]
)
def test_a_file_that_takes_too_much_is_too_large(error, limit):
    found = inside()
    found.add(b"x", "a.txt", raising(error))
    assert isinstance(found.problems[0][1], TooLarge)
    assert limit in found.warnings[0].message


def test_files_inside_files_are_read_to_a_depth():
    found = Inside(Source(b"", limits=ReaderLimits(max_archive_depth=2), depth=2))
    found.add(b"x", "a.txt")
    assert "readers.max_archive_depth is 2" in found.warnings[0].message


def test_a_files_own_files_are_one_level_deeper():
    found = inside()
    inner = ParsedFile([Block(BlockKind.FILE, "in.txt", level=1)], "application/zip")
    found.add(b"x", "a.zip", lambda _: inner)
    assert [block.level for block in found.blocks] == [1, 2]


def test_warnings_and_parts_left_out_inside_are_told_with_the_files_name():
    found = inside()
    inner = ParsedFile(
        [], "text/plain", warnings=[Warning("DAMAGED", "cut", [3])], counts={"skipped": 2}
    )
    found.add(b"x", "a.bin", lambda _: inner)
    assert found.warnings == [Warning("DAMAGED", "a.bin: cut", [3])]
    assert found.skipped == 2


def test_a_scan_without_text_keeps_its_own_kind_of_warning():
    found = inside()
    found.add(b"x", "scan.pdf", raising(NoTextLayer("no page has text")))
    assert [warning.kind for warning in found.warnings] == ["NO_TEXT_LAYER"]


def test_an_attempt_that_fails_leaves_no_trace_and_returns_why():
    found = inside()
    problem = found.attempt(PNG, "logo.png")
    assert problem is not None
    assert (found.blocks, found.warnings, found.problems) == ([], [], [])


def test_too_many_blocks_end_the_whole():
    with pytest.raises(TooLarge, match="max_nodes is 2"):
        inside(max_nodes=2).add(b"a\n\nb", "a.txt")


def test_of_several_reasons_the_one_that_a_user_can_do_most_about_is_told():
    found = inside()
    found.refuse("a", EmptyFile("empty"))
    found.refuse("b", UnsupportedFile("not read"))
    found.refuse("c", WrongPassword("wrong"))
    found.refuse("d", DamagedFile("broken"))
    problem = found.most_telling()
    assert isinstance(problem, WrongPassword)
    assert problem.message == "no file inside can be read: c: wrong"
    found.refuse("e", EncryptedFile("locked"))
    assert isinstance(found.most_telling(), EncryptedFile)


def test_the_reason_of_a_file_far_inside_is_told_once_with_its_path():
    outer, inner = inside(), inside()
    inner.refuse("b.zip", TooLarge("too deep"))
    outer.refuse("a.zip", inner.most_telling())
    assert outer.most_telling().message == "no file inside can be read: a.zip: b.zip: too deep"


def test_names_are_shown_on_one_line_without_what_misleads():
    assert shown_name("a\nb\x00\ud800\u202etxt.exe") == "a b txt.exe"
    assert shown_name("\x00") == "unnamed"
    assert len(shown_name("x" * 9_999)) == 1_000
