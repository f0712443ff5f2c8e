"""The Python client of both services: `Client` for threads, `AsyncClient` for asyncio.

    from treespan.client import Client

    with Client() as client:
        client.create_collection("papers", exist_ok=True)
        written = client.ingest_file("attention.pdf", "papers", metadata={"year": 2017})
        answer = client.search("Why are the dot products scaled?", "papers", min_seq=written.seq)
        for chunk in answer.chunks:
            ...  # chunk.text, chunk.previous_texts, chunk.next_texts, chunk.page_start

A long ingest may outlive its call, and a restart of the server:

        sent = client.ingest_file("scans.pdf", "papers", detached=True, ocr="auto")
        done = client.wait_operation(sent.operation, progress=print)

Answers are the generated messages of `treespan.v1`, typed and documented there; metadata goes in as
a dict of Python values and comes back as one by `metadata_of`; `where=` takes a filter, written as
`(key("year") >= 2024) & key("tags").contains("climate")`. Failures are the classes of
`treespan.errors`, chosen by the server's machine-readable reason.
"""

from treespan.client.blocking import Client
from treespan.client.coroutines import AsyncClient
from treespan.client.filter_message import filter_message
from treespan.client.ingest_requests import (
    FileKeywords,
    TextKeywords,
    UriKeywords,
    text_request,
    uri_artifact,
    uri_request,
)
from treespan.client.metadata import MetadataInput, MetadataOutput, metadata_of
from treespan.client.operations import State, error_of_operation, has_ended
from treespan.client.requests import ContextKeywords, Query, SearchKeywords, search_request
from treespan.client.where import Key, Operand, Where, WhereInput, key

__all__ = [
    "AsyncClient",
    "Client",
    "ContextKeywords",
    "FileKeywords",
    "Key",
    "MetadataInput",
    "MetadataOutput",
    "Operand",
    "Query",
    "SearchKeywords",
    "State",
    "TextKeywords",
    "UriKeywords",
    "Where",
    "WhereInput",
    "error_of_operation",
    "filter_message",
    "has_ended",
    "key",
    "metadata_of",
    "search_request",
    "text_request",
    "uri_artifact",
    "uri_request",
]
