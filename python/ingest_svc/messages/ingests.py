"""Requests that ingest or populate, checked and unpacked."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from ingest_svc.messages.checks import (
    checked_artifact,
    checked_file_name,
    checked_request_id,
    checked_source_uri,
    checked_summary,
    packed_metadata,
    read_options,
)
from ingest_svc.operations import ArtifactKey
from ingest_svc.operations.request import Kept, Wanted
from treespan.errors import InvalidField
from treespan.store.records import OperationKind
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from ingest_svc.readers.source import ReadOptions
    from treespan.store.records import Tenant

Request: TypeAlias = (
    pb.IngestFileHeader | pb.IngestTextRequest | pb.IngestUriRequest | pb.PopulateArtifactRequest
)

MOST_ITEMS: Final = 256
_SHA256: Final = re.compile(r"[0-9a-fA-F]{64}")
_MOST_TEXT_BYTES: Final = 1 << 20
_TEXT_TYPES: Final = ("text/plain", "text/markdown", "text/html")
_WITH_PASSWORD: Final = (pb.IngestFileHeader, pb.IngestUriRequest)
_KINDS: Final = {
    pb.IngestFileHeader: OperationKind.INGEST_FILE,
    pb.IngestTextRequest: OperationKind.INGEST_TEXT,
    pb.IngestUriRequest: OperationKind.INGEST_URI,
    pb.PopulateArtifactRequest: OperationKind.POPULATE_ARTIFACT,
}


def file_wanted(header: pb.IngestFileHeader, tenant: Tenant, defaults: ReadOptions) -> Wanted:
    """Return what the header of an upload asks for.

    Raises:
        InvalidArgument: a value is not allowed.
    """
    wanted = _wanted(header, tenant, "header.")
    if header.content_sha256 and not _SHA256.fullmatch(header.content_sha256):
        raise InvalidField(
            "header.content_sha256",
            f"is {header.content_sha256[:70]!r}; it has 64 hexadecimal digits",
        )
    kept = Kept(
        file_name=checked_file_name("header.file_name", header.file_name, header.artifact),
        metadata=packed_metadata(header.metadata),
        options=read_options(header.options, defaults, "header.options."),
        summary=checked_summary("header.summary", header.summary),
        source_uri=checked_source_uri("header.source_uri", header.source_uri),
        initialize_only=header.options.initialize_only,
        detached=header.options.detached,
        has_password=bool(header.password),
    )
    return replace(wanted, kept=kept, password=header.password)


def text_wanted(request: pb.IngestTextRequest, tenant: Tenant, defaults: ReadOptions) -> Wanted:
    """Return what IngestText asks for.

    Raises:
        InvalidArgument: a value is not allowed.
    """
    wanted = _wanted(request, tenant)
    media_type = request.media_type or _TEXT_TYPES[0]
    if media_type not in _TEXT_TYPES:
        known = ", ".join(_TEXT_TYPES)
        raise InvalidField("media_type", f"is {media_type[:100]!r}; it is one of {known}")
    if not request.text.strip():
        raise InvalidField("text", "is empty; give at least one word")
    if (size := len(request.text.encode())) > _MOST_TEXT_BYTES:
        raise InvalidField("text", f"has {size:,} bytes; use IngestFile above 1 MiB")
    kept = Kept(
        file_name=checked_file_name("file_name", request.file_name, request.artifact),
        metadata=packed_metadata(request.metadata),
        media_type=media_type,
        options=read_options(request.options, defaults, "options."),
        summary=checked_summary("summary", request.summary),
        source_uri=checked_source_uri("source_uri", request.source_uri),
        initialize_only=request.options.initialize_only,
        detached=request.options.detached,
    )
    return replace(wanted, kept=kept)


def uri_wanted(request: pb.IngestUriRequest, tenant: Tenant, defaults: ReadOptions) -> Wanted:
    """Return what IngestUri asks for; whether its URI is allowed is not looked at.

    Raises:
        InvalidArgument: a value is not allowed.
    """
    wanted = _wanted(request, tenant)
    if not request.uri:
        raise InvalidField("uri", "is empty; give an address, or the file:// URI of a file")
    checked_file_name("file_name", request.file_name, request.artifact)
    kept = Kept(
        file_name=request.file_name,
        metadata=packed_metadata(request.metadata),
        options=read_options(request.options, defaults, "options."),
        summary=checked_summary("summary", request.summary),
        source_uri=checked_source_uri("uri", request.uri),
        initialize_only=request.options.initialize_only,
        detached=request.options.detached,
        has_password=bool(request.password),
    )
    return replace(wanted, kept=kept, password=request.password)


def populate_wanted(request: pb.PopulateArtifactRequest, tenant: Tenant) -> Wanted:
    """Return what PopulateArtifact asks for.

    Raises:
        InvalidArgument: a value is not allowed.
    """
    return replace(_wanted(request, tenant), kept=Kept(detached=request.options.detached))


def request_digest(request: Request) -> str:
    """Return what tells a request from others of the same `request_id`.

    All of it counts but that id and how it wants to be answered. A password counts by a hash that
    costs a guesser time and memory, as it must not be told from what is kept.
    """
    bare = _without_password(request)
    bare.options.ClearField("request_id")
    bare.options.ClearField("detached")
    packed = bare.SerializeToString(deterministic=True)
    digest = hashlib.sha256(f"{_KINDS[type(request)].name}\n".encode() + packed)
    if password := _password(request):
        secret = password.encode("utf-8", "surrogatepass")
        digest.update(hashlib.scrypt(secret, salt=digest.digest(), n=1 << 14, r=8, p=1))
    return digest.hexdigest()


def _password(request: Request) -> str:
    return request.password if isinstance(request, _WITH_PASSWORD) else ""


def _without_password(request: Request) -> Request:
    """Return a copy."""
    copy: Request = type(request).FromString(request.SerializeToString())
    if isinstance(copy, _WITH_PASSWORD):
        copy.ClearField("password")
    return copy


def check_batch(request: pb.BatchIngestRequest) -> None:
    """Check the size of a batch."""
    if not 1 <= len(request.items) <= MOST_ITEMS:
        raise InvalidField("items", f"has {len(request.items)}; 1 to {MOST_ITEMS} are allowed")


def _wanted(request: Request, tenant: Tenant, prefix: str = "") -> Wanted:
    checked_artifact(request.collection, request.artifact, prefix)
    return Wanted(
        kind=_KINDS[type(request)],
        key=ArtifactKey(tenant, request.collection, request.artifact),
        request_id=checked_request_id(f"{prefix}options.request_id", request.options.request_id),
    )
