"""Both services as real processes on loopback, for end-to-end and fault tests."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import grpc
import psutil
from grpc_health.v1 import health_pb2, health_pb2_grpc

if TYPE_CHECKING:
    from pathlib import Path

SERVICES = {
    "ingest": ("ingest_svc", "treespan.v1.IngestService"),
    "search": ("search_svc", "treespan.v1.SearchService"),
}
_START_S = 120.0

_OBEY_PERMISSIONS = """
import ctypes, os, sys
drop_capability, dac_override, dac_read_search = 24, 1, 2
for capability in (dac_override, dac_read_search):
    ctypes.CDLL(None).prctl(drop_capability, capability, 0, 0, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Gives up what lets root read and write everything, then runs Python with the arguments."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Servers:
    """The services over one data folder; each can be started, stopped and killed alone.

    A name is that of a service, or has a number behind it for one more process of the same service:
    "search", "search-2".
    """

    data: Path
    settings: dict[str, str] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=lambda: {name: free_port() for name in SERVICES})
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    wrappers: dict[str, list[str]] = field(default_factory=dict)
    """By name, a module and its arguments that start the service's module in their turn."""
    plain_users: set[str] = field(default_factory=set)
    """Names of services that file permissions hold for, even where the tests run as root."""

    @property
    def store(self) -> Path:
        return self.data / "store"

    def address(self, name: str) -> str:
        return f"127.0.0.1:{self.ports.setdefault(name, free_port())}"

    def log(self, name: str) -> str:
        return self._log_path(name).read_text(encoding="utf-8")

    def log_lines(self, name: str, since: int = 0) -> list[dict[str, Any]]:
        """The lines of the log after the first `since`."""
        lines = self.log(name).splitlines()[since:]
        return [json.loads(line) for line in lines if line.startswith("{")]

    def log_length(self, name: str) -> int:
        """A `since` for what is logged from now on."""
        path = self._log_path(name)
        return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0

    def start(self, *names: str) -> None:
        """Start services (both without names) and wait until they are healthy."""
        for name in names or SERVICES:
            self.spawn(name)
        for name in names or SERVICES:
            self.wait_healthy(name)

    def spawn(self, name: str) -> None:
        kind = _kind(name)
        environment = os.environ | {
            "TREESPAN__STORE__PATH": str(self.store),
            f"TREESPAN__{kind.upper()}__ADDRESS": self.address(name),
            "TREESPAN__LOG__FORMAT": "json",
            **self.settings,
        }
        with self._log_path(name).open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [*self._python(name), "-m", *self.wrappers.get(name, []), SERVICES[kind][0]],
                env=environment,
                stderr=log,
                cwd=self.data,
            )

    def wait_healthy(self, name: str) -> None:
        end = time.monotonic() + _START_S
        while self.health(name) != "SERVING":
            code = self.processes[name].poll()
            if code is not None:
                raise AssertionError(f"{name} ended with code {code}:\n{self.log(name)}")
            if time.monotonic() > end:
                raise AssertionError(f"{name} is not healthy:\n{self.log(name)}")
            time.sleep(0.05)

    def health(self, name: str) -> str:
        """What the service says of itself; "UNREACHABLE" where it does not answer."""
        request = health_pb2.HealthCheckRequest(service=SERVICES[_kind(name)][1])
        try:
            with grpc.insecure_channel(self.address(name)) as channel:
                answer = health_pb2_grpc.HealthStub(channel).Check(request, timeout=2)
        except grpc.RpcError:
            return "UNREACHABLE"
        status: str = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
        return status

    def alive(self, name: str) -> bool:
        return self.processes[name].poll() is None

    def kill(self, *names: str) -> None:
        """End services as a power cut would: kill -9, all at one moment."""
        processes = [self.processes.pop(name) for name in names]
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()

    def stop(self, *names: str) -> dict[str, int]:
        """Stop services (all that run, without names) with SIGTERM; return the exit codes."""
        processes = {name: self.processes.pop(name) for name in names or tuple(self.processes)}
        for process in processes.values():
            process.send_signal(signal.SIGTERM)
        return {name: process.wait(60) for name, process in processes.items()}

    def readers(self) -> list[psutil.Process]:
        """The reader processes of the ingest service."""
        return psutil.Process(self.processes["ingest"].pid).children()

    def limit_file_size(self, name: str, most_bytes: int | None) -> None:
        """Let no file that a service writes grow beyond this; None takes the limit away."""
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        soft = hard if most_bytes is None else most_bytes
        resource.prlimit(self.processes[name].pid, resource.RLIMIT_FSIZE, (soft, hard))

    def _python(self, name: str) -> list[str]:
        return [sys.executable, *(["-c", _OBEY_PERMISSIONS] if name in self.plain_users else [])]

    def _log_path(self, name: str) -> Path:
        return self.data / f"{name}.log"


def _kind(name: str) -> str:
    return name.partition("-")[0]
