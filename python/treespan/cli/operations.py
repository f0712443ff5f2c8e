"""`treespan operations`: the ingests under way and those that have ended."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Final

import click
from rich.text import Text

from treespan.cli.bars import amount
from treespan.cli.connection import Connection, json_option, pass_connection
from treespan.cli.interrupts import INTERRUPTED_EXIT_CODE
from treespan.cli.plain import plain
from treespan.cli.screen import echo_json, one_line, screen, show, table
from treespan.client import has_ended
from treespan.errors import TreespanError
from treespan.v1.ingest_service_pb2 import Operation, Progress

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp

    from treespan.client import State

_STATES: Final = ("queued", "running", "succeeded", "failed", "cancelled")
_STYLES: Final = {
    Operation.STATE_SUCCEEDED: "green",
    Operation.STATE_FAILED: "bold red",
    Operation.STATE_CANCELLED: "yellow",
}


@click.group(invoke_without_command=True)
@click.pass_context
def operations(ctx: click.Context) -> None:
    """Show ingests under way and ended, watch and cancel them; without a command, list them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_them, collection="", states=(), limit=100, as_json=False)


@operations.command("list")
@click.option("-c", "--collection", default="", metavar="NAME", help="Only of this collection.")
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice(_STATES),
    help="Only in this state. May be repeated.",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    metavar="NUMBER",
    help="Operations to show, the newest first.",
)
@json_option
@pass_connection
def list_them(
    connection: Connection, collection: str, states: tuple[State, ...], limit: int, as_json: bool
) -> None:
    """List operations, the newest first."""
    shown = table("operation", "kind", "state", "collection", "artifact", "since", "so far")
    with connection.client() as client:
        found = client.list_operations(collection, states=states)
        for _, operation in zip(range(limit), found, strict=False):
            if as_json:
                echo_json(plain(operation))
            else:
                shown.add_row(*_row(operation))
    if shown.row_count:
        show(shown)
    elif not as_json:
        click.echo("there is no such operation" if collection or states else "no operations")


@operations.command("show")
@click.argument("operation")
@json_option
@pass_connection
def show_one(connection: Connection, operation: str, as_json: bool) -> None:
    """Show OPERATION: where it stands, what it counted, why it failed."""
    with connection.client() as client:
        known = client.get_operation(operation)
    if as_json:
        echo_json(plain(known), indent=2)
        return
    for name, text in _facts(known).items():
        screen().print(Text.assemble((f"{name:<12}", "bold"), one_line(text)), soft_wrap=True)
    for warning in known.warnings:
        line = f"    ! {warning.kind}: {one_line(warning.message)}"
        screen().print(Text(line, style="yellow"), soft_wrap=True)


@operations.command("watch")
@click.argument("operation")
@json_option
@pass_connection
def watch_one(connection: Connection, operation: str, as_json: bool) -> None:
    """Follow OPERATION to its end, over restarts of the service; exit code 1 where it fails.

    Ctrl-C ends the watching, not the operation.
    """

    def told(known: Operation) -> None:
        if as_json:
            echo_json(plain(known))
        else:
            screen().print(Text(_line(known)), soft_wrap=True)

    with connection.client() as client:
        try:
            client.wait_operation(operation, progress=told)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED_EXIT_CODE) from None
        except TreespanError:
            if not has_ended(client.get_operation(operation)):
                raise
            # Its last state has told why.
            raise click.exceptions.Exit(1) from None


@operations.command("cancel")
@click.argument("operations", nargs=-1, required=True, metavar="OPERATION...")
@pass_connection
def cancel_them(connection: Connection, operations: tuple[str, ...]) -> None:
    """Stop every OPERATION; nothing of it is left. One that has ended stays as it is."""
    failed = False
    with connection.client() as client:
        for operation in operations:
            try:
                known = client.cancel_operation(operation)
            except TreespanError as error:
                click.echo(f"{one_line(operation)}: {error.message}", err=True)
                failed = True
                continue
            click.echo(f"{known.operation}  {_state(known)}  {one_line(known.artifact)}")
    if failed:
        raise click.exceptions.Exit(1)


def _row(operation: Operation) -> tuple[Text, ...]:
    return (
        Text(operation.operation),
        Text(Operation.Kind.Name(operation.kind).removeprefix("KIND_").lower().replace("_", " ")),
        Text(_state(operation), style=_STYLES.get(operation.state, "cyan")),
        Text(one_line(operation.collection)),
        Text(one_line(operation.artifact)),
        Text(_time(operation.create_time)),
        Text(one_line(_so_far(operation))),
    )


def _facts(operation: Operation) -> dict[str, str]:
    facts = {
        "operation": operation.operation,
        "kind": Operation.Kind.Name(operation.kind).removeprefix("KIND_").lower().replace("_", " "),
        "state": _state(operation),
        "collection": operation.collection,
        "artifact": operation.artifact,
        "request id": operation.request_id,
        "since": _time(operation.create_time),
        "ended": _time(operation.end_time) if operation.HasField("end_time") else "",
        "so far": _so_far(operation),
        "pages": f"{operation.page_count:,}" if operation.page_count else "",
        "nodes": f"{operation.node_count:,}" if operation.node_count else "",
        "chunks": f"{operation.chunk_count:,}" if operation.chunk_count else "",
        "seq": str(operation.seq) if operation.seq else "",
    }
    counts = {name: f"{count:,}" for name, count in sorted(operation.counts.items())}
    return {name: text for name, text in (facts | counts).items() if text}


def _line(operation: Operation) -> str:
    return "  ".join(
        filter(
            None, (_state(operation), one_line(operation.artifact), one_line(_so_far(operation)))
        )
    )


def _state(operation: Operation) -> str:
    return Operation.State.Name(operation.state).removeprefix("STATE_").lower()


def _so_far(operation: Operation) -> str:
    """Return how far it is, or how it ended."""
    if operation.HasField("error"):
        return f"{operation.error.reason}: {operation.error.message}"
    if operation.HasField("progress"):
        stage = Progress.Stage.Name(operation.progress.stage).removeprefix("STAGE_").lower()
        return " ".join(filter(None, (stage, amount(operation.progress))))
    return "already there" if operation.already_ingested else ""


def _time(stamp: Timestamp) -> str:
    """Return an instant in the machine's own time, to the second."""
    local = stamp.ToDatetime(tzinfo=UTC).astimezone()
    return local.isoformat(" ", "seconds")[:19]
