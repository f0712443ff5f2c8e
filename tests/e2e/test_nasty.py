"""The difficult files of the formats served, through the real service: most expectations hold, and nothing dies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import nasty
import pytest

from treespan.v1 import search_service_pb2 as search_pb

if TYPE_CHECKING:
    from servers import Servers

    from treespan.v1.search_service_pb2_grpc import SearchServiceStub

DATA = Path(os.environ.get("TREESPAN_DATA", "")) / "nasty"
LEAST_SHARE = 0.85


@pytest.mark.skipif(
    not (DATA / "MANIFEST.tsv").is_file(), reason="TREESPAN_DATA names no folder with nasty/"
)
@pytest.mark.timeout(1200)
def test_most_expectations_hold_and_both_services_live_on(
    servers: Servers, search: SearchServiceStub
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
    assert search.GetServerInfo(search_pb.GetServerInfoRequest(), timeout=10).applied_seq
