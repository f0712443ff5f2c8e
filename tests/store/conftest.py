"""Every test of the contract runs once for each engine, given as the address of a fresh store."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from treespan.store import open_reader, open_writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from treespan.store.interface import Reader, Writer


def sqlite_address(tmp_path: Path) -> str:
    """Return a folder that does not exist yet."""
    return str(tmp_path / "data")


ENGINES: dict[str, Callable[[Path], str]] = {"sqlite": sqlite_address}


@pytest.fixture(params=sorted(ENGINES))
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return ENGINES[request.param](tmp_path)


@pytest.fixture
def writer(address: str) -> Iterator[Writer]:
    with closing(open_writer(address)) as opened:
        yield opened


@pytest.fixture
def reader(address: str) -> Iterator[Reader]:
    """A reader with connections of its own, opened before the writer where a test takes both."""
    with closing(open_reader(address)) as opened:
        yield opened
