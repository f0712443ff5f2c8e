"""What is done now and then: ends written that could not be, old operations dropped."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Final

from ingest_svc.threads import to_the_end
from treespan.errors import StoreDamaged, StoreUnavailable

if TYPE_CHECKING:
    from ingest_svc.operations.endings import Endings
    from treespan.store.interface import Writer

_EVERY_S: Final = 5.0
_log = logging.getLogger(__name__)


async def sweep(endings: Endings, writer: Writer, kept_s: float) -> None:
    """Sweep until it is cancelled.

    Args:
        endings: Holds the ends that are not written yet.
        writer: The store.
        kept_s: How long operations are kept after their end.
    """
    while True:
        await asyncio.sleep(_EVERY_S)
        try:
            await endings.retry()
            before_us = time.time_ns() // 1000 - int(kept_s * 1_000_000)
            await to_the_end(writer.prune_operations, before_us)
        except (StoreUnavailable, StoreDamaged) as error:
            _log.debug("the store cannot be swept now: %s", error)
