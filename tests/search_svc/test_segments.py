"""The cache folder: one builder, a manifest that is whole or the one before, nothing left over."""

from __future__ import annotations

import logging
import shutil
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from search_svc.segments import SegmentCache
from treespan.manifest import CollectionSegments, Manifest, SegmentFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def cache(folder: Path) -> Iterator[SegmentCache]:
    with closing(SegmentCache(folder)) as opened:
        yield opened


def manifest(*names: str) -> Manifest:
    segments = [SegmentFile(name, 10, "0" * 32) for name in names]
    return Manifest("epoch", 7, [CollectionSegments(1, 4, "model", segments)])


def test_a_folder_without_a_manifest_has_none(cache: SegmentCache) -> None:
    assert cache.read() is None
    assert not cache.changed()


def test_what_is_written_is_read_by_another_process(cache: SegmentCache, folder: Path) -> None:
    with closing(SegmentCache(folder)) as other:
        other.read()
        cache.write(manifest("a", "b"))
        assert other.changed()
        assert other.read() == manifest("a", "b")
        assert not other.changed()
    assert not cache.changed()


def test_only_one_process_builds_and_another_takes_over(cache: SegmentCache, folder: Path) -> None:
    with closing(SegmentCache(folder)) as other:
        assert cache.claim()
        assert cache.claim()
        assert not other.claim()
        cache.close()
        assert other.claim()


def test_a_builder_whose_folder_was_deleted_makes_it_anew(
    cache: SegmentCache, folder: Path
) -> None:
    assert cache.claim()
    shutil.rmtree(folder)
    assert cache.claim()
    with closing(SegmentCache(folder)) as other:
        assert not other.claim()


def test_files_that_a_manifest_does_not_name_go(cache: SegmentCache, folder: Path) -> None:
    for name in ("a.segment", "old.segment", "torn.segment.tmp", "notes.txt"):
        (folder / name).write_bytes(b"x")
    cache.write(manifest("a"))
    left = {path.name for path in folder.iterdir()}
    assert left == {"a.segment", "notes.txt", "manifest.json", "builder.lock"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "damaged"),
        (b'{"epoch": "e", "seq": 1', "damaged"),
        (b'{"epoch": 5, "seq": 1, "collections": []}', "damaged"),
        (b"\xff\xfe", "damaged"),
        (b'{"epoch": "e", "seq": 1, "collections": [], "format": 99}', "format 99"),
    ],
)
def test_a_manifest_that_cannot_be_used_counts_as_none_and_is_said(
    cache: SegmentCache,
    folder: Path,
    content: bytes,
    said: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (folder / "manifest.json").write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert cache.read() is None
    assert said in caplog.text


def test_a_manifest_that_cannot_be_written_leaves_the_one_before(
    cache: SegmentCache, folder: Path
) -> None:
    cache.write(manifest("a"))
    (folder / "manifest.json.tmp").mkdir()
    with pytest.raises(OSError, match="manifest"):
        cache.write(manifest("b"))
    assert cache.read() == manifest("a")


def test_a_folder_that_cannot_be_made_is_replaced_by_a_private_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = SegmentCache(tmp_path / "file" / "cache")
    private = cache.folder
    assert cache.claim()
    cache.write(manifest())
    cache.close()
    assert not private.exists()
