from __future__ import annotations

import json
from datetime import UTC, datetime

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from treespan.cli.plain import plain
from treespan.client.metadata import metadata_values
from treespan.v1.chunk_pb2 import Chunk, Document
from treespan.v1.ingest_service_pb2 import Artifact
from treespan.v1.node_pb2 import NODE_KIND_TABLE_ROW, Node
from treespan.v1.search_service_pb2 import SearchResponse, Timings


def test_large_numbers_stay_numbers_and_floats_lose_no_digit_and_gain_none():
    shown = plain(SearchResponse(applied_seq=2**63, chunks=[Chunk(score=0.1)]))
    assert shown["applied_seq"] == 2**63
    assert shown["chunks"][0]["score"] == 0.1


def test_enums_lose_their_prefix():
    assert plain(Node(kind=NODE_KIND_TABLE_ROW))["kind"] == "TABLE_ROW"
    assert plain(Artifact(state=Artifact.STATE_POPULATED))["state"] == "POPULATED"


def test_metadata_is_as_it_was_given_and_times_are_iso():
    at = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
    stamp = Timestamp()
    stamp.FromDatetime(at)
    artifact = Artifact(metadata=metadata_values({"n": 1, "at": at, "l": ["a"]}), create_time=stamp)
    shown = plain(artifact)
    assert shown["metadata"] == {"at": "2024-01-02T03:04:05+00:00", "l": ["a"], "n": 1}
    assert shown["create_time"] == "2024-01-02T03:04:05+00:00"
    assert shown["update_time"] is None


def test_what_a_file_says_and_what_its_reader_counted_are_shown_by_name():
    said = metadata_values({"author": "B. Miller", "pages": 3})
    shown = plain(Artifact(file_metadata=said, counts={"sheets": 3, "entries_read": 2**40}))
    assert shown["file_metadata"] == {"author": "B. Miller", "pages": 3}
    assert shown["counts"] == {"entries_read": 2**40, "sheets": 3}


def test_durations_are_seconds():
    timings = Timings(total=Duration(seconds=1, nanos=500_000_000))
    assert plain(timings)["total"] == 1.5


def test_every_field_is_there_and_all_is_json():
    chunk = Chunk(document=Document(file_name="a"), previous_texts=["x"])
    shown = json.loads(json.dumps(plain(chunk)))
    assert shown.keys() == {field.name for field in Chunk.DESCRIPTOR.fields}
    assert shown["expansion"] is None
    assert shown["text"] == ""
