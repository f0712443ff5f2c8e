from __future__ import annotations

from datetime import UTC, datetime

from ingest_svc.messages import packed_file_metadata
from ingest_svc.readers.block import ParsedFile
from treespan.v1 import ingest_service_pb2 as pb


def unpacked(packed: bytes) -> dict[str, object]:
    message = pb.Artifact.FromString(packed)
    found: dict[str, object] = {}
    for key, value in message.file_metadata.items():
        kind = value.WhichOneof("value")
        assert kind is not None
        held = getattr(value, kind)
        if kind == "time_value":
            held = held.ToDatetime(UTC)
        if kind == "list_value":
            held = [part.string_value for part in held.values]
        found[key] = held
    message.ClearField("file_metadata")
    assert message == pb.Artifact()
    return found


def test_values_keep_their_types_and_dates_become_points_in_time() -> None:
    parsed = ParsedFile(
        [],
        "text/markdown",
        metadata={
            "author": ["Ann", "Bo", " "],
            "draft": True,
            "weight": 2.5,
            "year": 2024,
            "subject": " trees ",
            "nothing": "  ",
            "endless": float("inf"),
            "huge": 10**30,
        },
        dates={"created": "2024-03-01T12:00:00+02:00", "sent": "no date", "modified": "2024-01-01"},
    )
    assert unpacked(packed_file_metadata(parsed)) == {
        "author": ["Ann", "Bo"],
        "draft": True,
        "weight": 2.5,
        "year": 2024,
        "subject": "trees",
        "huge": "1" + "0" * 30,
        "created": datetime(2024, 3, 1, 10, tzinfo=UTC),
    }


def test_a_file_that_says_too_much_is_cut() -> None:
    many = {f"key {number}": "x" for number in range(1_000)}
    found = unpacked(packed_file_metadata(ParsedFile([], "text/plain", metadata=many)))
    assert len(found) == 256
    long = packed_file_metadata(ParsedFile([], "text/plain", metadata={"k" * 500: "v" * 100_000}))
    assert unpacked(long) == {"k" * 128: "v" * 8_192}
    heavy = {f"key {number}": "v" * 8_000 for number in range(100)}
    assert len(packed_file_metadata(ParsedFile([], "text/plain", metadata=heavy))) <= 64 << 10
