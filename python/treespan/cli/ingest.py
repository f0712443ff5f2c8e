"""`treespan ingest`: files and folders into a collection."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from treespan.cli.connection import Connection, collection_option, json_option, pass_connection
from treespan.cli.files import sources
from treespan.cli.ingest_report import Bars, outcome_json, outcome_lines, summary
from treespan.cli.metadata_pairs import metadata_of_pairs
from treespan.cli.screen import echo_json, screen, show
from treespan.cli.uploads import Job, Result, outcomes
from treespan.errors import CollectionNotFound

if TYPE_CHECKING:
    from treespan.cli.uploads import Outcome
    from treespan.client import Client


@click.command()
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    metavar="PATH...",
    type=click.Path(exists=True, path_type=Path),
)
@collection_option
@click.option(
    "--metadata",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="Metadata of every file, as text; KEY:=VALUE takes JSON or a date. May be repeated.",
)
@click.option(
    "--password",
    envvar="TREESPAN_PASSWORD",
    show_envvar=True,
    help="Password of encrypted files; in the environment other users do not see it.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 64),
    default=min(4, os.cpu_count() or 1),
    show_default=True,
    help="Files under way at once.",
)
@json_option
@pass_connection
def ingest(
    connection: Connection,
    paths: tuple[Path, ...],
    collection: str,
    pairs: tuple[str, ...],
    password: str | None,
    jobs: int,
    as_json: bool,
) -> None:
    """Ingest every PATH: a file, or a folder with all that is in it, hidden files aside.

    A file's artifact is named after its path within the folder given, with ":" for "/". One that
    cannot be ingested is reported, and the rest is done all the same.
    """
    metadata = metadata_of_pairs("--metadata", pairs)
    with connection.client() as client:
        _ensure_collection(client, collection)
        failed = _run(Job(client, collection, metadata, password, jobs), paths, as_json)
    if failed:
        raise click.exceptions.Exit(1)


def _ensure_collection(client: Client, collection: str) -> None:
    try:
        client.get_collection(collection)
    except CollectionNotFound:
        client.create_collection(collection, exist_ok=True)
        click.echo(f"created the collection {collection!r}", err=True)


def _run(job: Job, paths: tuple[Path, ...], as_json: bool) -> bool:
    """Ingest all, report, and return whether any file failed."""
    found = sources(paths)
    if not found:
        raise click.UsageError(f"no files in {', '.join(map(str, paths))}")
    console = screen()
    started = time.monotonic()
    ended: list[Outcome] = []
    with Bars(console, len(found), shown=not as_json) as bars:
        for outcome in outcomes(job, found, bars):
            ended.append(outcome)
            if as_json:
                echo_json(outcome_json(outcome))
                continue
            for line in outcome_lines(outcome):
                console.print(line, soft_wrap=True)
    if not as_json:
        console.print()
        show(summary(ended, time.monotonic() - started))
    return any(outcome.result is Result.FAILED for outcome in ended)
