"""Fields of requests, checked."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import msgspec

from ingest_svc.readers.source import ReadOptions
from treespan.errors import InvalidField
from treespan.identity import check_name
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.protobuf.timestamp_pb2 import Timestamp

    from treespan.v1 import metadata_pb2

DEFAULT_CHUNK_TOKENS = 100
LEAST_CHUNK_TOKENS = 16
MOST_CHUNK_TOKENS = 460
_MOST_NAME_CHARACTERS = 1024
_MOST_SUMMARY_CHARACTERS = 8192
_MOST_URI_CHARACTERS = 2048
_MOST_LANGUAGES = 8
_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]{1,31}")
_REQUEST_ID = re.compile(r"[\x20-\x7e]{0,128}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_PDF_MODES: dict[int, str] = {
    pb.IngestOptions.PDF_MODE_FAST: "fast",
    pb.IngestOptions.PDF_MODE_LAYOUT: "layout",
}
_OCR_MODES: dict[int, str] = {
    pb.IngestOptions.OCR_MODE_OFF: "off",
    pb.IngestOptions.OCR_MODE_AUTO: "auto",
    pb.IngestOptions.OCR_MODE_FORCE: "force",
}
_MOST_KEYS = 256
_MOST_KEY_CHARACTERS = 128
_MOST_STRING_CHARACTERS = 8192
_MOST_VALUES = 1024
_MOST_METADATA_BYTES = 64 << 10
# 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, as google.protobuf.Timestamp has them.
_FIRST_SECOND = -62_135_596_800
_LAST_SECOND = 253_402_300_799
_DEFAULT_PAGE = 100
_MOST_PAGE = 1000


def checked_artifact(collection: str, artifact: str, prefix: str = "") -> None:
    """Check the names of a collection and an artifact."""
    check_name(f"{prefix}collection", collection)
    check_name(f"{prefix}artifact", artifact)


def checked_file_name(field: str, file_name: str, artifact: str) -> str:
    """Return a file's name; the artifact's where none is given."""
    if len(file_name) > _MOST_NAME_CHARACTERS:
        raise InvalidField(
            field, f"has {len(file_name):,} characters; the most is {_MOST_NAME_CHARACTERS:,}"
        )
    return file_name or artifact


def checked_chunk_tokens(value: int) -> int:
    """Return a chunk size; the default for 0."""
    if value and not LEAST_CHUNK_TOKENS <= value <= MOST_CHUNK_TOKENS:
        raise InvalidField(
            "collection.chunk_tokens",
            f"is {value}; it is 0 (for {DEFAULT_CHUNK_TOKENS}) or "
            f"{LEAST_CHUNK_TOKENS} to {MOST_CHUNK_TOKENS}",
        )
    return value or DEFAULT_CHUNK_TOKENS


def checked_display_name(value: str) -> str:
    """Return a collection's name for people."""
    if len(value) > _MOST_NAME_CHARACTERS:
        raise InvalidField(
            "collection.display_name",
            f"has {len(value):,} characters; the most is {_MOST_NAME_CHARACTERS:,}",
        )
    return value


def checked_page_size(value: int) -> int:
    """Return the size of a page; the default for 0."""
    if value > _MOST_PAGE:
        raise InvalidField("page_size", f"is {value:,}; the most is {_MOST_PAGE:,}")
    return value or _DEFAULT_PAGE


def checked_summary(field: str, value: str) -> str:
    """Return a summary for routing."""
    if len(value) > _MOST_SUMMARY_CHARACTERS:
        raise InvalidField(
            field, f"has {len(value):,} characters; the most is {_MOST_SUMMARY_CHARACTERS:,}"
        )
    if "\0" in value:
        raise InvalidField(field, f"holds a NUL at character {value.index(chr(0)) + 1}")
    return value


def checked_source_uri(field: str, value: str) -> str:
    """Return where a document comes from."""
    if len(value) > _MOST_URI_CHARACTERS:
        raise InvalidField(
            field, f"has {len(value):,} characters; the most is {_MOST_URI_CHARACTERS:,}"
        )
    if found := _CONTROL.search(value):
        raise InvalidField(
            field,
            f"holds a control character (U+{ord(found[0]):04X}) at character {found.start() + 1}",
        )
    return value


def checked_request_id(field: str, value: str) -> str:
    """Return the id of a request."""
    if not _REQUEST_ID.fullmatch(value):
        raise InvalidField(
            field,
            f"is {value[:140]!r}, of {len(value):,} characters; it has at most 128, all of them "
            "printable ASCII",
        )
    return value


def read_options(options: pb.IngestOptions, defaults: ReadOptions, prefix: str = "") -> ReadOptions:
    """Return how a file is to be read: as the request says, else as the server is set.

    Raises:
        InvalidField: a value is not allowed.
    """
    languages = [_checked_language(f"{prefix}ocr_languages", one) for one in options.ocr_languages]
    if len(languages) > _MOST_LANGUAGES:
        raise InvalidField(
            f"{prefix}ocr_languages", f"names {len(languages)}; the most is {_MOST_LANGUAGES}"
        )
    return msgspec.convert(
        {
            "pdf_mode": _choice(f"{prefix}pdf_mode", options.pdf_mode, _PDF_MODES)
            or defaults.pdf_mode,
            "ocr": _choice(f"{prefix}ocr", options.ocr, _OCR_MODES) or defaults.ocr,
            "ocr_languages": "+".join(dict.fromkeys(languages)) or defaults.ocr_languages,
            "include_hidden": options.include_hidden or defaults.include_hidden,
        },
        type=ReadOptions,
    )


def _choice(field: str, number: int, known: Mapping[int, str]) -> str:
    """Return what a number of an enum means; empty for 0."""
    if number and number not in known:
        numbers = ", ".join(map(str, sorted(known)))
        raise InvalidField(field, f"is {number}; it is 0 (as the server is set), {numbers}")
    return known.get(number, "")


def _checked_language(field: str, name: str) -> str:
    if not _LANGUAGE.fullmatch(name):
        raise InvalidField(
            field, f'{name[:40]!r} is no name of a language of Tesseract, such as "eng", "chi_sim"'
        )
    return name


def packed_metadata(
    metadata: Mapping[str, metadata_pb2.MetadataValue], field: str = "metadata"
) -> bytes:
    """Return checked metadata as `ArtifactRecord.metadata` has it.

    Args:
        metadata: The metadata.
        field: Its path in the request, for the error.

    Raises:
        InvalidField: a key or a value is not allowed.
    """
    if len(metadata) > _MOST_KEYS:
        raise InvalidField(field, f"has {len(metadata)} keys; the most is {_MOST_KEYS}")
    for key, value in metadata.items():
        if not 1 <= len(key) <= _MOST_KEY_CHARACTERS:
            raise InvalidField(
                field,
                f"key {key[:40]!r} has {len(key)} characters; "
                f"1 to {_MOST_KEY_CHARACTERS} are allowed",
            )
        _check_value(f"{field}[{key!r}]", value, nested=False)
    packed = pb.Artifact(metadata=metadata).SerializeToString(deterministic=True)
    if len(packed) > _MOST_METADATA_BYTES:
        raise InvalidField(
            field,
            f"has {len(packed):,} bytes; the most is {_MOST_METADATA_BYTES:,}, "
            "since it comes with every chunk",
        )
    return packed


def _check_value(field: str, value: metadata_pb2.MetadataValue, *, nested: bool) -> None:
    kind = value.WhichOneof("value")
    if kind is None:
        raise InvalidField(field, "holds no value; set one of its fields")
    if kind == "string_value" and len(value.string_value) > _MOST_STRING_CHARACTERS:
        raise InvalidField(
            field,
            f"has {len(value.string_value):,} characters; the most is {_MOST_STRING_CHARACTERS:,}",
        )
    if kind == "double_value" and not math.isfinite(value.double_value):
        raise InvalidField(field, f"is {value.double_value}; only finite numbers are allowed")
    if kind == "time_value" and not _is_time(value.time_value):
        raise InvalidField(
            field,
            f"is {value.time_value.seconds} s and {value.time_value.nanos} ns since 1970; "
            "a time lies in the years 1 to 9999, its nanoseconds between 0 and 999,999,999",
        )
    if kind == "list_value":
        if nested:
            raise InvalidField(field, "is a list within a list; lists hold plain values")
        _check_list(field, value.list_value)


def _is_time(value: Timestamp) -> bool:
    seconds, nanos = value.seconds, value.nanos
    return _FIRST_SECOND <= seconds <= _LAST_SECOND and 0 <= nanos < 1_000_000_000


def _check_list(field: str, values: metadata_pb2.MetadataList) -> None:
    if len(values.values) > _MOST_VALUES:
        raise InvalidField(
            field, f"has {len(values.values):,} values; the most is {_MOST_VALUES:,}"
        )
    kinds = {str(value.WhichOneof("value")) for value in values.values}
    if len(kinds) > 1:
        raise InvalidField(field, f"mixes {' and '.join(sorted(kinds))}; a list holds one kind")
    for value in values.values:
        _check_value(field, value, nested=True)
