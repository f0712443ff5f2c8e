"""What a reader process and the pool say to each other: msgpack behind a length, over two pipes.

Everything that comes from the process is checked against these types, and its size against a bound,
before it is used: the process has handled a stranger's bytes.
"""

from __future__ import annotations

import struct

import msgspec

from ingest_svc.readers.block import ParsedFile
from ingest_svc.readers.source import ReadOptions
from treespan.config import OcrConfig, ReadersConfig

LENGTH = struct.Struct("<I")
MAX_FRAME_BYTES = 512 << 20
"""No result is larger; the reader's own limits keep results far below it."""


class Setup(msgspec.Struct, frozen=True, tag="setup"):
    """What holds for all files of a process."""

    limits: ReadersConfig
    ocr: OcrConfig
    nice: int = 0
    """How far the process stands back behind other work of the machine."""


class Job(msgspec.Struct, frozen=True, tag="job"):
    """Read this file."""

    path: str
    name: str
    password: str = ""
    media_type: str = ""
    """How to read it, where its type is not to be found out."""
    options: ReadOptions = ReadOptions()


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The process waits for jobs."""


class Advanced(msgspec.Struct, frozen=True, tag="advanced"):
    """Units done and all units of the file being read, for example pages."""

    done: int
    total: int


class Look(msgspec.Struct, frozen=True, tag="look"):
    """Have a vision service read this page; the process waits for `Seen`."""

    picture: bytes
    """A PNG."""


class Seen(msgspec.Struct, frozen=True, tag="seen"):
    """What a vision service read in a page."""

    text: str = ""
    """As Markdown."""
    problem: str = ""
    """Why nothing was read; empty where all went well."""


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """The file was read."""

    parsed: ParsedFile


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The file was not read."""

    problem: str
    """Name of a class below `FileProblem`."""
    message: str
    where: str = ""
    """For unforeseen errors: their type and place in our code, never the text of a document."""


Answer = Ready | Advanced | Look | Finished | Failed

_decode_answer = msgspec.msgpack.Decoder(Answer).decode
_decode_job = msgspec.msgpack.Decoder(Job).decode
_decode_seen = msgspec.msgpack.Decoder(Seen).decode
_encode = msgspec.msgpack.Encoder().encode


def packed(message: Job | Seen | Answer) -> bytes:
    """Return a message as bytes, without its length.

    Raises:
        UnicodeEncodeError: a text holds what cannot be written as UTF-8.
    """
    return _encode(message)


def framed(body: bytes) -> bytes:
    """Return a body with its length before it."""
    return LENGTH.pack(len(body)) + body


def answer(body: bytes) -> Answer:
    """Return a message of the process.

    Raises:
        msgspec.ValidationError: it has another form.
    """
    return _decode_answer(body)


def job(body: bytes) -> Job:
    """Return a message of the pool."""
    return _decode_job(body)


def seen(body: bytes) -> Seen:
    """Return what the pool says to a `Look`."""
    return _decode_seen(body)
