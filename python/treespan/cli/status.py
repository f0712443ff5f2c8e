"""`treespan status`: what both services are, hold and allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import click
from rich.text import Text

from treespan.cli.connection import Connection, json_option, pass_connection
from treespan.cli.plain import plain
from treespan.cli.screen import counted, echo_json, megabytes, one_line, show, table
from treespan.errors import TreespanError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from treespan.cli.plain import Json
    from treespan.client import Client
    from treespan.v1.search_service_pb2 import CollectionInfo, GetServerInfoResponse


class _Health(NamedTuple):
    """Whether a service is ready, and what it says where it is not."""

    address: str
    ready: bool
    said: str


@click.command()
@json_option
@pass_connection
def status(connection: Connection, as_json: bool) -> None:
    """Say what both services are, hold and allow; exit code 2 where one is not ready."""
    with connection.client() as client:
        ingest = _health(client, "ingest", client.ingest_address)
        search = _health(client, "search", client.search_address)
        info = client.server_info() if search.ready else None
    if as_json:
        echo_json(_as_json(ingest, search, info), indent=2)
    else:
        _show(ingest, search, info)
    if not (ingest.ready and search.ready):
        raise click.exceptions.Exit(2)


def _health(client: Client, service: Literal["ingest", "search"], address: str) -> _Health:
    try:
        ready = client.is_serving(service)
    except TreespanError as error:
        return _Health(address, ready=False, said=error.message)
    return _Health(address, ready, "ready" if ready else "not ready")


def _as_json(ingest: _Health, search: _Health, info: GetServerInfoResponse | None) -> Json:
    return {
        "ingest": {"address": ingest.address, "ready": ingest.ready, "said": ingest.said},
        "search": {"address": search.address, "ready": search.ready, "said": search.said},
        "server_info": plain(info) if info else None,
    }


def _show(ingest: _Health, search: _Health, info: GetServerInfoResponse | None) -> None:
    facts = table("", "")
    facts.show_header = False
    for name, health in (("ingest", ingest), ("search", search)):
        said = Text(health.said, style="green" if health.ready else "bold red")
        facts.add_row(name, Text.assemble(f"{health.address}  ", said))
    for name, value in _facts(info) if info else ():
        facts.add_row(name, Text(one_line(value)))
    show(facts)
    if info and info.collections:
        click.echo()
        numbers = ("documents", "vectors", "sealed", "segments", "memory")
        shown = table("collection", *numbers, numbers=numbers)
        for collection in info.collections:
            shown.add_row(*_collection_row(collection))
        show(shown)


def _facts(info: GetServerInfoResponse) -> Iterator[tuple[str, str]]:
    limits = info.limits
    yield "version", info.version
    yield "up", str(info.uptime.ToTimedelta()).split(".")[0]
    yield "model", f"{info.embedding_model}, {info.dimension} dimensions"
    yield "store", info.store
    yield "changes", f"{info.applied_seq:,} of {info.store_seq:,} applied"
    yield "lag", counted(info.lag, "change")
    memory = sum(collection.memory_bytes for collection in info.collections)
    yield "memory", f"{megabytes(memory)} of vectors and graphs"
    yield "processor", info.simd
    yield (
        "limits",
        f"{limits.limit:,} hits a search, {limits.batch:,} searches a batch, "
        f"{limits.concurrency:,} at once, {limits.message_bytes:,} bytes a message",
    )
    yield "budget", f"{limits.token_budget:,} tokens a hit unless asked otherwise"


def _collection_row(collection: CollectionInfo) -> tuple[Text, ...]:
    counts = (collection.documents, collection.rows, collection.sealed_rows, collection.segments)
    return (
        Text(one_line(collection.collection)),
        *(Text(f"{count:,}") for count in counts),
        Text(megabytes(collection.memory_bytes)),
    )
