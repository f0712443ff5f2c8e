"""The sealer: failures are said once and made good, and nobody waits for it at the end."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import closing
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from search_svc import sealer
from search_svc.sealer import Sealer
from search_svc.segments import SegmentCache
from treespan.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class OneCollection:
    """An index of one collection, which is sealed as it is told."""

    def __init__(self) -> None:
        self.settling = threading.Lock()
        self.whole, self.epoch = True, "epoch"
        self.seal: Callable[[], bool] = lambda: False
        vectors = SimpleNamespace(
            seal=lambda folder, name: self.seal(), sealed_rows=0, segments=0, sealed=[]
        )
        self._collection = SimpleNamespace(vectors=vectors)

    def collections(self) -> list[Any]:
        return [self._collection]

    def manifest(self, cache: SegmentCache, seq: int) -> Manifest:
        return Manifest(self.epoch, seq, [])


@pytest.fixture
def index() -> OneCollection:
    return OneCollection()


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[SegmentCache]:
    with closing(SegmentCache(tmp_path / "cache")) as opened:
        yield opened


@pytest.fixture
def running(
    index: OneCollection, cache: SegmentCache, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Sealer]:
    monkeypatch.setattr(sealer, "_LOOK_S", 0.01)
    monkeypatch.setattr(sealer, "_FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(sealer, "_LONGEST_PAUSE_S", 0.01)
    started = Sealer(index, cache, lambda: 7)  # type: ignore[arg-type]
    started.start()
    yield started
    started.stop()


def test_a_failure_is_said_once_and_made_good(
    index: OneCollection,
    cache: SegmentCache,
    running: Sealer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    tries, sealed = [], threading.Event()

    def seal() -> bool:
        tries.append(1)
        if len(tries) < 5:
            raise OSError(28, "No space left on device")
        if len(tries) == 5:
            return True
        sealed.set()
        return False

    index.seal = seal
    assert sealed.wait(20)
    said = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert ["No space left" in one.message for one in said] == [True]
    assert cache.read() == Manifest("epoch", 7, [])


def test_the_end_does_not_wait_for_a_segment_that_is_being_built(
    index: OneCollection, running: Sealer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealer, "_END_S", 0.05)
    building, built = threading.Event(), threading.Event()

    def seal() -> bool:
        building.set()
        return not built.wait(20)

    index.seal = seal
    assert building.wait(20)
    start = time.monotonic()
    running.stop()
    assert time.monotonic() - start < 10
    built.set()
