"""Ids of operations: later ones sort after earlier ones, whatever the clock does."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from typing import TYPE_CHECKING, Final

from treespan.errors import InvalidField, OperationNotFound

if TYPE_CHECKING:
    from treespan.store.interface import Reader
    from treespan.store.records import Tenant

_TIME_DIGITS: Final = 14
_RANDOM_BYTES: Final = 5
_ID: Final = re.compile(rf"[0-9a-f]{{{_TIME_DIGITS + 2 * _RANDOM_BYTES}}}")


class OperationIds:
    """Makes ids: the microseconds since 1970, then digits that nobody can guess."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._last: dict[Tenant, int] = {}

    async def new(self, tenant: Tenant) -> str:
        """Return an id that sorts after all that the tenant has."""
        if tenant not in self._last:
            newest = await asyncio.to_thread(self._reader.operations, tenant, "", (), "", 1)
            found = int(newest[0].operation[:_TIME_DIGITS], 16) if newest else 0
            self._last[tenant] = max(found, self._last.get(tenant, 0))
        self._last[tenant] = max(time.time_ns() // 1000, self._last[tenant] + 1)
        return f"{self._last[tenant]:0{_TIME_DIGITS}x}{secrets.token_hex(_RANDOM_BYTES)}"


def check_operation_id(value: str) -> None:
    """Check the id of an operation in a request.

    Raises:
        InvalidField: it is empty.
        OperationNotFound: no operation has such an id.
    """
    if not value:
        raise InvalidField("operation", "is empty; give the id of an operation")
    if not _ID.fullmatch(value):
        raise OperationNotFound(value)
