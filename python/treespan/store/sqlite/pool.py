"""The connections of a reader: lent to one call at a time, opened as needed.

The file is looked at on every loan: a store that appears later, or another one that takes its place
(restored from a copy), is found without a restart.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from treespan.errors import StoreUnavailable
from treespan.store.sqlite.connection import open_reading, value
from treespan.store.sqlite.schema import check_readable, migrate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from treespan.store.sqlite.file import FileNumber, StoreFile


class ReadPool:
    """Connections that read one store file; safe from many threads."""

    def __init__(self, file: StoreFile) -> None:
        self._store = file
        self._lock = threading.Lock()
        self._file: FileNumber = None
        self._idle: list[apsw.Connection] = []
        self._closed = False

    @contextmanager
    def connection(self) -> Iterator[apsw.Connection]:
        """Lend a connection to the store, or to an empty one where none was created yet."""
        loan = self._take()
        try:
            yield loan.connection
        except apsw.Error:
            # What went wrong may have to do with the connection: the next call gets another.
            loan = _Loan(loan.connection, None)
            raise
        finally:
            self._give_back(loan)

    def close(self) -> None:
        """Close all connections; those on loan when they come back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        _close(idle)

    def _take(self) -> _Loan:
        stale: list[apsw.Connection] = []
        with self._lock:
            if self._closed:
                raise StoreUnavailable("the store is closed")
            file = self._store.look()
            if file != self._file:
                stale, self._idle = self._idle, []
                self._file = file
            elif self._idle:
                return _Loan(self._idle.pop(), file)
        _close(stale)
        return self._open(file)

    def _open(self, file: FileNumber) -> _Loan:
        if file is None:
            return _Loan(_empty_store(), None)
        connection = open_reading(self._store.path)
        try:
            exists = check_readable(connection)
        except BaseException:
            connection.close()
            if self._store.number() == file:
                raise
            return self._open(self._store.look())
        # Where another file came into its place meanwhile, the log read may be that other one's.
        if self._store.number() != file:
            connection.close()
            return self._open(self._store.look())
        if not exists:
            connection.close()
            connection, file = _empty_store(), None
        self._store.require_store(exists=exists)
        return _Loan(connection, file)

    def _give_back(self, loan: _Loan) -> None:
        with self._lock:
            if loan.file is not None and loan.file == self._file and not self._closed:
                self._idle.append(loan.connection)
                return
        loan.connection.close()


class ChangeWatch:
    """Sees commits of other connections; safe from many threads."""

    def __init__(self, file: StoreFile) -> None:
        self._store = file
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._closed = False
        self._file: FileNumber = None
        self._seen: tuple[FileNumber, int] | None = None

    def changed(self) -> bool:
        """Return whether the file or its version differs from the last call's."""
        with self._lock:
            if self._closed:
                raise StoreUnavailable("the store is closed")
            # Where nothing can be seen now, what is seen next is a change.
            before, self._seen = self._seen, None
            self._seen = self._state()
            return self._seen != before

    def close(self) -> None:
        """Close the connection for good."""
        with self._lock:
            self._closed = True
            self._forget()

    def _state(self) -> tuple[FileNumber, int]:
        file = self._store.look()
        if file != self._file:
            self._forget()
        if file is None:
            return None, 0
        if self._connection is None:
            self._connection, self._file = open_reading(self._store.path), file
        # Never inside a transaction: there the number stands still.
        version = value(self._connection, "PRAGMA data_version")
        return (file, version) if self._store.number() == file else self._state()

    def _forget(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._file = None, None


@dataclass(frozen=True, slots=True)
class _Loan:
    """A connection on loan."""

    connection: apsw.Connection
    file: FileNumber
    """The file it is open on; None for one that nobody is to have after this loan."""


def _empty_store() -> apsw.Connection:
    """Return a store with nothing in it: one not created yet then needs no code of its own."""
    connection = apsw.Connection(":memory:")
    migrate(connection)
    connection.execute("DELETE FROM meta")
    return connection


def _close(connections: list[apsw.Connection]) -> None:
    for connection in connections:
        connection.close()
