from __future__ import annotations

import msgspec
import pytest

from ingest_svc.readers import frames
from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Table

FILE = ParsedFile(
    [Block(BlockKind.TABLE, table=Table(["a"], [["b"]])), Block(BlockKind.HEADING, "h", 2)],
    "text/html",
    metadata={"a": "b"},
)


@pytest.mark.parametrize(
    "message",
    [
        frames.Ready(),
        frames.Advanced(1, 2),
        frames.Finished(FILE),
        frames.Failed("DamagedFile", "m", "w"),
    ],
)
def test_answers_come_back_as_they_were(message):
    assert frames.answer(frames.packed(message)) == message


def test_jobs_come_back_as_they_were():
    job = frames.Job("/a", "b", "c")
    assert frames.job(frames.packed(job)) == job


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xc1",
        msgspec.msgpack.encode({"type": "job", "path": "a", "name": "b"}),
        msgspec.msgpack.encode({"type": "advanced", "done": "1", "total": 2}),
        msgspec.msgpack.encode({"type": "finished", "parsed": {"blocks": [{"kind": 99}]}}),
        msgspec.msgpack.encode({"type": "finished", "parsed": {"blocks": 3, "media_type": "x"}}),
    ],
)
def test_answers_of_another_form_are_refused(body):
    with pytest.raises(msgspec.MsgspecError):
        frames.answer(body)
