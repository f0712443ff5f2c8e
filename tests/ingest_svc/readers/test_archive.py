from __future__ import annotations

import bz2
import zipfile

import pytest
from made_archives import encrypted, zipped

from ingest_svc.readers.archives.archive import Archive
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.source import Source, Unpacked
from treespan.errors import (
    DamagedFile,
    EncryptedFile,
    TooLarge,
    UnsupportedEncryption,
    WrongPassword,
)

# Made with Info-ZIP 3.0: `zip -P secret`, one stored entry "a.txt" with the text "hello".
LOCKED = bytes.fromhex(
    "504b03040a0009000000e71c815d86a61036110000000500000005000000612e747874ea55881121"
    "89e8d5487e25d8917106f259504b070886a610361100000005000000504b01021e030a0009000000"
    "e71c815d86a610361100000005000000050000000000000000000000a48100000000612e74787450"
    "4b0506000000000100010033000000440000000000"
)


def archive(data: bytes, password: str = "", **limits) -> Archive:
    made = ReaderLimits(**limits)
    source = Source(data, password=password, limits=made, unpacked=Unpacked(made, len(data)))
    return Archive(source)


@pytest.mark.parametrize(
    "compression",
    [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA],
)
def test_a_part_is_read_however_it_is_compressed(compression):
    text = "甲乙丙丁" * 50_000
    opened = archive(zipped({"a.txt": text, "b": "x"}, compression))
    assert opened.read("a.txt").decode() == text
    assert opened.read(opened.entries[1]) == b"x"
    assert "b" in opened
    assert "c" not in opened


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_bomb_is_refused_while_it_is_unpacked(compression):
    bomb = zipped({"zeros": bytes(80 << 20)}, compression)
    with pytest.raises(TooLarge, match=r"readers\.max_unpack_ratio is 100"):
        archive(bomb).read("zeros")


def test_what_all_parts_unpack_to_counts_together():
    opened = archive(zipped({"a": bytes(600), "b": bytes(600)}), max_unpacked_bytes=1_000)
    assert len(opened.read("a")) == 600
    with pytest.raises(TooLarge, match=r"readers\.max_unpacked_bytes is 1000; this file has 1200"):
        opened.read("b")


def test_one_part_may_not_be_larger_than_a_file():
    with pytest.raises(TooLarge, match=r"readers\.max_file_bytes is 500"):
        archive(zipped({"a": bytes(600)}), max_file_bytes=500).read("a")


def test_too_many_entries_are_refused():
    with pytest.raises(TooLarge, match=r"readers\.max_archive_entries is 2; this file has 3"):
        archive(zipped({"a": "", "b": "", "c": ""}), max_archive_entries=2)


def test_a_part_that_is_missing_or_broken_is_named():
    whole = zipped({"part.txt": "hello " * 100})
    broken = bytearray(whole)
    broken[50] ^= 0xFF
    with pytest.raises(DamagedFile, match=r"lacks its part 'other'"):
        archive(whole).read("other")
    with pytest.raises(DamagedFile, match=r"'part\.txt' of the container is damaged"):
        archive(bytes(broken)).read("part.txt")


def test_a_broken_bzip2_part_is_damaged():
    whole = zipped({"part.txt": "hello " * 100}, zipfile.ZIP_BZIP2)
    at = whole.index(b"BZh")
    packed = bytearray(whole)
    packed[at + 20] ^= 0xFF
    with pytest.raises(DamagedFile):
        archive(bytes(packed)).read("part.txt")
    other = bz2.compress(b"other text")
    assert len(other) <= whole.index(b"PK\x01\x02") - at
    packed[at : at + len(other)] = other
    with pytest.raises(DamagedFile):
        archive(bytes(packed)).read("part.txt")


def test_entries_that_overlap_do_not_multiply_beyond_the_limits():
    whole = zipped({"aaaa": bytes(200_000), "bbbb": "x"})
    first = whole.index(b"PK\x01\x02")
    second = whole.index(b"PK\x01\x02", first + 1)
    changed = bytearray(whole)
    changed[second + 42 : second + 46] = bytes(4)  # the second entry's data is the first one's
    opened = archive(bytes(changed), max_unpacked_bytes=300_000)
    opened.read(opened.entries[0])
    with pytest.raises((DamagedFile, TooLarge)):
        opened.read(opened.entries[1])


def test_a_part_asks_for_its_password_and_says_whether_it_is_right():
    with pytest.raises(EncryptedFile, match=r"'a\.txt' can only be read with its password"):
        archive(LOCKED).read("a.txt")
    with pytest.raises(WrongPassword):
        archive(LOCKED, "guess").read("a.txt")
    assert archive(LOCKED, "secret").read("a.txt") == b"hello"


def test_a_wrong_password_that_passes_the_quick_check_is_wrong_all_the_same():
    opened = [archive(LOCKED, f"guess {number}") for number in range(700)]
    assert {_problem(each) for each in opened} == {WrongPassword}


def _problem(opened: Archive) -> type[Exception] | None:
    try:
        opened.read("a.txt")
    except Exception as error:
        return type(error)
    return None


def test_encryption_that_is_not_read_says_so():
    strong = bytearray(encrypted(zipped({"a.txt": "x"})))
    strong[strong.index(b"PK\x01\x02") + 8] |= 1 << 6
    with pytest.raises(UnsupportedEncryption):
        archive(bytes(strong), "secret").read("a.txt")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"PK\x05\x06" + bytes(17), b"x" * 100])
def test_what_is_no_archive_is_damaged(data):
    with pytest.raises(DamagedFile):
        archive(data)
