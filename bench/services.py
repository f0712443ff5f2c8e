"""The services as real processes, for measuring: started without pauses, observed from outside."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import grpc

from record import ROOT
from treespan.v1 import context_filter_pb2
from treespan.v1 import search_service_pb2 as pb
from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub
from treespan.v1.search_service_pb2_grpc import SearchServiceStub

sys.path.append(str(ROOT / "tests"))  # for the model of four numbers a vector
from tiny_model import write_tiny_model

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Process", "ingest_stub", "search_request", "search_stub", "write_tiny_model"]

_START_S = 600.0
_NOT_YET = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.FAILED_PRECONDITION)


def search_request(collection: str, vector: NDArray[Any], **fields: Any) -> pb.SearchRequest:
    """Return a request for hits alone, without context."""
    return pb.SearchRequest(
        context_filter=context_filter_pb2.ContextFilter(collection=collection),
        vector=pb.Vector(f32_le=vector.astype("<f4").tobytes()),
        context=pb.ContextOptions(mode=pb.ContextOptions.MODE_NONE),
        **fields,
    )


@dataclass
class Process:
    """A service over a folder; `with` starts it at once and stops it at the end."""

    name: str
    """ingest or search."""
    folder: Path
    """Holds the store and the logs."""
    settings: dict[str, str] = field(default_factory=dict)
    port: int = 0
    started: float = 0.0
    """When the process was started, by `time.perf_counter`."""
    process: subprocess.Popen[bytes] = field(init=False)

    def __enter__(self) -> Self:
        """Start it; it need not answer yet."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        environment = os.environ | {
            "TREESPAN__STORE__PATH": str(self.folder / "store"),
            f"TREESPAN__{self.name.upper()}__ADDRESS": f"127.0.0.1:{self.port}",
            "TREESPAN__LOG__FORMAT": "json",
            **self.settings,
        }
        self.started = time.perf_counter()
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", f"{self.name}_svc"], env=environment, stderr=log
            )
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it, and wait for its end."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)

    @property
    def address(self) -> str:
        """Address of the service."""
        return f"127.0.0.1:{self.port}"

    def said(self, message: str) -> list[dict[str, Any]]:
        """Return the lines of the log with a message."""
        lines = self._log.read_text(encoding="utf-8").splitlines()
        return [line for line in map(json.loads, lines) if line["message"] == message]

    def listening(self) -> None:
        """Wait until it takes connections."""
        end = self.started + _START_S
        while time.perf_counter() < end:
            if self.process.poll() is not None:
                break
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.001)
        sys.exit(f"{self.name} did not start:\n{self._log.read_text(encoding='utf-8')}")

    def first_answer(self, request: pb.SearchRequest) -> pb.SearchResponse:
        """Wait until a search is answered; return the answer."""
        self.listening()
        end = self.started + _START_S
        with grpc.insecure_channel(self.address) as channel:
            stub = SearchServiceStub(channel)
            while True:
                try:
                    answer: pb.SearchResponse = stub.Search(request, timeout=60)
                except grpc.RpcError as error:
                    if error.code() not in _NOT_YET or time.perf_counter() > end:
                        raise
                    time.sleep(0.001)
                else:
                    return answer

    def memory_kb(self) -> dict[str, int]:
        """Return the sums of the kernel's accounting of the process's memory, in kB."""
        rollup = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text(encoding="utf-8")
        pairs = [line.split(":") for line in rollup.splitlines()[1:]]
        return {name: int(value.split()[0]) for name, value in pairs}

    @property
    def _log(self) -> Path:
        return self.folder / f"{self.name}-{self.port}.log"


def search_stub(process: Process) -> SearchServiceStub:
    """Return a stub of the search service, on a connection that stays open."""
    return SearchServiceStub(grpc.insecure_channel(process.address))


def ingest_stub(process: Process) -> IngestServiceStub:
    """Return a stub of the ingest service, on a connection that stays open."""
    return IngestServiceStub(grpc.insecure_channel(process.address))
