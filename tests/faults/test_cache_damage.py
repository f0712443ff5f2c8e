"""Whatever happens to the cache of segments, every document is found, exactly as before."""

from __future__ import annotations

import json
import shutil
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from faults.callers import calling, until, vector
from faults.wholeness import AT, SEAL_ROWS, check_files, named_segments, settled
from servers import Servers
from treespan._core import VectorIndex
from treespan.store import open_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faults.callers import Caller

    Damage = Callable[[Path], None]

OTHER = "others"
_ELSEWHERE = vector(3, 0, 1, 0.5)


@dataclass(frozen=True)
class Sealed:
    """Services with sealed segments of two collections, and an earlier state of the cache."""

    servers: Servers
    earlier: Path


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory, settings: dict[str, str]) -> Iterator[Sealed]:
    folder = tmp_path_factory.mktemp("cache-damage")
    # Whatever has a graph is searched by it, so that a damaged one would be used.
    servers = Servers(folder, settings | {"TREESPAN__SEARCH__PROPOSAL_COST": "0"})
    try:
        servers.start()
        with calling(servers) as caller, calling(servers, collection=OTHER) as other:
            caller.create()
            other.create()
            for number in range(12):
                caller.put(f"a{number}", 1)
                other.put(f"b{number}", 1)
            settled(caller)
            settled(other)
            shutil.copytree(servers.store / "cache", folder / "earlier")
            for number in range(6):
                caller.put(f"a{number}", 2)
            caller.delete("a7")
            settled(caller)
        yield Sealed(servers, folder / "earlier")
    finally:
        servers.stop()


def picture(caller: Caller) -> Any:
    """What can be seen of a collection from outside."""
    newest = caller.info().store_seq
    return (
        caller.everything(AT, newest),
        caller.everything(_ELSEWHERE),
        [chunk.SerializeToString(deterministic=True) for chunk in caller.find(AT, 10).chunks],
    )


def pictures(servers: Servers) -> Any:
    with calling(servers) as caller, calling(servers, collection=OTHER) as other:
        return picture(caller), picture(other)


def is_whole(servers: Servers) -> bool:
    """Whether the manifest names segments that hold all rows but the last few."""
    with calling(servers) as caller, calling(servers, collection=OTHER) as other:
        for held in (caller.held(), other.held()):
            if held.rows - held.sealed_rows >= SEAL_ROWS or not held.segments:
                return False
        segments = caller.held().segments + other.held().segments
    # One of which no row is left may be named until the next is sealed.
    return len(set(named_segments(servers.store / "cache"))) >= segments


def warnings(servers: Servers, since: int) -> list[str]:
    lines = servers.log_lines("search", since)
    return [line["message"] for line in lines if line["level"] in ("warning", "error")]


# Damages: each takes the folder of the cache and the earlier state of it.


def first_segment(cache: Path) -> Path:
    return cache / f"{named_segments(cache)[0][0]}.segment"


def flip_a_byte(cache: Path, _: Path) -> None:
    path = first_segment(cache)
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0x10
    path.write_bytes(data)


def cut_a_segment(cache: Path, _: Path) -> None:
    path = first_segment(cache)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty_a_segment(cache: Path, _: Path) -> None:
    first_segment(cache).write_bytes(b"")


def lose_a_segment(cache: Path, _: Path) -> None:
    first_segment(cache).unlink()


def put_another_file_there(cache: Path, _: Path) -> None:
    path = first_segment(cache)
    path.write_bytes(b"This is something else. " * (path.stat().st_size // 24))


def put_a_folder_there(cache: Path, _: Path) -> None:
    path = first_segment(cache)
    path.unlink()
    path.mkdir()


def write_garbage(cache: Path, _: Path) -> None:
    (cache / "manifest.json").write_bytes(b"\xff\xfe{ not json")


def write_half_a_manifest(cache: Path, _: Path) -> None:
    path = cache / "manifest.json"
    path.write_bytes(path.read_bytes()[:-30])


def write_nothing(cache: Path, _: Path) -> None:
    (cache / "manifest.json").write_bytes(b"")


def write_another_shape(cache: Path, _: Path) -> None:
    (cache / "manifest.json").write_text('{"format": 1, "epoch": 7, "seq": [], "collections": {}}')


def lose_the_manifest(cache: Path, _: Path) -> None:
    (cache / "manifest.json").unlink()


def lose_the_folder(cache: Path, _: Path) -> None:
    shutil.rmtree(cache)


def change(cache: Path, changed: Callable[[dict[str, Any]], object]) -> None:
    """Write the manifest anew with something changed."""
    manifest = json.loads((cache / "manifest.json").read_bytes())
    changed(manifest)
    (cache / "manifest.json").write_text(json.dumps(manifest))


def say_another_epoch(cache: Path, _: Path) -> None:
    change(cache, lambda manifest: manifest.update(epoch="of another store"))


def say_another_format(cache: Path, _: Path) -> None:
    change(cache, lambda manifest: manifest.update(format=99))


def say_another_model(cache: Path, _: Path) -> None:
    change(cache, lambda manifest: manifest["collections"][0].update(embedding_fingerprint="b"))


def say_another_dimension(cache: Path, _: Path) -> None:
    change(cache, lambda manifest: manifest["collections"][0].update(dimension=8))


def say_a_size_below_nothing(cache: Path, _: Path) -> None:
    change(cache, lambda manifest: manifest["collections"][0]["segments"][0].update(size_bytes=-1))


def say_a_hash_that_is_none(cache: Path, _: Path) -> None:
    change(cache, lambda manifest: manifest["collections"][0]["segments"][0].update(hash="none"))


def name_a_file_elsewhere(cache: Path, earlier: Path) -> None:
    name = f"../../{earlier.name}/{named_segments(earlier)[0][0]}"
    change(cache, lambda manifest: manifest["collections"][0]["segments"][0].update(name=name))


def name_a_segment_twice(cache: Path, _: Path) -> None:
    def twice(manifest: dict[str, Any]) -> None:
        segments = manifest["collections"][0]["segments"]
        segments.append(segments[0])

    change(cache, twice)


def swap_the_collections(cache: Path, _: Path) -> None:
    def swap(manifest: dict[str, Any]) -> None:
        first, second = manifest["collections"]
        first["segments"], second["segments"] = second["segments"], first["segments"]

    change(cache, swap)


def put_back_an_earlier_cache(cache: Path, earlier: Path) -> None:
    shutil.rmtree(cache)
    shutil.copytree(earlier, cache)


def put_a_segment_of_another_dimension(cache: Path, _: Path) -> None:
    """A sound file, with its right hash and size in the manifest."""
    index = VectorIndex(8, seal_rows=2)
    row = b"\0\0\x80?" * 8
    index.add(1, bytes(4) + b"\x01\0\0\0", 2 * row)
    assert index.seal(str(cache), "other")
    [(name, size_bytes, digest, _)] = index.sealed
    segment = {"name": name, "size_bytes": size_bytes, "hash": digest}
    change(cache, lambda manifest: manifest["collections"][0].update(segments=[segment]))


DAMAGES: dict[Any, str] = {
    flip_a_byte: "a cached segment cannot be used",
    cut_a_segment: "a cached segment cannot be used",
    empty_a_segment: "a cached segment cannot be used",
    lose_a_segment: "a cached segment cannot be used",
    put_another_file_there: "a cached segment cannot be used",
    put_a_folder_there: "a cached segment cannot be used",
    put_a_segment_of_another_dimension: "its dimension is 8",
    name_a_file_elsewhere: "a cached segment cannot be used",
    name_a_segment_twice: "",
    say_a_size_below_nothing: "a cached segment cannot be used",
    say_a_hash_that_is_none: "a cached segment cannot be used",
    write_garbage: "it is built anew: it is damaged",
    write_half_a_manifest: "it is built anew: it is damaged",
    write_nothing: "it is built anew: it is damaged",
    write_another_shape: "it is built anew: it is damaged",
    say_another_epoch: "the cache is of another store",
    say_another_format: "it has format 99",
    say_another_model: "of another model",
    say_another_dimension: "of another model",
    swap_the_collections: "",
    put_back_an_earlier_cache: "",
    lose_the_manifest: "",
    lose_the_folder: "",
}
"""What the log says of each; nothing where that is an ordinary start."""


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damage_between_two_runs_changes_no_answer_and_is_mended(
    sealed: Sealed, damage: Callable[[Path, Path], None]
) -> None:
    servers = sealed.servers
    until(lambda: is_whole(servers), "the cache is whole before")
    before = pictures(servers)
    servers.stop("search")
    damage(servers.store / "cache", sealed.earlier)
    since = servers.log_length("search")
    servers.start("search")
    assert pictures(servers) == before
    said = DAMAGES[damage]
    told = warnings(servers, since)
    assert any(said in line for line in told) if said else told == []
    until(lambda: is_whole(servers), "the cache is whole again")
    check_files(servers)
    assert pictures(servers) == before
    assert "Traceback" not in servers.log("search")


def test_start_from_a_whole_cache_takes_nothing_from_the_store(sealed: Sealed) -> None:
    """So that the tests above do try the cache."""
    servers = sealed.servers
    until(lambda: is_whole(servers), "the cache is whole before")
    before = pictures(servers)
    servers.stop("search")
    since = servers.log_length("search")
    servers.start("search")
    [line] = [
        line for line in servers.log_lines("search", since) if line["message"] == "loaded the store"
    ]
    assert line["from_cache"] > line["documents"] / 2
    assert pictures(servers) == before


@pytest.mark.parametrize(
    "damage", [lose_the_folder, lose_a_segment, write_garbage], ids=lambda damage: damage.__name__
)
def test_damage_while_search_runs_changes_no_answer_and_is_mended(
    sealed: Sealed, damage: Callable[[Path, Path], None]
) -> None:
    servers = sealed.servers
    until(lambda: is_whole(servers), "the cache is whole before")
    before = pictures(servers)
    damage(servers.store / "cache", sealed.earlier)
    assert pictures(servers) == before
    with calling(servers) as caller:
        for number in range(12):
            caller.put(f"new{number}", 1)
        settled(caller)
        until(lambda: named_segments_or_none(servers), "the manifest is written anew")
        check_files(servers)
        for number in range(12):
            caller.delete(f"new{number}")
    assert pictures(servers) == before
    servers.kill("search")
    servers.start("search")
    assert pictures(servers) == before
    assert "Traceback" not in servers.log("search")


def test_manifest_that_is_spoilt_while_search_runs_is_written_anew(sealed: Sealed) -> None:
    servers = sealed.servers
    until(lambda: is_whole(servers), "the cache is whole before")
    for damage in (write_garbage, say_another_epoch, lose_the_manifest):
        since = servers.log_length("search")
        damage(servers.store / "cache", sealed.earlier)
        until(lambda: named_segments_or_none(servers) and is_whole(servers), "it is back")
        until(lambda: is_ours(servers), "it is of this store")
        assert len(warnings(servers, since)) <= 1
    check_files(servers)


def is_ours(servers: Servers) -> bool:
    reader = open_reader(servers.store)
    manifest = json.loads((servers.store / "cache" / "manifest.json").read_bytes())
    same: bool = manifest["epoch"] == reader.epoch()
    reader.close()
    return same


def named_segments_or_none(servers: Servers) -> list[tuple[str, int, str]]:
    try:
        return named_segments(servers.store / "cache")
    except ValueError:
        return []


def test_cache_that_cannot_be_written_is_read_and_new_rows_are_found_without_it(
    servers: Servers,
) -> None:
    servers.plain_users.add("search")
    servers.start()
    with calling(servers) as caller:
        caller.create()
        for number in range(12):
            caller.put(f"a{number}", 1)
        settled(caller)
        servers.stop("search")
        cache = servers.store / "cache"
        _set_mode(cache, 0o555, 0o444)
        before = {path: path.read_bytes() for path in cache.iterdir()}

        since = servers.log_length("search")
        servers.start("search")
        found = caller.everything(AT)
        assert {node_id for node_id, _ in found} == caller.embedded()
        for number in range(12, 24):
            caller.put(f"a{number}", 1)
        found = caller.everything(AT, caller.seqs["a23"])
        assert {node_id for node_id, _ in found} == caller.embedded()
        until(lambda: warnings(servers, since), "the log says it")
        threading.Event().wait(2)
        [told] = warnings(servers, since)
        assert "cannot be written" in told
        assert {path: path.read_bytes() for path in cache.iterdir()} == before

        servers.stop("search")
        _set_mode(cache, 0o755, 0o644)
        servers.start("search")
        assert caller.everything(AT) == found
        settled(caller)
        check_files(servers)
    assert "Traceback" not in servers.log("search")


def _set_mode(folder: Path, of_folder: int, of_files: int) -> None:
    for path in folder.iterdir():
        path.chmod(of_files)
    folder.chmod(of_folder)


def test_file_in_the_place_of_the_cache_is_said_and_left_alone(servers: Servers) -> None:
    servers.store.mkdir()
    (servers.store / "cache").write_text("not a folder")
    servers.start()
    with calling(servers) as caller:
        caller.create()
        for number in range(8):
            caller.put(f"a{number}", 1)
        settled(caller)
        found = caller.everything(AT)
        assert {node_id for node_id, _ in found} == caller.embedded()
    [told] = warnings(servers, 0)
    assert "cache cannot be written; segments go to" in told
    private = Path(told.partition("go to ")[2].partition(":")[0])
    assert private.is_dir()
    assert servers.stop("search") == {"search": 0}
    assert not private.exists()
    assert (servers.store / "cache").read_text() == "not a folder"
