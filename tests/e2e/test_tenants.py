"""Two tenants with equal names: nothing of one is in any answer to, or error of, the other.

Every rpc is called by a tenant who knows names, node ids, page tokens, vectors, metadata and
sequence numbers of the other one. What comes back must hold nothing of the other's, and must be
what comes back where nobody has anything of that name: so not even that it exists can be told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf import message_factory

from calls import refused, upload
from tenant_requests import AMOUNT, NO_WORD, NUMBER, REQUESTS, SHARED, WORD, Known, search_requests
from treespan.client.metadata import metadata_values
from treespan.store import open_reader
from treespan.store.records import Tenant
from treespan.v1 import context_filter_pb2 as filter_pb
from treespan.v1 import ingest_service_pb2 as pb
from treespan.v1 import search_service_pb2 as search_pb
from treespan.v1.metadata_pb2 import MetadataValue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.message import Message

    from servers import Servers
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub
    from treespan.v1.search_service_pb2_grpc import SearchServiceStub

OWNER, OTHER = "orchid", "basalt"
OWNERS = f"""---
title: {WORD}report
---
# {WORD}falcon

The {WORD}falcon nests on the {WORD}cliff every spring, and leaves it in autumn.

## {WORD}table

| {WORD}column | amount |
|---|---|
| {WORD}cell | {AMOUNT} |
"""
OTHERS = """# Bread

Bread is made of flour, water and salt; the dough rests for some hours.
"""
METADATA = metadata_values({f"{WORD}key": f"{WORD}value", "number": NUMBER, "shared": 7})
OTHERS_METADATA = metadata_values({"shared": "seven"})


@dataclass(frozen=True)
class Worlds:
    """What there is, and what only looks as if."""

    known: Known
    guessed: Known
    secrets: tuple[str, ...]
    """Beside the words: what only the owner has."""
    others: pb.Artifact


def of(tenant: str) -> tuple[tuple[str, str], ...]:
    return (("treespan-tenant", tenant),)


@pytest.fixture(scope="module")
def worlds(servers: Servers, ingest: IngestServiceStub) -> Worlds:
    owners = [
        put(ingest, OWNER, collection, artifact, OWNERS + collection + artifact, METADATA)
        for collection in (SHARED, f"{WORD}-quarry")
        for artifact in ("doc", f"{WORD}-only")
    ]
    others = put(ingest, OTHER, SHARED, "doc", OTHERS, OTHERS_METADATA)
    reader = open_reader(servers.store)
    doc_ids = [
        reader.artifact(Tenant(OWNER), each.artifact.collection, each.artifact.artifact).doc_id
        for each in owners
    ]
    document = reader.searchable(Tenant(OWNER), SHARED, doc_ids[0])
    reader.close()
    assert document is not None
    vector = document.vectors[: len(document.vectors) // (len(document.vector_nodes) // 4)]
    seq = others.seq
    begun = tuple(each.operation.operation for each in owners)
    known = Known(WORD, tuple(f"{doc_id}-1" for doc_id in doc_ids), vector, seq, begun)
    guessed = Known(
        NO_WORD,
        tuple(f"{number:016x}-1" for number in range(4)),
        vector,
        seq,
        tuple(f"{number:024x}" for number in range(4)),
    )
    hashes = [each.artifact.content_sha256 for each in owners]
    secrets = (*doc_ids, *hashes, *begun, str(AMOUNT), str(NUMBER))
    return Worlds(known, guessed, secrets, others.artifact)


def put(
    ingest: IngestServiceStub,
    tenant: str,
    collection: str,
    artifact: str,
    text: str,
    metadata: dict[str, MetadataValue],
) -> pb.IngestFileResponse:
    """Put a file in; its collection is made where it is missing."""
    wanted = pb.Collection(collection=collection, display_name=f"{tenant} {collection}")
    try:
        ingest.CreateCollection(pb.CreateCollectionRequest(collection=wanted), metadata=of(tenant))
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.ALREADY_EXISTS:
            raise
    header = pb.IngestFileHeader(
        collection=collection,
        artifact=artifact,
        file_name=f"{artifact}.md",
        metadata=metadata,
    )
    answer: pb.IngestFileResponse = ingest.IngestFile(
        upload(header, text.encode()), metadata=of(tenant), timeout=60
    )
    return answer


METHODS = {
    f"{service.name}.{method.name}": method
    for service in (
        pb.DESCRIPTOR.services_by_name["IngestService"],
        search_pb.DESCRIPTOR.services_by_name["SearchService"],
    )
    for method in service.methods
}


@dataclass(frozen=True)
class Told:
    """All that came back of a call."""

    seen: str
    """Everything, serialised and written out."""
    compared: str
    """What must be the same for what is the owner's and for what is nobody's."""


@pytest.fixture(scope="module")
def channels(servers: Servers) -> Iterator[dict[str, grpc.Channel]]:
    with (
        grpc.insecure_channel(servers.address("ingest")) as to_ingest,
        grpc.insecure_channel(servers.address("search")) as to_search,
    ):
        yield {"IngestService": to_ingest, "SearchService": to_search}


def call(
    channels: dict[str, grpc.Channel], rpc: str, request: Message | list[Message], tenant: str
) -> Told:
    """Call any rpc by its descriptor."""
    method = METHODS[rpc]
    answered = message_factory.GetMessageClass(method.output_type)
    streams = ("unary", "stream")
    kind = f"{streams[method.client_streaming]}_{streams[method.server_streaming]}"
    caller = getattr(channels[rpc.partition(".")[0]], kind)(
        f"/{method.containing_service.full_name}/{method.name}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=answered.FromString,
    )
    argument = iter(request) if isinstance(request, list) else request
    try:
        answer = caller(argument, metadata=of(tenant), timeout=60)
        messages = list(answer) if method.server_streaming else [answer]
    except grpc.RpcError as error:
        return refusal(error)
    seen = "".join(f"{message}{message.SerializeToString()!r}" for message in messages)
    for message in messages:
        forget(message)
    return Told(seen, "".join(map(str, messages)))


def refusal(error: Any) -> Told:
    said = f"{error.code().name} {error.details()}"
    return Told(f"{said} {error.trailing_metadata()!r}", said)


_PASSING = {
    "timings",
    "uptime",
    "seq",
    "applied_seq",
    "store_seq",
    "lag",
    "memory_bytes",
    "create_time",
    "update_time",
}


def forget(message: Any) -> None:
    """Clear what differs from one call to the next."""
    for field, value in message.ListFields():
        if field.name in _PASSING:
            message.ClearField(field.name)
        elif field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        else:
            for each in value if field.is_repeated else [value]:
                forget(each)


def leaked(told: Told, request: Message | list[Message], secrets: tuple[str, ...]) -> set[str]:
    """What only the owner has, and the caller did not say itself."""
    said = str(request).lower()
    words = set(re.findall(rf"{WORD}[\w-]*", told.seen.lower()))
    words |= {secret for secret in secrets if secret in told.seen}
    return {word for word in words if word not in said}


def picture(channels: dict[str, grpc.Channel], known: Known) -> list[str]:
    """All that the owner can see."""
    readings = [
        "IngestService.GetCollection",
        "IngestService.ListCollections",
        "IngestService.GetArtifact",
        "IngestService.ListArtifacts",
        "IngestService.ExportTree",
        "IngestService.GetOperation",
        "IngestService.ListOperations",
        "SearchService.Search",
        "SearchService.Expand",
        "SearchService.GetServerInfo",
    ]
    return [
        call(channels, rpc, request, OWNER).compared
        for rpc in readings
        for request in REQUESTS[rpc](known)
    ]


def test_every_rpc_is_tried() -> None:
    assert set(REQUESTS) == set(METHODS)


@pytest.mark.parametrize("rpc", METHODS)
def test_nothing_of_another_tenant_comes_back(
    channels: dict[str, grpc.Channel], ingest: IngestServiceStub, worlds: Worlds, rpc: str
) -> None:
    before = picture(channels, worlds.known)
    pairs = zip(REQUESTS[rpc](worlds.known), REQUESTS[rpc](worlds.guessed), strict=True)
    for request, of_nobody in pairs:
        told = call(channels, rpc, request, OTHER)
        assert leaked(told, request, worlds.secrets) == set(), told.seen
        nothing = call(channels, rpc, of_nobody, OTHER)
        assert as_guessed(told.compared, worlds) == nothing.compared
    assert picture(channels, worlds.known) == before
    for word in (WORD, NO_WORD):
        made = pb.DeleteCollectionRequest(collection=f"{word}-quarry", allow_missing=True)
        ingest.DeleteCollection(made, metadata=of(OTHER))


def as_guessed(text: str, worlds: Worlds) -> str:
    """The same text, of what is nobody's."""
    text = text.replace(WORD, NO_WORD)
    for known, guessed in zip(worlds.known.node_ids, worlds.guessed.node_ids, strict=True):
        text = text.replace(known, guessed)
    for known, guessed in zip(worlds.known.operations, worlds.guessed.operations, strict=True):
        text = text.replace(known, guessed)
    return text


def test_owner_sees_all_of_it(channels: dict[str, grpc.Channel], worlds: Worlds) -> None:
    """So that the secrets above would be seen, were they there."""
    seen = ""
    for rpc in (
        "IngestService.GetArtifact",
        "IngestService.ExportTree",
        "IngestService.ListOperations",
        "SearchService.Search",
    ):
        for request in REQUESTS[rpc](worlds.known):
            seen += call(channels, rpc, request, OWNER).seen
    for secret in (*worlds.secrets, f"{WORD}falcon", f"{WORD}cell", f"{WORD}value"):
        assert secret in seen


def test_counts_are_of_the_tenants_own_documents(
    ingest: IngestServiceStub, search: SearchServiceStub, worlds: Worlds
) -> None:
    own = worlds.others
    request = pb.GetCollectionRequest(collection=SHARED)
    stats = ingest.GetCollection(request, metadata=of(OTHER)).collection.stats
    assert stats == pb.CollectionStats(
        artifacts=1, nodes=own.node_count, vectors=own.chunk_count, tokens=own.token_count
    )
    [explained] = search_requests(worlds.known)[:1]
    plan = search.Explain(search_pb.ExplainRequest(search=explained), metadata=of(OTHER)).plan
    assert (plan.documents, plan.rows, plan.allowed_rows) == (1, own.chunk_count, own.chunk_count)
    info = search.GetServerInfo(search_pb.GetServerInfoRequest(), metadata=of(OTHER))
    [held] = [each for each in info.collections if each.collection == SHARED]
    assert (held.documents, held.rows) == (1, own.chunk_count)


def test_question_in_the_owners_words_finds_the_callers_own_text(
    search: SearchServiceStub, worlds: Worlds
) -> None:
    request = search_pb.SearchRequest(
        context_filter=filter_pb.ContextFilter(collection=SHARED),
        text=f"Where does the {WORD}falcon nest on the {WORD}cliff?",
    )
    answer = search.Search(request, metadata=of(OTHER))
    assert [chunk.document.file_name for chunk in answer.chunks] == ["doc.md"] * len(answer.chunks)
    assert WORD not in str(answer)
    assert WORD in str(search.Search(request, metadata=of(OWNER)))


def test_equal_bytes_of_another_tenant_are_read_anew_and_outlive_them(
    ingest: IngestServiceStub, search: SearchServiceStub, worlds: Worlds
) -> None:
    """Reuse would tell that somebody has this file, and tie the one's copy to the other's."""
    first = put(ingest, OWNER, "equal", "doc", OTHERS + "\nEqual.", METADATA)
    second = put(ingest, OTHER, "equal", "doc", OTHERS + "\nEqual.", {})
    assert not second.already_ingested
    assert second.artifact.content_sha256 == first.artifact.content_sha256
    assert not second.artifact.metadata
    ingest.DeleteCollection(
        pb.DeleteCollectionRequest(collection="equal", force=True), metadata=of(OWNER)
    )
    request = pb.ExportTreeRequest(collection="equal", artifact="doc")
    assert [node for page in ingest.ExportTree(request, metadata=of(OTHER)) for node in page.nodes]
    with refused() as told:
        list(ingest.ExportTree(request, metadata=of(OWNER)))
    assert told.reason == "COLLECTION_NOT_FOUND"
    ingest.DeleteCollection(
        pb.DeleteCollectionRequest(collection="equal", force=True), metadata=of(OTHER)
    )


def test_deleting_a_collection_leaves_the_one_of_the_same_name(
    channels: dict[str, grpc.Channel], ingest: IngestServiceStub, worlds: Worlds
) -> None:
    before = picture(channels, worlds.known)
    put(ingest, "third", SHARED, "doc", OTHERS, {})
    request = pb.DeleteCollectionRequest(collection=SHARED, force=True)
    deleted = ingest.DeleteCollection(request, metadata=of("third"))
    assert deleted.deleted_artifacts == 1
    assert picture(channels, worlds.known) == before


@pytest.mark.parametrize(
    "tenant",
    ["%", "orchi_", "orchi%", "*", "ORCHID", "Orchid", "orchid.", "orchid-", "orchid2", "basalt"],
)
def test_name_that_is_only_like_the_owners_sees_nothing(
    channels: dict[str, grpc.Channel], worlds: Worlds, tenant: str
) -> None:
    for rpc in ("IngestService.ListCollections", "IngestService.ListArtifacts"):
        for request in REQUESTS[rpc](worlds.known):
            told = call(channels, rpc, request, tenant)
            assert leaked(told, request, worlds.secrets) == set()
    for request in search_requests(worlds.known):
        told = call(channels, "SearchService.Search", request, tenant)
        assert leaked(told, request, worlds.secrets) == set()


@pytest.mark.parametrize("tenants", [(OTHER, OWNER), (OWNER, OTHER)])
def test_call_that_names_two_tenants_is_refused(
    ingest: IngestServiceStub, search: SearchServiceStub, worlds: Worlds, tenants: tuple[str, str]
) -> None:
    """Whoever stands before the services may add the right one to what a caller sent."""
    both = tuple(pair for tenant in tenants for pair in of(tenant))
    for answer in (
        lambda: ingest.ListCollections(pb.ListCollectionsRequest(), metadata=both),
        lambda: search.GetServerInfo(search_pb.GetServerInfoRequest(), metadata=both),
    ):
        with refused() as told:
            answer()
        assert told.code is grpc.StatusCode.INVALID_ARGUMENT


def test_caller_without_a_tenant_is_none_of_them(
    channels: dict[str, grpc.Channel], ingest: IngestServiceStub, worlds: Worlds
) -> None:
    listed = ingest.ListCollections(pb.ListCollectionsRequest())
    assert WORD not in str(listed)
