"""The SQLite store whose file goes, or is replaced, while processes have it open."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from store.samples import ACME, collection, content, new_artifact
from treespan.errors import StoreUnavailable
from treespan.store import open_reader, open_writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from treespan.store.interface import Writer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def writer(folder: Path) -> Iterator[Writer]:
    with closing(open_writer(folder)) as opened:
        opened.create_collection(collection())
        opened.commit_artifact(new_artifact("a", content(1)))
        yield opened


def remove_file(folder: Path) -> None:
    (folder / "store.db").unlink()


def remove_folder(folder: Path) -> None:
    shutil.rmtree(folder)


def replace_file(folder: Path) -> None:
    with closing(open_writer(folder.parent / "other")) as other:
        other.create_collection(collection("other"))
    (folder.parent / "other" / "store.db").replace(folder / "store.db")


def replace_folder(folder: Path) -> None:
    folder.rename(folder.parent / "away")
    with closing(open_writer(folder)) as other:
        other.create_collection(collection("other"))


GONE = pytest.mark.parametrize(
    "happens", [remove_file, remove_folder, replace_file, replace_folder]
)


@GONE
def test_writer_acknowledges_nothing_in_a_file_that_is_not_the_stores_any_more(
    writer: Writer, folder: Path, happens: Callable[[Path], None]
) -> None:
    happens(folder)
    calls: list[Callable[[], object]] = [
        lambda: writer.commit_artifact(new_artifact("b", content(2))),
        lambda: writer.delete_artifact(ACME, "papers", "a"),
        lambda: writer.create_collection(collection("more")),
        writer.abandon_unfinished,
        writer.last_seq,
        writer.visible,
        writer.changed,
    ]
    for call in calls:
        with pytest.raises(StoreUnavailable, match=r"removed or replaced .* restart"):
            call()


def test_commit_during_which_the_file_goes_is_not_acknowledged(
    writer: Writer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock is read in the middle of a transaction."""

    def now_us() -> int:
        remove_file(folder)
        return 1

    monkeypatch.setattr("treespan.store.sqlite.writer._now_us", now_us)
    with pytest.raises(StoreUnavailable, match="removed or replaced"):
        writer.commit_artifact(new_artifact("b", content(2)))


def test_writer_that_lost_its_file_leaves_the_log_of_another_alone(
    writer: Writer, folder: Path
) -> None:
    folder.rename(folder.parent / "away")
    with closing(open_writer(folder)) as other:
        other.create_collection(collection("other"))
        log = folder / "store.db-wal"
        before = log.read_bytes()
        assert before
        writer.close()
        assert log.read_bytes() == before
        with closing(open_reader(folder)) as reader:
            assert [found.name for found in reader.all_collections()] == ["other"]


@pytest.mark.parametrize("happens", [remove_file, remove_folder])
def test_reader_that_has_seen_a_store_does_not_take_its_absence_for_an_empty_one(
    writer: Writer, folder: Path, happens: Callable[[Path], None]
) -> None:
    with closing(open_reader(folder)) as reader:
        assert reader.last_seq() == 2
        assert reader.changed()
        happens(folder)
        for call in (reader.last_seq, reader.epoch, reader.visible, reader.changed):
            with pytest.raises(StoreUnavailable, match="removed while this process runs"):
                call()


def test_file_without_a_store_in_it_counts_as_gone(writer: Writer, folder: Path) -> None:
    with closing(open_reader(folder)) as reader:
        assert reader.last_seq() == 2
        remove_folder(folder)
        folder.mkdir()
        (folder / "store.db").write_bytes(b"")
        with pytest.raises(StoreUnavailable, match="removed while this process runs"):
            reader.last_seq()


def test_reader_goes_on_with_the_store_that_is_there_again(writer: Writer, folder: Path) -> None:
    with closing(open_reader(folder)) as reader:
        epoch = reader.epoch()
        assert [reader.changed() for _ in range(2)] == [True, False]
        remove_folder(folder)
        with pytest.raises(StoreUnavailable):
            reader.changed()
        with closing(open_writer(folder)) as other:
            other.create_collection(collection("other"))
            assert [reader.changed() for _ in range(2)] == [True, False]
            assert reader.epoch() == other.epoch() != epoch
            assert [found.name for found in reader.all_collections()] == ["other"]


def test_same_file_that_comes_back_is_a_change(writer: Writer, folder: Path) -> None:
    with closing(open_reader(folder)) as reader:
        epoch = reader.epoch()
        assert [reader.changed() for _ in range(2)] == [True, False]
        folder.rename(folder.parent / "away")
        with pytest.raises(StoreUnavailable):
            reader.changed()
        (folder.parent / "away").rename(folder)
        assert [reader.changed() for _ in range(2)] == [True, False]
        assert reader.epoch() == epoch
        assert writer.commit_artifact(new_artifact("b", content(2))) == 3
        assert reader.last_seq() == 3
