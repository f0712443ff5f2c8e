"""Both services as real processes on loopback, for end-to-end and fault tests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

if TYPE_CHECKING:
    from pathlib import Path

SERVICES = {
    "ingest": ("ingest_svc", "treespan.v1.IngestService"),
    "search": ("search_svc", "treespan.v1.SearchService"),
}
_START_S = 120.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Servers:
    """The two services over one data folder; each can be started, stopped and killed alone."""

    data: Path
    settings: dict[str, str] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=lambda: {name: free_port() for name in SERVICES})
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def address(self, name: str) -> str:
        return f"127.0.0.1:{self.ports[name]}"

    def log(self, name: str) -> str:
        return self._log_path(name).read_text(encoding="utf-8")

    def start(self, *names: str) -> None:
        """Start services (all without names) and wait until they are healthy."""
        for name in names or SERVICES:
            self.spawn(name)
        for name in names or SERVICES:
            self.wait_healthy(name)

    def spawn(self, name: str) -> None:
        environment = os.environ | {
            "TREESPAN__STORE__PATH": str(self.data / "store"),
            f"TREESPAN__{name.upper()}__ADDRESS": self.address(name),
            "TREESPAN__LOG__FORMAT": "json",
            **self.settings,
        }
        with self._log_path(name).open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", SERVICES[name][0]],
                env=environment,
                stderr=log,
                cwd=self.data,
            )

    def wait_healthy(self, name: str) -> None:
        end = time.monotonic() + _START_S
        request = health_pb2.HealthCheckRequest(service=SERVICES[name][1])
        while True:
            code = self.processes[name].poll()
            if code is not None:
                raise AssertionError(f"{name} ended with code {code}:\n{self.log(name)}")
            try:
                with grpc.insecure_channel(self.address(name)) as channel:
                    stub = health_pb2_grpc.HealthStub(channel)
                    answer = stub.Check(request, timeout=2)
                if answer.status == health_pb2.HealthCheckResponse.SERVING:
                    return
            except grpc.RpcError:
                pass
            if time.monotonic() > end:
                raise AssertionError(f"{name} is not healthy:\n{self.log(name)}")
            time.sleep(0.05)

    def kill(self, name: str) -> None:
        """End a service as a power cut would: kill -9."""
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def stop(self) -> dict[str, int]:
        """Stop what runs with SIGTERM; return the exit codes."""
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        codes = {name: process.wait(60) for name, process in self.processes.items()}
        self.processes.clear()
        return codes

    def _log_path(self, name: str) -> Path:
        return self.data / f"{name}.log"
