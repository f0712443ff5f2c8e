from __future__ import annotations

import io
import stat
import zipfile
import zlib

import pytest
from made_archives import encrypted, renamed, zipped

from ingest_svc.readers import read_file
from ingest_svc.readers.archives.names import entry_names, is_system_file
from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.limits import ReaderLimits
from treespan.errors import (
    DamagedFile,
    EmptyFile,
    EncryptedFile,
    TooLarge,
    UnsupportedFile,
    WrongPassword,
)


def names(data: bytes, **options) -> list[str]:
    parsed = read_file(data, "a.zip", **options)
    return [block.text for block in parsed.blocks if block.kind is BlockKind.FILE]


def test_the_files_of_an_archive_are_read_in_its_order():
    parsed = read_file(zipped({"b.md": "# B\n\nbeta", "a/a.txt": "alpha"}), "a.zip")
    assert [(block.kind.name, block.text) for block in parsed.blocks] == [
        ("FILE", "b.md"),
        ("HEADING", "B"),
        ("PARAGRAPH", "beta"),
        ("FILE", "a/a.txt"),
        ("PARAGRAPH", "alpha"),
    ]
    assert parsed.counts == {"entries": 2, "entries_read": 2, "skipped": 0}
    assert parsed.media_type == "application/zip"


def test_what_systems_leave_behind_is_passed_over_and_what_is_not_read_is_named():
    parsed = read_file(
        zipped(
            {
                "docs/": "",
                "a.txt": "alpha",
                "__MACOSX/._a.txt": "x",
                ".DS_Store": "x",
                "docs/Thumbs.db": "x",
                ".git/config": "x",
                "~$a.docx": "x",
                "run.exe": b"MZ" + bytes(100),
            }
        ),
        "a.zip",
    )
    assert [block.text for block in parsed.blocks] == ["a.txt", "alpha", "run.exe"]
    assert [warning.message[:22] for warning in parsed.warnings] == ["run.exe: UNSUPPORTED: "]
    assert parsed.counts["entries_read"] == 1


@pytest.mark.parametrize("name", ["a/./b.txt", "../a.txt", "a..txt", "C:\\docs\\a.txt", "/a.txt"])
def test_a_path_that_only_looks_odd_is_a_persons_file(name):
    assert not is_system_file(name)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd.txt", "/etc/passwd.txt", "C:\\windows\\a.txt", "a/../../b.txt"]
)
def test_paths_that_lead_elsewhere_are_names_and_nothing_else(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parsed = read_file(zipped({name: "harmless"}), "a.zip")
    assert [block.text for block in parsed.blocks] == [name, "harmless"]
    assert list(tmp_path.iterdir()) == []


def test_links_are_no_files():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "alpha")
        link = zipfile.ZipInfo("link.txt")
        link.create_system = 3
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    assert names(out.getvalue()) == ["a.txt"]


@pytest.mark.parametrize(
    ("name", "charset"),
    [
        ("报告/会议通知.txt", "gb18030"),
        ("テスト資料.txt", "cp932"),
        ("報告書.txt", "big5"),
        ("Отчёт за год.txt", "cp866"),
        ("Größe.txt", "cp437"),
        ("résumé d'été.txt", "cp437"),
        ("naïve 报告.txt", "utf-8"),
    ],
)
def test_names_are_read_in_the_charset_that_they_are_written_in(name, charset):
    raw = name.encode(charset)
    plain = "x" * (len(raw) - 4) + ".txt"
    assert names(renamed(zipped({plain: "alpha"}), {plain: raw})) == [name]


@pytest.mark.parametrize(("belongs", "shown"), [(True, "żółw.txt"), (False, "Größe.txt")])
def test_a_name_in_unicode_beside_the_plain_one_counts_where_it_belongs_to_it(belongs, shown):
    raw = "Größe.txt".encode("cp437")
    checksum = zlib.crc32(raw) if belongs else 0
    value = b"\x01" + checksum.to_bytes(4, "little") + "żółw.txt".encode()
    entry = zipfile.ZipInfo("abcde.txt")
    entry.extra = b"\x75\x70" + len(value).to_bytes(2, "little") + value
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(entry, "alpha")
    archive_bytes = renamed(out.getvalue(), {"abcde.txt": raw})
    assert entry_names(zipfile.ZipFile(io.BytesIO(archive_bytes)).filelist) == [shown]


def test_one_encrypted_file_is_named_and_the_others_are_read():
    locked = _with_locked_second()
    parsed = read_file(locked, "a.zip")
    assert [block.text for block in parsed.blocks] == ["open.txt", "alpha", "locked.txt"]
    assert "locked.txt: ENCRYPTED: " in parsed.warnings[0].message
    assert (parsed.counts["entries"], parsed.counts["entries_read"]) == (2, 1)


def _with_locked_second() -> bytes:
    changed = bytearray(zipped({"open.txt": "alpha", "locked.txt": "beta"}))
    local = changed.index(b"PK\x03\x04", 4)
    central = changed.index(b"PK\x01\x02", changed.index(b"PK\x01\x02") + 4)
    changed[local + 6] |= 1
    changed[central + 8] |= 1
    return bytes(changed)


def test_an_archive_all_of_which_is_encrypted_asks_for_the_password():
    locked = encrypted(zipped({"a.txt": "alpha"}))
    with pytest.raises(EncryptedFile, match=r"a\.txt: .*only be read with its password"):
        read_file(locked, "a.zip")
    with pytest.raises(WrongPassword):
        read_file(locked, "a.zip", password="guess")


def test_an_archive_in_an_archive_is_read_and_its_files_are_one_level_deeper():
    parsed = read_file(zipped({"in.zip": zipped({"a.txt": "alpha"})}), "a.zip")
    files = [(b.level, b.text) for b in parsed.blocks if b.kind is BlockKind.FILE]
    assert files == [(1, "in.zip"), (2, "a.txt")]
    assert parsed.blocks[-1].text == "alpha"


def test_archives_in_archives_end_at_the_depth_allowed():
    data = b"deep"
    name = "a.txt"
    for _ in range(8):
        data, name = zipped({name: data}), "in.zip"
    with pytest.raises(TooLarge, match=r"readers\.max_archive_depth is 5"):
        read_file(data, "a.zip")


def test_a_bomb_is_refused_and_what_stands_before_it_is_read():
    bomb = bytes(80 << 20)
    with pytest.raises(TooLarge, match=r"zeros: .*readers\.max_unpack_ratio is 100"):
        read_file(zipped({"zeros": bomb}), "a.zip")
    parsed = read_file(zipped({"a.txt": "alpha", "zeros": bomb, "b.txt": "beta"}), "a.zip")
    assert [block.text for block in parsed.blocks] == ["a.txt", "alpha", "zeros", "b.txt"]
    assert [w.message.split(": ")[1] for w in parsed.warnings] == ["TOO_LARGE", "TOO_LARGE"]


def test_bombs_in_several_archives_count_together():
    inner = zipped({"a.txt": "x" * 600})
    limits = ReaderLimits(max_unpacked_bytes=2_000)
    parsed = read_file(zipped({f"{n}.zip": inner for n in range(9)}), "a.zip", limits=limits)
    assert parsed.counts["entries_read"] == 2
    assert "readers.max_unpacked_bytes is 2000" in parsed.warnings[-1].message


def test_files_in_archives_in_an_archive_count_together():
    inner = zipped({f"{n}.txt": "x" for n in range(4)})
    with pytest.raises(TooLarge, match=r"readers\.max_archive_entries is 10"):
        read_file(
            zipped({f"{n}.zip": inner for n in range(3)}),
            "a.zip",
            limits=ReaderLimits(max_archive_entries=10),
        )


def test_nothing_read_is_never_nothing_said():
    with pytest.raises(EmptyFile, match="holds no file to read; it has 0 entries"):
        read_file(zipped({"docs/": ""}), "a.zip")
    with pytest.raises(EmptyFile, match=r"no file inside can be read: a\.txt: "):
        read_file(zipped({"a.txt": "", "b.txt": " "}), "a.zip")
    with pytest.raises(UnsupportedFile, match=r"run\.exe: the file is a program"):
        read_file(zipped({"a.txt": "", "run.exe": b"MZ" + bytes(100)}), "a.zip")


def test_a_damaged_file_costs_itself_alone():
    whole = bytearray(zipped({"a.txt": "alpha " * 50, "b.txt": "beta"}))
    whole[40] ^= 0xFF
    parsed = read_file(bytes(whole), "a.zip")
    assert [block.text for block in parsed.blocks] == ["a.txt", "b.txt", "beta"]
    assert "a.txt: DAMAGED: " in parsed.warnings[0].message


def test_a_cut_archive_is_damaged():
    with pytest.raises(DamagedFile):
        read_file(zipped({"a.txt": "alpha" * 100})[:-30], "a.zip")


def test_progress_is_told_by_files():
    told = []
    read_file(
        zipped({"a.txt": "a", "b.txt": "b"}), "a.zip", progress=lambda *step: told.append(step)
    )
    assert told == [(1, 2), (2, 2)]
