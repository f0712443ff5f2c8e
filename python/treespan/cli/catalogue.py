"""`treespan artifacts` and `treespan collections`: what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.text import Text

from treespan.cli.connection import Connection, collection_option, json_option, pass_connection
from treespan.cli.plain import plain
from treespan.cli.screen import echo_json, one_line, show, table
from treespan.cli.where_option import WHERE_HELP, where_option
from treespan.v1.ingest_service_pb2 import Artifact, Collection

if TYPE_CHECKING:
    from treespan.filters import Filter


@click.command(epilog=WHERE_HELP)
@collection_option
@where_option
@json_option
@pass_connection
def artifacts(connection: Connection, collection: str, where: Filter | None, as_json: bool) -> None:
    """List the artifacts of a collection; with --where those that are searchable and like this."""
    with connection.client() as client:
        found = client.list_artifacts(collection, where=where)
        if as_json:
            for artifact in found:
                echo_json(plain(artifact))
            return
        numbers = ("pages", "chunks", "tokens", "warnings")
        shown = table("artifact", "state", "type", "language", *numbers, numbers=numbers)
        for artifact in found:
            shown.add_row(*_artifact_row(artifact))
    if shown.row_count:
        show(shown)
    elif where is None:
        click.echo(f"collection {collection!r} is empty")
    else:
        click.echo(f"no artifact of collection {collection!r} is like this")


@click.command()
@json_option
@pass_connection
def collections(connection: Connection, as_json: bool) -> None:
    """List the collections, with their counts."""
    with connection.client() as client:
        # A list has no counts; each collection asked for by itself has.
        found = (client.get_collection(one.collection) for one in client.list_collections())
        if as_json:
            for collection in found:
                echo_json(plain(collection))
            return
        numbers = ("artifacts", "nodes", "vectors", "tokens", "chunk tokens")
        shown = table("collection", *numbers, "model", numbers=numbers)
        for collection in found:
            shown.add_row(*_collection_row(collection))
    if shown.row_count:
        show(shown)
    else:
        click.echo("there is no collection")


def _artifact_row(artifact: Artifact) -> tuple[Text, ...]:
    state = Artifact.State.Name(artifact.state).removeprefix("STATE_")
    return (
        Text(one_line(artifact.artifact)),
        Text(state, style="" if artifact.state == Artifact.STATE_POPULATED else "yellow"),
        Text(artifact.media_type),
        Text(one_line(artifact.language) or "-"),
        Text(f"{artifact.page_count:,}" if artifact.page_count else "-"),
        Text(f"{artifact.chunk_count:,}"),
        Text(f"{artifact.token_count:,}"),
        Text(f"{len(artifact.warnings):,}", style="yellow" if artifact.warnings else "dim"),
    )


def _collection_row(collection: Collection) -> tuple[Text, ...]:
    stats = collection.stats
    counts = (stats.artifacts, stats.nodes, stats.vectors, stats.tokens, collection.chunk_tokens)
    return (
        Text(one_line(collection.collection)),
        *(Text(f"{count:,}") for count in counts),
        Text(one_line(collection.embedding_model)),
    )
