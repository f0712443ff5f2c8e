"""Requests that ingest, unpacked; what tells one from another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ingest_svc.messages import (
    file_wanted,
    packed_metadata,
    populate_wanted,
    request_digest,
    text_wanted,
    uri_wanted,
)
from ingest_svc.operations import ArtifactKey
from ingest_svc.operations.request import Kept
from ingest_svc.readers.source import ReadOptions
from treespan.errors import InvalidArgument
from treespan.store.records import OperationKind, Tenant
from treespan.v1 import ingest_service_pb2 as pb
from treespan.v1 import metadata_pb2

T = Tenant("default")
DEFAULTS = ReadOptions(pdf_mode="layout", ocr="force", ocr_languages="deu")
OPTIONS = pb.IngestOptions(
    request_id="one",
    detached=True,
    initialize_only=True,
    pdf_mode=pb.IngestOptions.PDF_MODE_FAST,
    ocr=pb.IngestOptions.OCR_MODE_OFF,
    ocr_languages=["eng", "chi_sim", "eng"],
    include_hidden=True,
)
READ = ReadOptions(pdf_mode="fast", ocr="off", ocr_languages="eng+chi_sim", include_hidden=True)
METADATA = {"k": metadata_pb2.MetadataValue(int_value=1)}


def header(**fields: Any) -> pb.IngestFileHeader:
    return pb.IngestFileHeader(**{"collection": "c", "artifact": "a"} | fields)


def test_all_of_a_header_is_unpacked() -> None:
    wanted = file_wanted(
        header(
            file_name="a.pdf",
            metadata=METADATA,
            password="sesame",
            options=OPTIONS,
            summary="About a.",
            source_uri="https://example.org/a",
        ),
        T,
        DEFAULTS,
    )
    assert wanted.key == ArtifactKey(T, "c", "a")
    assert (wanted.kind, wanted.request_id) == (OperationKind.INGEST_FILE, "one")
    assert wanted.password == "sesame"
    assert wanted.kept == Kept(
        file_name="a.pdf",
        metadata=packed_metadata(METADATA),
        options=READ,
        summary="About a.",
        source_uri="https://example.org/a",
        initialize_only=True,
        detached=True,
        has_password=True,
    )


def test_what_is_not_said_is_as_the_server_is_set() -> None:
    kept = file_wanted(header(), T, DEFAULTS).kept
    assert kept == Kept(file_name="a", metadata=packed_metadata({}), options=DEFAULTS)


def test_a_text_a_uri_and_a_populating_are_unpacked_alike() -> None:
    names = {"collection": "c", "artifact": "a", "options": OPTIONS}
    text = text_wanted(
        pb.IngestTextRequest(**names, text="red", media_type="text/html", source_uri="u"),
        T,
        DEFAULTS,
    )
    assert (text.kind, text.kept.media_type, text.kept.source_uri) == (
        OperationKind.INGEST_TEXT,
        "text/html",
        "u",
    )
    assert text.kept.options == READ
    uri = uri_wanted(pb.IngestUriRequest(**names, uri="http://h/x", password="p"), T, DEFAULTS)
    assert (uri.kind, uri.kept.source_uri, uri.kept.file_name) == (
        OperationKind.INGEST_URI,
        "http://h/x",
        "",
    )
    assert uri.kept.has_password
    populating = populate_wanted(pb.PopulateArtifactRequest(**names), T)
    assert populating == replace(
        populating, kind=OperationKind.POPULATE_ARTIFACT, kept=Kept(detached=True)
    )


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"artifact": ""}, "header.artifact", "is empty"),
        ({"content_sha256": "zz"}, "header.content_sha256", "64 hexadecimal"),
        ({"summary": "x" * 8_193}, "header.summary", "8,193"),
        ({"summary": "a\0"}, "header.summary", "NUL at character 2"),
        ({"source_uri": "x" * 2_049}, "header.source_uri", "2,049"),
        ({"source_uri": "http://a\n"}, "header.source_uri", r"U\+000A"),
        ({"options": {"pdf_mode": 9}}, "header.options.pdf_mode", "is 9"),
        ({"options": {"ocr": 9}}, "header.options.ocr", "is 9"),
        ({"options": {"ocr_languages": ["../eng"]}}, "header.options.ocr_languages", "'../eng'"),
        ({"options": {"ocr_languages": ["eng+deu"]}}, "header.options.ocr_languages", "eng"),
        ({"options": {"ocr_languages": [""]}}, "header.options.ocr_languages", "Tesseract"),
        ({"options": {"ocr_languages": ["eng"] * 9}}, "header.options.ocr_languages", "names 9"),
        ({"options": {"request_id": "x" * 129}}, "header.options.request_id", "at most 128"),
    ],
)
def test_a_value_that_is_not_allowed_names_its_field(
    fields: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words) as told:
        file_wanted(header(**fields), T, DEFAULTS)
    assert told.value.field == field


def digest(**fields: Any) -> str:
    return request_digest(header(**fields))


def test_a_digest_tells_requests_apart_but_not_how_they_are_answered() -> None:
    options = {"request_id": "one", "detached": True}
    base = digest(options=pb.IngestOptions(request_id="one"), metadata=METADATA)
    assert digest(options=pb.IngestOptions(**options), metadata=METADATA) == base
    assert digest(options=pb.IngestOptions(request_id="two"), metadata=METADATA) == base
    others = [
        digest(options=pb.IngestOptions(request_id="one")),
        digest(options=pb.IngestOptions(request_id="one", initialize_only=True), metadata=METADATA),
        digest(options=pb.IngestOptions(request_id="one"), metadata=METADATA, password="p"),
        digest(options=pb.IngestOptions(request_id="one"), metadata=METADATA, password="q"),
        digest(
            options=pb.IngestOptions(request_id="one"), metadata=METADATA, content_sha256="0" * 64
        ),
    ]
    assert len({base, *others}) == len(others) + 1


def test_a_digest_does_not_depend_on_the_order_of_metadata() -> None:
    options = pb.IngestOptions(request_id="one")
    values = [(f"k{number}", metadata_pb2.MetadataValue(int_value=number)) for number in range(50)]
    assert digest(options=options, metadata=dict(values)) == digest(
        options=options, metadata=dict(reversed(values))
    )
