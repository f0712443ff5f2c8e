"""The answer to a query, between the pipeline and the reply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from search_svc.index import Hits


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds by stage."""

    embed_s: float = 0.0
    recall_s: float = 0.0
    context_s: float = 0.0
    total_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a query."""

    chunks: bytes
    """Field `chunks` of the reply, serialised."""
    tokens: int
    hits: Hits
    applied_seq: int
    times: Times
