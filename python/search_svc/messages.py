"""Parts of replies that are not written by the native core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.duration_pb2 import Duration

from treespan.v1 import chunk_pb2, ingest_service_pb2
from treespan.v1 import search_service_pb2 as pb

if TYPE_CHECKING:
    from search_svc.answer import Answer, Times
    from search_svc.index import Hits
    from treespan.store.records import SearchableDocument


def document_head(document: SearchableDocument) -> bytes:
    """Return what every chunk of a document says alike: artifact, document and metadata."""
    metadata = ingest_service_pb2.Artifact.FromString(document.metadata).metadata
    stated = ingest_service_pb2.Artifact.FromString(document.file_metadata).file_metadata
    return chunk_pb2.Chunk(
        artifact=document.artifact,
        document=chunk_pb2.Document(
            artifact=document.artifact,
            collection=document.collection,
            file_name=document.file_name,
            title=document.title,
            media_type=document.media_type,
            page_count=document.page_count,
            source_uri=document.source_uri,
            file_metadata=stated,
        ),
        metadata=metadata,
    ).SerializeToString(deterministic=True)


def search_response(answer: Answer) -> bytes:
    """Return a SearchResponse: the chunks as they are, the other fields behind them."""
    rest = pb.SearchResponse(
        applied_seq=answer.applied_seq,
        timings=_timings(answer.times),
        token_count=answer.tokens,
    )
    return answer.chunks + rest.SerializeToString()


def expand_response(answer: Answer, missing: list[str]) -> bytes:
    """Return an ExpandResponse."""
    rest = pb.ExpandResponse(applied_seq=answer.applied_seq, missing_node_ids=missing)
    return answer.chunks + rest.SerializeToString()


def explain_response(answer: Answer, documents: int, model: str) -> bytes:
    """Return an ExplainResponse."""
    plan = recall_plan(answer.hits, documents, model)
    rest = pb.ExplainResponse(plan=plan)
    return _field(pb.ExplainResponse.RESPONSE_FIELD_NUMBER, search_response(answer)) + (
        rest.SerializeToString()
    )


def batch_result(response: bytes) -> bytes:
    """Return one answered search of a BatchSearchResponse."""
    result = _field(pb.BatchSearchResponse.Result.RESPONSE_FIELD_NUMBER, response)
    return _field(pb.BatchSearchResponse.RESULTS_FIELD_NUMBER, result)


def batch_failure(code: int, reason: str, message: str) -> bytes:
    """Return one failed search of a BatchSearchResponse."""
    failure = pb.Failure(code=code, reason=reason, message=message)
    result = pb.BatchSearchResponse.Result(failure=failure)
    return pb.BatchSearchResponse(results=[result]).SerializeToString()


def recall_plan(hits: Hits, documents: int, model: str) -> pb.RecallPlan:
    """Return how hits were found."""
    methods = pb.RecallPlan.Method
    if hits.graph_segments:
        method = methods.METHOD_MIXED if hits.exact_segments else methods.METHOD_GRAPH
    else:
        method = methods.METHOD_EXACT if hits.exact_segments else methods.METHOD_UNSPECIFIED
    return pb.RecallPlan(
        method=method,
        rows=hits.rows,
        allowed_rows=hits.allowed_rows,
        compared_rows=hits.compared_rows,
        documents=documents,
        below_threshold=hits.below_threshold,
        embedding_model=model,
    )


def duration(seconds: float) -> Duration:
    """Return a time as a message."""
    message = Duration()
    message.FromNanoseconds(int(seconds * 1e9))
    return message


def _timings(times: Times) -> pb.Timings:
    return pb.Timings(
        embed=duration(times.embed_s),
        recall=duration(times.recall_s),
        context=duration(times.context_s),
        total=duration(times.total_s),
    )


def _field(number: int, body: bytes) -> bytes:
    """Return a length-delimited field on the wire."""
    return _varint(number << 3 | 2) + _varint(len(body)) + body


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
