"""Services with a tiny model that seal segments all the time, for tests that disturb them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from faults.callers import calling
from faults.wholeness import SEAL_ROWS
from servers import Servers
from tiny_model import write_tiny_model

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faults.callers import Caller


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    model = write_tiny_model(tmp_path_factory.mktemp("model"), max_tokens=512)
    return {
        "TREESPAN__MODELS__EMBEDDING": str(model),
        "TREESPAN__SEARCH__SEAL_ROWS": str(SEAL_ROWS),
    }


@pytest.fixture
def servers(tmp_path: Path, settings: dict[str, str]) -> Iterator[Servers]:
    """Nothing runs yet; what runs at the end is stopped."""
    own = Servers(tmp_path, dict(settings))
    yield own
    own.stop()


@pytest.fixture
def running(servers: Servers) -> Servers:
    """Both services, with an empty collection."""
    servers.start()
    with calling(servers) as caller:
        caller.create()
    return servers


@pytest.fixture
def caller(running: Servers) -> Iterator[Caller]:
    with calling(running) as opened:
        yield opened
