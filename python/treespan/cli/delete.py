"""`treespan delete`: artifacts taken out of a collection, by name or by what they are like."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from treespan.cli.connection import Connection, collection_option, json_option, pass_connection
from treespan.cli.screen import counted, echo_json, printable
from treespan.cli.where_option import WHERE_HELP, where_option
from treespan.cli.where_text import text_of

if TYPE_CHECKING:
    from treespan.client import Client
    from treespan.filters import Filter

# An answer names no more artifacts than this; asked for as many, it names all.
_AT_ONCE: Final = 1_000
# Artifacts that a question shows.
_SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class _Deleted:
    """What was deleted, or would be."""

    artifacts: tuple[str, ...]
    """By name; of more than 1,000 that a filter lets through the first."""
    count: int
    seq: int
    """Sequence number of the last change; 0 where nothing changed."""
    missing: tuple[str, ...] = ()
    """Artifacts asked for that do not exist."""


@click.command(epilog=WHERE_HELP)
@click.argument("artifacts", nargs=-1, metavar="[ARTIFACT]...")
@collection_option
@where_option
@click.option("--dry-run", is_flag=True, help="Say what would be deleted, and delete nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before deleting by --where.")
@json_option
@pass_connection
def delete(
    connection: Connection,
    artifacts: tuple[str, ...],
    collection: str,
    where: Filter | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Delete every ARTIFACT, or all that --where describes, and take them out of all answers.

    An ARTIFACT that does not exist is reported, and the others are deleted all the same. Deleting
    by --where asks first; where there is no terminal to ask on, it needs --yes.
    """
    if bool(artifacts) == (where is not None):
        raise click.UsageError("give either artifacts or --where")
    with connection.client() as client:
        if where is None:
            deleted = _by_name(client, collection, artifacts, dry_run=dry_run)
        elif yes or dry_run or _is_confirmed(client, collection, where):
            deleted = _by_filter(client, collection, where, dry_run=dry_run)
        else:
            deleted = _Deleted((), 0, 0)
    _report(deleted, dry_run=dry_run, as_json=as_json)
    if deleted.missing:
        raise click.exceptions.Exit(1)


def _by_name(client: Client, collection: str, names: tuple[str, ...], *, dry_run: bool) -> _Deleted:
    asked = list(dict.fromkeys(names))
    found: list[str] = []
    seq = 0
    for start in range(0, len(asked), _AT_ONCE):
        answer = client.delete_artifacts(
            collection,
            names=asked[start : start + _AT_ONCE],
            validate_only=dry_run,
            missing_ok=True,
        )
        found += answer.artifacts
        seq = answer.seq or seq
    there = set(found)
    missing = tuple(name for name in asked if name not in there)
    return _Deleted(tuple(found), len(found), seq, missing)


def _by_filter(client: Client, collection: str, where: Filter, *, dry_run: bool) -> _Deleted:
    answer = client.delete_artifacts(collection, where=where, validate_only=dry_run)
    return _Deleted(tuple(answer.artifacts), answer.deleted_artifacts, answer.seq)


def _is_confirmed(client: Client, collection: str, where: Filter) -> bool:
    """Show what would be deleted and ask; False where there is nothing to delete.

    Raises:
        click.UsageError: there is no terminal to ask on.
        click.Abort: the answer is no.
    """
    if not _is_terminal():
        raise click.UsageError(
            "deleting by --where asks first, and here is no terminal to ask on; "
            "give --yes, or --dry-run to see what would be deleted"
        )
    found = _by_filter(client, collection, where, dry_run=True)
    click.echo(f"where {printable(text_of(where))}:", err=True)
    for line in _named(found.artifacts[:_SHOWN], found.count):
        click.echo(f"  {line}", err=True)
    if not found.count:
        return False
    question = f"Delete {counted(found.count, 'artifact')} of {printable(collection)!r}?"
    return click.confirm(question, abort=True, err=True)


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def _report(deleted: _Deleted, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        echo_json(
            {
                "artifacts": list(deleted.artifacts),
                "deleted_artifacts": deleted.count,
                "seq": deleted.seq,
                "missing": list(deleted.missing),
                "dry_run": dry_run,
            }
        )
        return
    said = "would delete" if dry_run else "deleted"
    for line in _named(deleted.artifacts, deleted.count):
        click.echo(f"{said} {line}")
    for name in deleted.missing:
        click.echo(f"Error: there is no artifact {name!r}", err=True)


def _named(names: tuple[str, ...], count: int) -> list[str]:
    """Return the names, and how many more there are, or that there are none."""
    lines = [printable(name) for name in names]
    if count > len(names):
        lines.append(f"{counted(count - len(names), 'artifact')} more")
    return lines or ["nothing"]
