"""Use without our client or stubs: services found by reflection, a search sent and read as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest
from google.protobuf import json_format
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from calls import ingest_bytes

if TYPE_CHECKING:
    from servers import Servers
    from treespan.v1.ingest_service_pb2_grpc import IngestServiceStub


@pytest.mark.parametrize(
    ("name", "service"),
    [("ingest", "treespan.v1.IngestService"), ("search", "treespan.v1.SearchService")],
)
def test_both_services_list_themselves(servers: Servers, name: str, service: str) -> None:
    with grpc.insecure_channel(servers.address(name)) as channel:
        listed = set(ProtoReflectionDescriptorDatabase(channel).get_services())
    assert {
        service,
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
    } <= listed


def test_a_search_goes_out_and_comes_back_as_json(
    servers: Servers, ingest: IngestServiceStub, collection: str
) -> None:
    text = "# Valves\n\nThe main valve is tested every spring by two people."
    written = ingest_bytes(ingest, collection, "manual.md", text.encode())
    with grpc.insecure_channel(servers.address("search")) as channel:
        pool = DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
        service = pool.FindServiceByName("treespan.v1.SearchService")
        method = service.FindMethodByName("Search")
        request = json_format.ParseDict(
            {
                "contextFilter": {"collection": collection},
                "text": "Who tests the valve?",
                "limit": 1,
                "minSeq": str(written.seq),
                "context": {"tokenBudget": 200},
            },
            GetMessageClass(method.input_type)(),
        )
        call = channel.unary_unary(
            f"/{service.full_name}/{method.name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )
        answer = json_format.MessageToDict(call(request, timeout=30))
    [chunk] = answer["chunks"]
    assert chunk["text"] == "The main valve is tested every spring by two people."
    assert chunk["headingPath"] == ["Valves"]
    assert chunk["previousTexts"] == ["Valves"]
