"""`treespan ingest`: files and folders into a collection."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from treespan.cli.connection import Connection, collection_option, json_option
from treespan.cli.files import sources
from treespan.cli.ingest_report import Silent, Bars, outcome_json, outcome_lines, summary
from treespan.cli.screen import echo_json, notices, screen
from treespan.cli.uploads import Job, Result, outcomes
from treespan.errors import CollectionNotFound

if TYPE_CHECKING:
    from treespan.client import Client, MetadataInput


@click.command()
@click.argument(
    "paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(exists=True, path_type=Path)
)
@collection_option
@click.option(
    "--metadata",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="Metadata of every file, as text; KEY:=VALUE takes a JSON value. May be repeated.",
)
@click.option(
    "--password",
    envvar="TREESPAN_PASSWORD",
    show_envvar=True,
    help="Password of encrypted files; better given in the environment, where no other user sees it.",
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
@click.pass_context
def ingest(
    ctx: click.Context,
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
    metadata = _metadata(pairs)
    with ctx.find_object(Connection).client() as client:
        _ensure_collection(client, collection)
        failed = _run(Job(client, collection, metadata, password, jobs), paths, as_json)
    if failed:
        ctx.exit(1)
