"""Requests that ingest, made from plain Python values: the part that both clients share."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypedDict, Unpack
from urllib.parse import unquote, urlsplit

from treespan.client.metadata import metadata_values
from treespan.errors import InvalidField
from treespan.v1.ingest_service_pb2 import (
    BatchIngestItem,
    BatchIngestRequest,
    IngestFileHeader,
    IngestOptions,
    IngestTextRequest,
    IngestUriRequest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from treespan.client.metadata import MetadataInput

PdfMode: TypeAlias = Literal["fast", "layout"]
OcrMode: TypeAlias = Literal["off", "auto", "force"]

MAX_TEXT_BYTES: Final = 1024 * 1024
_MAX_NAME: Final = 255


class OptionKeywords(TypedDict, total=False):
    """Keywords about how to ingest; meaning and defaults as in `treespan.v1.IngestOptions`."""

    request_id: str
    detached: bool
    initialize_only: bool
    pdf_mode: PdfMode | None
    ocr: OcrMode | None
    ocr_languages: Sequence[str]
    """Names such as "eng"; one string may hold several, joined by "+"."""
    include_hidden: bool


class DocumentKeywords(OptionKeywords, total=False):
    """Keywords about a document; meaning as in `treespan.v1.IngestFileHeader`."""

    metadata: MetadataInput | None
    summary: str
    source_uri: str


class FileKeywords(DocumentKeywords, total=False):
    """Keywords about a file; meaning as in `treespan.v1.IngestFileHeader`."""

    file_name: str | None
    password: str | None


class TextKeywords(DocumentKeywords, total=False):
    """Keywords about a text; meaning and defaults as in `treespan.v1.IngestTextRequest`."""

    media_type: str
    file_name: str | None


class UriKeywords(OptionKeywords, total=False):
    """Keywords about what a URI names; meaning as in `treespan.v1.IngestUriRequest`."""

    metadata: MetadataInput | None
    summary: str
    file_name: str | None
    password: str | None


def file_header(
    collection: str, artifact: str, **keywords: Unpack[FileKeywords]
) -> IngestFileHeader:
    """Return a header without size and hash, which `Upload` adds.

    Raises:
        TypeError: a keyword is not known.
        InvalidField: a mode is not known, or a value of the metadata cannot be kept.
    """
    _refuse_unknown("ingest_file", keywords.keys() - FileKeywords.__annotations__.keys())
    return IngestFileHeader(
        collection=collection,
        artifact=artifact,
        file_name=keywords.get("file_name") or artifact,
        metadata=metadata_values(keywords.get("metadata") or {}),
        password=keywords.get("password") or "",
        options=ingest_options(keywords),
        summary=keywords.get("summary", ""),
        source_uri=keywords.get("source_uri", ""),
    )


def text_request(
    text: str, collection: str, artifact: str, **keywords: Unpack[TextKeywords]
) -> IngestTextRequest:
    """Return a request of IngestText, or an item of BatchIngest.

    Raises:
        InvalidField: the text has more than 1 MiB; or as `file_header`.
        TypeError: a keyword is not known.
    """
    _refuse_unknown("text_request", keywords.keys() - TextKeywords.__annotations__.keys())
    size = len(text.encode())
    if size > MAX_TEXT_BYTES:
        raise InvalidField(
            "text", f"it has {size:,} bytes of UTF-8, at most {MAX_TEXT_BYTES:,}; use ingest_bytes"
        )
    return IngestTextRequest(
        collection=collection,
        artifact=artifact,
        text=text,
        media_type=keywords.get("media_type", "text/plain"),
        file_name=keywords.get("file_name") or "",
        metadata=metadata_values(keywords.get("metadata") or {}),
        options=ingest_options(keywords),
        summary=keywords.get("summary", ""),
        source_uri=keywords.get("source_uri", ""),
    )


def uri_request(
    uri: str, collection: str, artifact: str | None = None, **keywords: Unpack[UriKeywords]
) -> IngestUriRequest:
    """Return a request of IngestUri, or an item of BatchIngest; raises as `file_header` does.

    Without a name, the artifact is called after the address: `uri_artifact`.
    """
    _refuse_unknown("uri_request", keywords.keys() - UriKeywords.__annotations__.keys())
    return IngestUriRequest(
        collection=collection,
        artifact=artifact or uri_artifact(uri),
        uri=uri,
        file_name=keywords.get("file_name") or "",
        metadata=metadata_values(keywords.get("metadata") or {}),
        password=keywords.get("password") or "",
        options=ingest_options(keywords),
        summary=keywords.get("summary", ""),
    )


def batch_request(items: Iterable[IngestTextRequest | IngestUriRequest]) -> BatchIngestRequest:
    """Return a request of BatchIngest for texts and URIs."""
    return BatchIngestRequest(
        items=[
            BatchIngestItem(text=item)
            if isinstance(item, IngestTextRequest)
            else BatchIngestItem(uri=item)
            for item in items
        ]
    )


def uri_artifact(uri: str) -> str:
    """Return an artifact's name for an address: host and path, with ":" for "/".

    A name that would be too long, or an address with a query, ends in a hash of the address.
    """
    parts = urlsplit(uri)
    path = unquote(parts.path, errors="replace").strip("/")
    name = "/".join(filter(None, (parts.netloc.rpartition("@")[2], path))) or uri
    name = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    name = name.replace("/", ":")
    if not parts.query and len(name) <= _MAX_NAME:
        return name
    mark = f"~{hashlib.sha256(uri.encode(errors='replace')).hexdigest()[:12]}"
    return name[: _MAX_NAME - len(mark)] + mark


def ingest_options(keywords: OptionKeywords) -> IngestOptions:
    """Return the options that keywords state.

    Raises:
        InvalidField: a mode is not known.
    """
    languages = keywords.get("ocr_languages", ())
    listed = [languages] if isinstance(languages, str) else languages
    return IngestOptions(
        request_id=keywords.get("request_id", ""),
        detached=keywords.get("detached", False),
        initialize_only=keywords.get("initialize_only", False),
        pdf_mode=IngestOptions.PdfMode.Value(
            _mode("pdf_mode", keywords.get("pdf_mode"), IngestOptions.PdfMode.keys())
        ),
        ocr=IngestOptions.OcrMode.Value(
            _mode("ocr_mode", keywords.get("ocr"), IngestOptions.OcrMode.keys())
        ),
        ocr_languages=[one for several in listed for one in several.split("+") if one],
        include_hidden=keywords.get("include_hidden", False),
    )


def _mode(enum: str, name: str | None, known: Sequence[str]) -> str:
    if name is None:
        return f"{enum.upper()}_UNSPECIFIED"
    full = f"{enum}_{name}".upper()
    if full not in known or full.endswith("_UNSPECIFIED"):
        names = [one.removeprefix(f"{enum.upper()}_").lower() for one in known[1:]]
        field = "pdf_mode" if enum == "pdf_mode" else "ocr"
        raise InvalidField(f"options.{field}", f"{name!r} is none of {', '.join(names)}")
    return full


def _refuse_unknown(function: str, unknown: set[str]) -> None:
    if unknown:
        raise TypeError(f"{function}() got an unexpected keyword argument {min(unknown)!r}")
