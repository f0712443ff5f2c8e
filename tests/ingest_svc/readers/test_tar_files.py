from __future__ import annotations

import bz2
import gzip
import lzma

import pytest
from made_archives import tarred

from ingest_svc.readers import read_file
from ingest_svc.readers.limits import ReaderLimits
from treespan.errors import DamagedFile, EmptyFile, TooLarge

PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
TAR = tarred({"docs/a.md": b"# A\n\nalpha", "docs/._a.md": b"x", "b.txt": b"beta"})


def texts(data: bytes, name: str, **options) -> list[str]:
    return [block.text for block in read_file(data, name, **options).blocks]


def test_the_files_of_a_tar_archive_are_read():
    parsed = read_file(TAR, "a.tar")
    assert [block.text for block in parsed.blocks] == ["docs/a.md", "A", "alpha", "b.txt", "beta"]
    assert parsed.counts == {"entries": 3, "entries_read": 2, "skipped": 0}


@pytest.mark.parametrize("ending", PACKERS)
def test_a_packed_tar_archive_is_one_archive(ending):
    found = texts(PACKERS[ending](TAR), f"a.tar.{ending}")
    assert found == ["docs/a.md", "A", "alpha", "b.txt", "beta"]


@pytest.mark.parametrize("ending", PACKERS)
def test_a_packed_file_is_read_by_its_name_without_the_ending(ending):
    assert texts(PACKERS[ending](b"# A\n\nalpha"), f"notes.md.{ending}") == [
        "notes.md",
        "A",
        "alpha",
    ]


@pytest.mark.parametrize("ending", PACKERS)
def test_streams_behind_each_other_are_one_text(ending):
    packed = PACKERS[ending](b"first ") + PACKERS[ending](b"second")
    assert texts(packed, f"a.txt.{ending}") == ["a.txt", "first second"]


@pytest.mark.parametrize("ending", PACKERS)
def test_a_packed_bomb_is_refused_while_it_is_unpacked(ending):
    with pytest.raises(TooLarge, match="max_unpack_ratio"):
        read_file(PACKERS[ending](bytes(80 << 20)), f"a.txt.{ending}")


@pytest.mark.parametrize("ending", PACKERS)
def test_packed_data_that_is_cut_is_damaged(ending):
    with pytest.raises(DamagedFile):
        read_file(PACKERS[ending](b"alpha " * 1_000)[:-9], f"a.txt.{ending}")


def test_zeros_behind_a_packed_file_are_none_of_it():
    assert texts(gzip.compress(b"alpha") + bytes(512), "a.txt.gz") == ["a.txt", "alpha"]


def test_text_of_exactly_a_step_is_whole():
    text = b"x " * (1 << 17)  # 256 KiB, as much as is unpacked at once
    assert len(texts(gzip.compress(text, 9), "a.txt.gz")[1]) == (1 << 18) - 1


def test_a_packed_file_of_nothing_is_empty():
    with pytest.raises(EmptyFile):
        read_file(gzip.compress(b""), "a.txt.gz")


def test_a_tar_file_that_is_cut_costs_its_last_file_alone():
    archive = tarred({"a.txt": b"alpha", "b.txt": b"beta " * 1_000})
    parsed = read_file(archive[:3_000], "a.tar")
    assert [block.text for block in parsed.blocks[:2]] == ["a.txt", "alpha"]
    assert [warning.kind for warning in parsed.warnings] == ["DAMAGED", "SKIPPED_FILE"]
    assert "b.txt: DAMAGED: " in parsed.warnings[1].message


def test_a_sparse_file_that_claims_terabytes_is_refused_while_it_is_read():
    # An old GNU sparse header: no data, and a real size of 1 TiB.
    header = bytearray(tarred({"a.txt": b""})[:512])
    header[156:157] = b"S"
    header[257:265] = b"ustar  \0"
    header[386:398] = b"00000000000\0"
    header[398:410] = b"00000000000\0"
    header[482:483] = b"\0"
    header[483:495] = b"\x80" + (1 << 40).to_bytes(11, "big")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    with pytest.raises((TooLarge, DamagedFile)):
        read_file(bytes(header) + bytes(1024), "a.tar", limits=ReaderLimits())


def test_too_many_files_are_refused():
    with pytest.raises(TooLarge, match="max_archive_entries is 2"):
        read_file(TAR, "a.tar", limits=ReaderLimits(max_archive_entries=2))
