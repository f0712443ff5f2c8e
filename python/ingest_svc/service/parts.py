"""What the calls of the service work with; put together in `__main__`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import grpc

    from ingest_svc.catalogue import Catalogue
    from ingest_svc.fetch import FetchRules
    from ingest_svc.operations import Operations
    from ingest_svc.operations.runner import Runner
    from ingest_svc.operations.views import Views
    from ingest_svc.readers.source import ReadOptions
    from ingest_svc.upload import Spool
    from treespan.embed import Embedder
    from treespan.store.interface import Writer

    Context: TypeAlias = grpc.aio.ServicerContext[object, object]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one service."""

    writer: Writer
    embedder: Embedder
    operations: Operations
    catalogue: Catalogue
    runner: Runner
    views: Views
    spool: Spool
    rules: FetchRules
    defaults: ReadOptions
    """How files are read unless a request says."""
