"""The spool: bytes received, checked, and kept where they outlive their call."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING

import pytest

from ingest_svc.operations import Live
from ingest_svc.operations.request import Kept
from ingest_svc.upload import Expected, Spool
from treespan.errors import (
    EmptyFile,
    HashMismatch,
    SizeMismatch,
    StoreUnavailable,
    TooLarge,
    UploadStalled,
)
from treespan.store.records import OperationKind, OperationRecord, Tenant

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from ingest_svc.upload import Spooled

DATA = b"red green blue"
SHA256 = hashlib.sha256(DATA).hexdigest()


def live(*, detached: bool = False) -> Live:
    record = OperationRecord(Tenant("default"), "one", OperationKind.INGEST_FILE, "c", "a")
    return Live(record, Kept(detached=detached))


async def parts(*some: bytes) -> AsyncIterator[bytes]:
    for part in some:
        yield part


def receive(
    spool: Spool, of: Live, *some: bytes, size: int | None = None, sha256: str = ""
) -> Spooled:
    return asyncio.run(spool.received(of, parts(*some), Expected(size, sha256)))


def test_parts_become_one_file_that_is_gone_when_it_is_dropped(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 100, 5)
    one = live()
    file = receive(spool, one, DATA[:4], DATA[4:])
    assert file.path.read_bytes() == DATA
    assert (file.size_bytes, file.sha256) == (len(DATA), SHA256)
    spool.drop("one")
    assert list((tmp_path / "spool").iterdir()) == []


def test_one_that_outlives_its_call_is_whole_and_found_again(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 100, 5)
    attached, detached = live(), live(detached=True)
    receive(spool, attached, DATA)
    assert not spool.is_whole("one")
    file = receive(spool, detached, DATA, sha256=SHA256.upper())
    assert spool.is_whole("one")
    assert asyncio.run(Spool(tmp_path, 100, 5).found("one")) == file


def test_what_came_with_a_request_is_kept_alike(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 100, 5)
    file = asyncio.run(spool.written(live(detached=True), DATA))
    assert (file.path.read_bytes(), file.sha256) == (DATA, SHA256)
    assert spool.is_whole("one")


def test_only_the_whole_files_that_are_named_are_kept(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 100, 5)
    receive(spool, live(detached=True), DATA)
    for name in ("two", "one.part", "three.part"):
        (tmp_path / "spool" / name).write_bytes(DATA)
    spool.keep_only({"one", "three"})
    assert [path.name for path in (tmp_path / "spool").iterdir()] == ["one"]


@pytest.mark.parametrize(
    ("some", "size", "sha256", "problem", "words"),
    [
        ([DATA], len(DATA) + 1, "", SizeMismatch, "says 15, and 14 bytes came"),
        ([DATA], None, "0" * 64, HashMismatch, SHA256),
        ([], None, "", EmptyFile, "no bytes"),
        ([DATA] * 8, None, "", TooLarge, "the most is 100"),
        ([DATA], 101, "", TooLarge, "101 bytes"),
    ],
)
def test_what_is_not_as_it_should_be_is_refused(
    tmp_path: Path,
    some: list[bytes],
    size: int | None,
    sha256: str,
    problem: type[Exception],
    words: str,
) -> None:
    with pytest.raises(problem, match=words):
        receive(Spool(tmp_path, 100, 5), live(), *some, size=size, sha256=sha256)


def test_parts_that_do_not_come_end_the_upload(tmp_path: Path) -> None:
    async def silent() -> AsyncIterator[bytes]:
        yield DATA
        await asyncio.Event().wait()

    with pytest.raises(UploadStalled, match=r"within 0\.05 s"):
        asyncio.run(Spool(tmp_path, 100, 0.05).received(live(), silent(), Expected()))


def test_a_folder_that_is_gone_is_told_in_words(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 100, 5)
    (tmp_path / "spool").rmdir()
    with pytest.raises(StoreUnavailable, match="cannot be kept in the spool folder"):
        receive(spool, live(), DATA)
