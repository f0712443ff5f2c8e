"""The difficult files of the formats served, through the real service; nothing dies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import nasty
from servers import Servers
from tiny_model import write_tiny_model

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(os.environ.get("TREESPAN_DATA", "")) / "nasty"
LEAST_SHARE = 0.85


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    """Services of their own, with a model that costs nothing: reading is what is tried here."""
    model = write_tiny_model(tmp_path / "model", max_tokens=512)
    running = Servers(tmp_path, {"TREESPAN__MODELS__EMBEDDING": str(model)})
    running.start()
    yield running
    assert running.stop() == {"ingest": 0, "search": 0}


@pytest.mark.skipif(
    not (DATA / "MANIFEST.tsv").is_file(), reason="TREESPAN_DATA names no folder with nasty/"
)
@pytest.mark.timeout(1200)
def test_most_expectations_hold_and_both_services_live_on(
    servers: Servers,
) -> None:
    processes = dict(servers.processes)
    scores = nasty.run(servers.address("ingest"), DATA, nasty.SERVED)
    told = nasty.report(scores)
    for format_ in nasty.SERVED:
        score = scores[format_]
        assert score.total, told
        assert score.met >= LEAST_SHARE * score.total, told
    assert all(process.poll() is None for process in processes.values()), told
    servers.wait_healthy("ingest")
    servers.wait_healthy("search")
