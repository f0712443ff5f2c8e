"""Requests checked and turned into queries: every default decided, every value within its range."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treespan.errors import InvalidField, InvalidVector
from treespan.filters import All, Condition, Operator
from treespan.identity import check_name, parse_node_id
from treespan.rpc.filters import filter_of
from treespan.v1 import chunk_pb2, context_filter_pb2
from treespan.v1 import search_service_pb2 as pb

if TYPE_CHECKING:
    from treespan.filters import Filter
    from treespan.store.records import Tenant

__all__ = ["Context", "NodesQuery", "Query", "nodes_query", "query"]

DEFAULT_LIMIT = 10
MOST_HITS = 10_000
MOST_ARTIFACTS = 10_000
MOST_NODES = 1_000
MOST_SEARCHES = 64
_MOST_CHARACTERS = 32_768
_MOST_BUDGET = 1_000_000
_MOST_ANSWER_BUDGET = 10_000_000
_MOST_SENTENCES = 100
_DEFAULT_SENTENCES = 3

assert chunk_pb2  # the messages of chunks are part of every reply


@dataclass(frozen=True, slots=True)
class Context:
    """How context grows; as `treespan.v1.ContextOptions`, every default decided."""

    mode: int
    token_budget: int
    answer_token_budget: int | None = None
    gaps: bool = False
    merge: bool = False
    sentences: int = _DEFAULT_SENTENCES
    nodes: bool = False
    trace: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A search."""

    tenant: Tenant
    collection: str
    artifacts: tuple[str, ...]
    """Artifacts to look at; empty for all."""
    where: Filter | None
    """What artifacts and nodes must be like, the artifacts named among it; None for anything."""
    text: str
    """What to search for; empty where `vector` is given."""
    vector: bytes
    """f32 little-endian; empty where `text` is given."""
    limit: int
    threshold: float | None
    context: Context
    validate: bool
    min_seq: int


@dataclass(frozen=True, slots=True)
class NodesQuery:
    """A request for the context of known nodes."""

    tenant: Tenant
    collection: str
    nodes: tuple[tuple[str, int], ...]
    """(id of the document's version, position)."""
    context: Context
    min_seq: int


def query(request: pb.SearchRequest, tenant: Tenant, default_budget: int) -> Query:
    """Return the query of a request.

    Raises:
        InvalidArgument: a field's value is not allowed; it is named.
    """
    where = request.context_filter
    check_name("context_filter.collection", where.collection)
    if len(where.artifacts) > MOST_ARTIFACTS:
        raise InvalidField(
            "context_filter.artifacts",
            f"names {len(where.artifacts):,} artifacts; the most is {MOST_ARTIFACTS:,}",
        )
    for artifact in where.artifacts:
        check_name("context_filter.artifacts", artifact)
    return Query(
        tenant=tenant,
        collection=where.collection,
        artifacts=tuple(where.artifacts),
        where=_where(where),
        text=_text(request),
        vector=request.vector.f32_le,
        limit=_within("limit", request.limit, 1, MOST_HITS)
        if request.HasField("limit")
        else DEFAULT_LIMIT,
        threshold=_threshold(request),
        context=_context(request.context, default_budget),
        validate=request.validate if request.HasField("validate") else True,
        min_seq=request.min_seq,
    )


def nodes_query(request: pb.ExpandRequest, tenant: Tenant, default_budget: int) -> NodesQuery:
    """Return the query of an Expand request.

    Raises:
        InvalidArgument: a field's value is not allowed; it is named.
    """
    check_name("collection", request.collection)
    if not 1 <= len(request.node_ids) <= MOST_NODES:
        raise InvalidField(
            "node_ids", f"has {len(request.node_ids):,} ids; 1 to {MOST_NODES:,} are allowed"
        )
    return NodesQuery(
        tenant=tenant,
        collection=request.collection,
        nodes=tuple(parse_node_id("node_ids", node_id) for node_id in request.node_ids),
        context=_context(request.context, default_budget),
        min_seq=request.min_seq,
    )


def _where(context: context_filter_pb2.ContextFilter) -> Filter | None:
    if not context.HasField("metadata_filter"):
        return None
    where = filter_of("context_filter.metadata_filter", context.metadata_filter)
    if not context.artifacts:
        return where
    return All((Condition("artifact", Operator.IN, tuple(context.artifacts)), where))


def _text(request: pb.SearchRequest) -> str:
    kind = request.WhichOneof("query")
    if kind is None:
        raise InvalidField("query", "is missing; set text or vector")
    if kind == "vector":
        if not request.vector.f32_le or len(request.vector.f32_le) % 4:
            raise InvalidVector(
                "vector.f32_le",
                f"has {len(request.vector.f32_le):,} bytes; it holds 4 for each element",
            )
        return ""
    text = request.text
    if len(text) > _MOST_CHARACTERS:
        raise InvalidField(
            "text", f"has {len(text):,} characters; the most is {_MOST_CHARACTERS:,}"
        )
    if not text.strip():
        raise InvalidField("text", "is empty; give a question or words to search for")
    return text


def _threshold(request: pb.SearchRequest) -> float | None:
    if not request.HasField("score_threshold"):
        return None
    value = request.score_threshold
    if math.isnan(value) or not 0 <= value <= 1:
        raise InvalidField("score_threshold", f"is {value}; it lies between 0 and 1")
    return value


def _context(options: pb.ContextOptions, default_budget: int) -> Context:
    modes = pb.ContextOptions.Mode
    if options.mode not in modes.values():
        raise InvalidField(
            "context.mode", f"is {options.mode}; known are {', '.join(modes.keys())}"
        )
    return Context(
        mode=options.mode or modes.Value("MODE_TREE"),
        token_budget=_within("context.token_budget", options.token_budget, 1, _MOST_BUDGET)
        if options.HasField("token_budget")
        else default_budget,
        answer_token_budget=_within(
            "context.answer_token_budget", options.answer_token_budget, 1, _MOST_ANSWER_BUDGET
        )
        if options.HasField("answer_token_budget")
        else None,
        gaps=options.gaps,
        merge=options.merge,
        sentences=_within("context.sentences", options.sentences, 0, _MOST_SENTENCES)
        if options.HasField("sentences")
        else _DEFAULT_SENTENCES,
        nodes=options.nodes,
        trace=options.trace,
    )


def _within(field: str, value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise InvalidField(field, f"is {value:,}; it lies between {least:,} and {most:,}")
    return value
