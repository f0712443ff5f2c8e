"""Load on both services while something happens to them: writes, deletions, searches."""

from __future__ import annotations

import itertools
import random
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import grpc

from faults.callers import calling, equals, vector
from faults.versions import SECTIONS, versions_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faults.callers import Caller
    from servers import Servers

WRITERS = 2
ARTIFACTS = 12
"""Each belongs to one writer, so that its changes have an order."""

_DELETED_OF_TEN = 2
_AWAY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
_GONE = (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION)
"""An artifact that is asked for by name was just deleted, or is on its way in again."""

State: TypeAlias = int | None
"""A version of an artifact; None where it is deleted, or was never there."""


@dataclass
class Ledger:
    """What may be found of every artifact afterwards."""

    possible: dict[str, list[State]] = field(default_factory=dict)
    """The last state that was acknowledged, and those that were sent since without an answer."""
    acknowledged: int = 0
    newest: int = 0
    """The last version that was sent of any artifact; no two artifacts have one in common."""
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def next_version(self) -> int:
        self.newest = next(self._numbers)
        return self.newest

    def sent(self, artifact: str, state: State) -> None:
        self.possible.setdefault(artifact, [None]).append(state)

    def answered(self, artifact: str) -> None:
        self.possible[artifact] = self.possible[artifact][-1:]
        self.acknowledged += 1

    def found(self, artifact: str, state: State) -> None:
        """Take what was found as the state that it is in from now on."""
        possible = self.possible.get(artifact, [None])
        assert state in possible, f"{artifact}: found {state}; {possible} were possible"
        self.possible[artifact] = [state]


@dataclass
class Load:
    """Threads that write and search until they are told to stop."""

    servers: Servers
    ledger: Ledger
    seed: int
    sections: int = SECTIONS
    refused: list[grpc.StatusCode] = field(default_factory=list)
    """Codes of writes that were not acknowledged."""
    answers: int = 0
    faults: list[BaseException] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)

    def _guarded(self, run: object, *arguments: object) -> None:
        try:
            run(*arguments)  # type: ignore[operator]
        except BaseException as error:
            self.faults.append(error)

    def _write(self, writer: int) -> None:
        order = random.Random(f"{self.seed} {writer}")
        with calling(self.servers) as caller:
            while not self._stop.is_set():
                artifact = f"a{order.randrange(writer, ARTIFACTS, WRITERS)}"
                state = (
                    None if order.randrange(10) < _DELETED_OF_TEN else self.ledger.next_version()
                )
                self.ledger.sent(artifact, state)
                try:
                    self._change(caller, artifact, state)
                except grpc.RpcError as error:
                    self.refused.append(error.code())
                    # A server that is away refuses at once.
                    self._stop.wait(0.02)
                    continue
                self.ledger.answered(artifact)

    def _change(self, caller: Caller, artifact: str, state: State) -> None:
        if state is None:
            caller.delete(artifact)
        else:
            caller.put(artifact, state, self.sections)

    def _search(self, seed: str) -> None:
        order = random.Random(seed)
        with calling(self.servers) as caller:
            while not self._stop.is_set():
                try:
                    self._ask(caller, order)
                except grpc.RpcError as error:
                    if error.code() not in (*_AWAY, *_GONE):
                        raise
                    self._stop.wait(0.02)

    def _ask(self, caller: Caller, order: random.Random) -> None:
        at = vector(*(order.random() + 0.01 for _ in range(4)))
        kind = order.randrange(3)
        if kind == 0:
            versions_of(caller.find(at).chunks)
        elif kind == 1:
            name = f"a{order.randrange(ARTIFACTS)}"
            assert set(versions_of(caller.find(at, artifacts=[name]).chunks)) <= {name}
        else:
            version = max(1, self.ledger.newest - order.randrange(ARTIFACTS))
            found = versions_of(caller.find(at, where=equals("version", version)).chunks)
            assert set(found.values()) <= {version}
        self.answers += 1


@contextmanager
def under_load(
    servers: Servers, ledger: Ledger, seed: int, searchers: int = 1, sections: int = SECTIONS
) -> Iterator[Load]:
    """Write and search while the block runs; raise afterwards what a thread found to be wrong."""
    load = Load(servers, ledger, seed, sections)
    threads = [
        threading.Thread(target=load._guarded, args=(load._write, writer))
        for writer in range(WRITERS)
    ] + [
        threading.Thread(target=load._guarded, args=(load._search, f"{seed} search {number}"))
        for number in range(searchers)
    ]
    for thread in threads:
        thread.start()
    try:
        yield load
    finally:
        load._stop.set()
        for thread in threads:
            thread.join()
    if load.faults:
        raise load.faults[0]
