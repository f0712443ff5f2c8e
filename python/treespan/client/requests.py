"""Requests made from plain Python values: the part that both clients share."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, Unpack

from google.protobuf.field_mask_pb2 import FieldMask

from treespan.client.filter_message import filter_message
from treespan.client.metadata import metadata_values
from treespan.errors import InvalidField
from treespan.v1.context_filter_pb2 import ContextFilter
from treespan.v1.ingest_service_pb2 import (
    Artifact,
    BatchDeleteArtifactsRequest,
    Collection,
    ListArtifactsRequest,
    UpdateArtifactRequest,
    UpdateCollectionRequest,
)
from treespan.v1.search_service_pb2 import ContextOptions, ExpandRequest, SearchRequest, Vector

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from treespan.client.metadata import MetadataInput
    from treespan.client.where import WhereInput

Query: TypeAlias = "str | Sequence[float] | NDArray[np.float32]"
"""A question or words, or a vector made by the collection's embedding model."""

Mode: TypeAlias = Literal["none", "tree", "sentence-window", "linear", "parent"]


class ContextKeywords(TypedDict, total=False):
    """Keywords about context; meaning, ranges and defaults as in `treespan.v1.ContextOptions`."""

    mode: Mode
    token_budget: int | None
    answer_token_budget: int | None
    gaps: bool
    merge: bool
    sentences: int | None
    nodes: bool
    trace: bool


class SearchKeywords(ContextKeywords, total=False):
    """Keywords of a search; meaning, ranges and defaults as in `treespan.v1.SearchRequest`."""

    artifacts: Sequence[str]
    where: WhereInput | None
    limit: int | None
    score_threshold: float | None
    validate: bool
    min_seq: int


class ExpandKeywords(ContextKeywords, total=False):
    """Keywords of an expansion; meaning, ranges and defaults as in `treespan.v1.ExpandRequest`."""

    min_seq: int


def search_request(
    query: Query, collection: str = "default", **keywords: Unpack[SearchKeywords]
) -> SearchRequest:
    """Return a request of Search, BatchSearch or Explain.

    Raises:
        InvalidField: the mode is not known, the vector is not one row of numbers, or the filter
            is larger than the server takes.
        TypeError: a keyword is not known.
        ValueError: a number does not fit its field, such as a negative limit.
    """
    _refuse_unknown("search_request", keywords.keys() - SearchKeywords.__annotations__.keys())
    request = SearchRequest(
        context_filter=_context_filter(
            collection, keywords.get("artifacts", ()), keywords.get("where")
        ),
        limit=keywords.get("limit"),
        score_threshold=keywords.get("score_threshold"),
        context=_context(keywords),
        validate=keywords.get("validate"),
        min_seq=keywords.get("min_seq", 0),
    )
    if isinstance(query, str):
        request.text = query
    else:
        request.vector.CopyFrom(_vector(query))
    return request


def expand_request(
    node_ids: Iterable[str], collection: str, **keywords: Unpack[ExpandKeywords]
) -> ExpandRequest:
    """Return a request of Expand; raises as `search_request` does."""
    _refuse_unknown("expand", keywords.keys() - ExpandKeywords.__annotations__.keys())
    return ExpandRequest(
        collection=collection,
        node_ids=_names(node_ids),
        context=_context(keywords),
        min_seq=keywords.get("min_seq", 0),
    )


def collection_update(
    collection: str, display_name: str | None, chunk_tokens: int | None
) -> UpdateCollectionRequest:
    """Return a request that changes what is not None."""
    given = {"display_name": display_name, "chunk_tokens": chunk_tokens}
    return UpdateCollectionRequest(
        collection=Collection(
            collection=collection, display_name=display_name or "", chunk_tokens=chunk_tokens or 0
        ),
        update_mask=FieldMask(paths=[name for name, value in given.items() if value is not None]),
    )


def list_request(collection: str, where: WhereInput | None) -> ListArtifactsRequest:
    """Return a request of ListArtifacts for the first page."""
    return ListArtifactsRequest(
        collection=collection, metadata_filter=None if where is None else filter_message(where)
    )


def delete_request(
    collection: str,
    names: Iterable[str] | None,
    where: WhereInput | None,
    *,
    validate_only: bool,
    missing_ok: bool,
) -> BatchDeleteArtifactsRequest:
    """Return a request of BatchDeleteArtifacts.

    Raises:
        InvalidField: neither names nor a filter are given, or the names are none.
    """
    listed = _names(names or ())
    if names is None and where is None:
        raise InvalidField("context_filter", "nothing says what to delete; give names or where")
    # With a filter beside it, an empty list would mean everything that the filter lets through.
    if names is not None and not listed:
        raise InvalidField("context_filter.artifacts", "names are given, but none is in the list")
    return BatchDeleteArtifactsRequest(
        context_filter=_context_filter(collection, listed, where),
        validate_only=validate_only,
        allow_missing=missing_ok,
    )


def artifact_update(
    artifact: str,
    collection: str,
    texts: Mapping[str, str | None],
    metadata: MetadataInput | None,
    remove: Iterable[str],
    *,
    replace: bool,
) -> UpdateArtifactRequest:
    """Return a request that changes what is given; `texts` are `file_name` and `summary`.

    Raises:
        InvalidField: nothing is given, or a key is to be both set and removed.
    """
    given = metadata_values(metadata or {})
    removed = _names(remove)
    both = sorted(given.keys() & set(removed))
    if both:
        raise InvalidField("remove", f"{both[0]!r} is to be set as well; do one of them")
    if replace and metadata is None:
        raise InvalidField("metadata", "replace=True needs the metadata to put in place")
    if replace and removed:
        raise InvalidField("remove", "replace=True removes every key that is not given")
    paths = [name for name, text in texts.items() if text is not None]
    paths += ["metadata"] if replace else [f"metadata.{key}" for key in (*given, *removed)]
    if not paths:
        raise InvalidField(
            "update_mask", "nothing to change; give file_name, summary, metadata or remove"
        )
    return UpdateArtifactRequest(
        artifact=Artifact(
            artifact=artifact,
            collection=collection,
            file_name=texts.get("file_name") or "",
            summary=texts.get("summary") or "",
            metadata=given,
        ),
        update_mask=FieldMask(paths=paths),
    )


def _context_filter(
    collection: str, artifacts: Iterable[str], where: WhereInput | None
) -> ContextFilter:
    return ContextFilter(
        collection=collection,
        artifacts=_names(artifacts),
        metadata_filter=None if where is None else filter_message(where),
    )


def _context(keywords: ContextKeywords) -> ContextOptions:
    return ContextOptions(
        mode=_mode(keywords.get("mode")),
        token_budget=keywords.get("token_budget"),
        answer_token_budget=keywords.get("answer_token_budget"),
        gaps=keywords.get("gaps", False),
        merge=keywords.get("merge", False),
        sentences=keywords.get("sentences"),
        nodes=keywords.get("nodes", False),
        trace=keywords.get("trace", False),
    )


def _mode(name: str | None) -> ContextOptions.Mode.ValueType:
    if name is None:
        return ContextOptions.MODE_UNSPECIFIED
    modes = {
        mode.removeprefix("MODE_").replace("_", "-").lower(): number
        for mode, number in ContextOptions.Mode.items()
        if number != ContextOptions.MODE_UNSPECIFIED
    }
    if name not in modes:
        raise InvalidField("context.mode", f"{name!r} is none of {', '.join(modes)}")
    return modes[name]


def _vector(query: Sequence[float] | NDArray[np.float32]) -> Vector:
    dimensions = getattr(query, "ndim", 1)
    if dimensions != 1:
        raise InvalidField("vector", f"it has {dimensions} dimensions; give one row of numbers")
    try:
        row = array("f", query)
    except TypeError as error:
        raise InvalidField("vector", f"{error}; give one row of numbers") from error
    if sys.byteorder == "big":
        row.byteswap()
    return Vector(f32_le=row.tobytes())


def _names(names: Iterable[str]) -> list[str]:
    # A lone string is iterable too, and would become one name a character.
    return [names] if isinstance(names, str) else list(names)


def _refuse_unknown(function: str, unknown: set[str]) -> None:
    if unknown:
        raise TypeError(f"{function}() got an unexpected keyword argument {min(unknown)!r}")
