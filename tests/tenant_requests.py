"""Requests of every rpc, by a caller who knows what another tenant has, or only guesses."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message

from calls import upload
from treespan.client.metadata import metadata_values
from treespan.v1 import context_filter_pb2 as filter_pb
from treespan.v1 import ingest_service_pb2 as pb
from treespan.v1 import search_service_pb2 as search_pb

SHARED = "archive"
"""A collection that both have, with an artifact "doc" each."""
WORD, NO_WORD = "obsidian", "nonesuch"
"""Begins every word that only the owner has; stands for it where nobody has anything."""
AMOUNT, NUMBER = 73519, 918273645
"""In a cell, and in the metadata, of the owner."""

Requests: TypeAlias = "list[Message | list[Message]]"
"""Calls of one rpc; a list within is a stream."""


@dataclass(frozen=True)
class Known:
    """What the other tenant knows of the owner, or guesses."""

    word: str
    node_ids: tuple[str, ...]
    vector: bytes
    seq: int
    operations: tuple[str, ...] = ()
    """Ids of the owner's ingests."""


# Filters that name what the owner has.


def condition(key: str, operator: str, value: object = None) -> filter_pb.MetadataFilter:
    number = filter_pb.MetadataCondition.Operator.Value(f"OPERATOR_{operator}")
    wanted = filter_pb.MetadataCondition(key=key, operator=number)
    if value is not None:
        wanted.value.CopyFrom(metadata_values({"value": value})["value"])
    return filter_pb.MetadataFilter(condition=wanted)


def negated(where: filter_pb.MetadataFilter) -> filter_pb.MetadataFilter:
    return filter_pb.MetadataFilter(negated=where)


def artifact_filters(word: str) -> list[filter_pb.MetadataFilter]:
    return [
        condition("artifact", "EQ", f"{word}-only"),
        negated(condition("artifact", "EQ", "doc")),
        condition("file_name", "EQ", f"{word}-only.md"),
        condition("title", "CONTAINS", f"{word}rep"),
        condition("title", "TEXT_MATCH", f"{word}report"),
        condition(f"{word}key", "EXISTS"),
        condition(f"{word}key", "EQ", f"{word}value"),
        condition(f"{word}key", "NE", f"{word}value"),
        condition(f"{word}key", "GT", 5),
        condition(f"metadata.{word}key", "IS_EMPTY"),
        condition("number", "EQ", NUMBER),
        condition("number", "EQ", "text"),
        condition("shared", "EQ", 7),
        condition("shared", "EQ", "seven"),
        condition("ingested_at", "EXISTS"),
    ]


def node_filters(word: str) -> list[filter_pb.MetadataFilter]:
    return [
        condition("heading", "CONTAINS", f"{word}falcon"),
        condition("heading", "TEXT_MATCH", f"{word}table"),
        negated(condition("heading", "EQ", f"{word}falcon")),
        condition(f"row.{word}column", "EQ", f"{word}cell"),
        condition(f"row.{word}column", "GT", 5),
        condition(f"row.{word}column", "EXISTS"),
        condition("row.amount", "EQ", AMOUNT),
        condition("row.amount", "EQ", "text"),
        condition("kind", "EQ", "TABLE_ROW"),
    ]


def token(scope: str, name: str) -> str:
    """A page token, as the service makes it."""
    return base64.urlsafe_b64encode(f"{scope}\n{name}".encode()).decode()


# Requests by rpc: every one must be here.


def file_parts(collection: str, artifact: str) -> list[Message]:
    header = pb.IngestFileHeader(collection=collection, artifact=artifact)
    return list(upload(header, b"Some text of a file."))


def search_requests(known: Known) -> list[search_pb.SearchRequest]:
    def request(
        where: filter_pb.MetadataFilter | None = None,
        collection: str = SHARED,
        artifacts: tuple[str, ...] = (),
        *,
        validate: bool = True,
    ) -> search_pb.SearchRequest:
        return search_pb.SearchRequest(
            context_filter=filter_pb.ContextFilter(
                collection=collection, artifacts=artifacts, metadata_filter=where
            ),
            vector=search_pb.Vector(f32_le=known.vector),
            limit=100,
            validate=validate,
            min_seq=known.seq,
        )

    only = f"{known.word}-only"
    return [
        request(),
        request(collection=f"{known.word}-quarry"),
        request(artifacts=(only,)),
        request(artifacts=(only,), validate=False),
        request(artifacts=("doc", only), validate=False),
        *map(request, artifact_filters(known.word)),
        *map(request, node_filters(known.word)),
    ]


def update_artifact(known: Known) -> Requests:
    return [
        pb.UpdateArtifactRequest(
            artifact=pb.Artifact(collection=collection, artifact=artifact, file_name="x"),
            update_mask=FieldMask(paths=["file_name"]),
        )
        for collection, artifact in owners_artifacts(known)
    ]


def owners_artifacts(known: Known) -> list[tuple[str, str]]:
    quarry, only = f"{known.word}-quarry", f"{known.word}-only"
    return [(SHARED, only), (quarry, only), (quarry, "doc")]


def list_artifacts(known: Known) -> Requests:
    only = f"{known.word}-only"
    requests: Requests = [
        pb.ListArtifactsRequest(collection=SHARED),
        pb.ListArtifactsRequest(collection=SHARED, page_size=1),
        pb.ListArtifactsRequest(collection=f"{known.word}-quarry"),
        pb.ListArtifactsRequest(
            collection=SHARED, page_token=token(f"artifacts of {SHARED}", only)
        ),
        pb.ListArtifactsRequest(
            collection=SHARED, page_token=token(f"artifacts of {known.word}-quarry", only)
        ),
    ]
    requests += [
        pb.ListArtifactsRequest(collection=SHARED, metadata_filter=where)
        for where in artifact_filters(known.word)
    ]
    return requests


def batch_delete(known: Known) -> Requests:
    def request(
        collection: str = SHARED,
        artifacts: tuple[str, ...] = (),
        where: filter_pb.MetadataFilter | None = None,
        **options: bool,
    ) -> pb.BatchDeleteArtifactsRequest:
        context = filter_pb.ContextFilter(
            collection=collection, artifacts=artifacts, metadata_filter=where
        )
        return pb.BatchDeleteArtifactsRequest(context_filter=context, **options)

    only = f"{known.word}-only"
    return [
        request(artifacts=(only,)),
        request(artifacts=(only,), allow_missing=True),
        request(f"{known.word}-quarry", (only, "doc")),
        request(where=condition("artifact", "EQ", only)),
        request(where=condition(f"{known.word}key", "EXISTS")),
        request(where=condition("number", "EQ", NUMBER)),
        *(request(where=where, validate_only=True) for where in artifact_filters(known.word)),
    ]


def ids(known: Known, collection: str) -> search_pb.ExpandRequest:
    return search_pb.ExpandRequest(
        collection=collection, node_ids=known.node_ids, min_seq=known.seq
    )


REQUESTS: dict[str, Callable[[Known], Requests]] = {
    "IngestService.CreateCollection": lambda known: [
        pb.CreateCollectionRequest(collection=pb.Collection(collection=f"{known.word}-quarry")),
        pb.CreateCollectionRequest(collection=pb.Collection(collection=SHARED)),
    ],
    "IngestService.GetCollection": lambda known: [
        pb.GetCollectionRequest(collection=f"{known.word}-quarry"),
        pb.GetCollectionRequest(collection=SHARED),
    ],
    "IngestService.ListCollections": lambda known: [
        pb.ListCollectionsRequest(),
        pb.ListCollectionsRequest(page_size=1),
        pb.ListCollectionsRequest(page_token=token("collections", f"{known.word}-quarry")),
        pb.ListCollectionsRequest(page_token=token("collections", "a")),
    ],
    "IngestService.UpdateCollection": lambda known: [
        pb.UpdateCollectionRequest(
            collection=pb.Collection(collection=f"{known.word}-quarry", display_name="x"),
            update_mask=FieldMask(paths=["display_name"]),
        )
    ],
    "IngestService.DeleteCollection": lambda known: [
        pb.DeleteCollectionRequest(collection=f"{known.word}-quarry", force=force, **missing)
        for force in (False, True)
        for missing in ({}, {"allow_missing": True})
    ],
    "IngestService.IngestFile": lambda known: [
        file_parts(f"{known.word}-quarry", f"{known.word}-only"),
        file_parts(f"{known.word}-quarry", "doc"),
    ],
    "IngestService.IngestText": lambda known: [
        pb.IngestTextRequest(collection=f"{known.word}-quarry", artifact="doc", text="Some text.")
    ],
    "IngestService.IngestUri": lambda known: [
        pb.IngestUriRequest(collection=f"{known.word}-quarry", artifact="doc", uri=uri)
        for uri in ("https://example.org/a.md", "file:///etc/hostname")
    ],
    "IngestService.BatchIngest": lambda known: [
        pb.BatchIngestRequest(
            items=[
                pb.BatchIngestItem(
                    text=pb.IngestTextRequest(
                        collection=f"{known.word}-quarry", artifact=artifact, text="Some text."
                    )
                )
                for artifact in ("doc", f"{known.word}-only")
            ]
        )
    ],
    "IngestService.PopulateArtifact": lambda known: [
        pb.PopulateArtifactRequest(collection=collection, artifact=artifact)
        for collection, artifact in [*owners_artifacts(known), (SHARED, "doc")]
    ],
    "IngestService.GetOperation": lambda known: [
        pb.GetOperationRequest(operation=operation) for operation in known.operations
    ],
    "IngestService.ListOperations": lambda known: [
        pb.ListOperationsRequest(),
        pb.ListOperationsRequest(page_size=1),
        pb.ListOperationsRequest(collection=SHARED),
        pb.ListOperationsRequest(collection=f"{known.word}-quarry"),
        pb.ListOperationsRequest(states=[pb.Operation.STATE_SUCCEEDED]),
        pb.ListOperationsRequest(page_token=token("operations", known.operations[0])),
    ],
    "IngestService.WatchOperation": lambda known: [
        pb.WatchOperationRequest(operation=operation) for operation in known.operations
    ],
    "IngestService.CancelOperation": lambda known: [
        pb.CancelOperationRequest(operation=operation) for operation in known.operations
    ],
    "IngestService.GetArtifact": lambda known: [
        pb.GetArtifactRequest(collection=collection, artifact=artifact)
        for collection, artifact in [*owners_artifacts(known), (SHARED, "doc")]
    ],
    "IngestService.ListArtifacts": list_artifacts,
    "IngestService.UpdateArtifact": update_artifact,
    "IngestService.BatchDeleteArtifacts": batch_delete,
    "IngestService.DeleteArtifact": lambda known: [
        pb.DeleteArtifactRequest(collection=collection, artifact=artifact, **missing)
        for collection, artifact in owners_artifacts(known)
        for missing in ({}, {"allow_missing": True})
    ],
    "IngestService.GetNode": lambda known: [
        pb.GetNodeRequest(collection=collection, node_id=node_id)
        for collection in (SHARED, f"{known.word}-quarry")
        for node_id in known.node_ids
    ],
    "IngestService.ExportTree": lambda known: [
        pb.ExportTreeRequest(collection=collection, artifact=artifact)
        for collection, artifact in [*owners_artifacts(known), (SHARED, "doc")]
    ],
    "SearchService.Search": lambda known: [*search_requests(known)],
    "SearchService.BatchSearch": lambda known: [
        search_pb.BatchSearchRequest(requests=search_requests(known))
    ],
    "SearchService.Expand": lambda known: [
        ids(known, SHARED),
        ids(known, f"{known.word}-quarry"),
    ],
    "SearchService.Explain": lambda known: [
        search_pb.ExplainRequest(search=request) for request in search_requests(known)
    ],
    "SearchService.GetServerInfo": lambda known: [search_pb.GetServerInfoRequest()],
}
