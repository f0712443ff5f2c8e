"""`treespan ingest`: files, folders and addresses into a collection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from treespan.cli.connection import Connection, collection_option, json_option, pass_connection
from treespan.cli.files import Source, found
from treespan.cli.following import Follower, empty_folder_message
from treespan.cli.ingest_options import IngestOptions, folder_options, reading_options
from treespan.cli.ingest_preview import Preview
from treespan.cli.ingest_report import Report
from treespan.cli.interrupts import INTERRUPTED_EXIT_CODE, UnderWay, on_interrupt
from treespan.cli.mirror import Mirror, empty_folders, gone
from treespan.cli.plan import Plan, held_artifacts
from treespan.cli.removals import removals
from treespan.cli.uploads import Job, outcomes
from treespan.client import uri_artifact
from treespan.errors import CollectionNotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treespan.cli.files import Found
    from treespan.client import Client
    from treespan.v1.ingest_service_pb2 import Artifact


@click.command()
@click.argument("places", nargs=-1, required=True, metavar="PATH|URL...")
@collection_option
@reading_options
@folder_options
@json_option
@pass_connection
def ingest(
    connection: Connection, /, places: tuple[str, ...], collection: str, **given: Any
) -> None:
    """Ingest every PATH, a file or a folder with all that is in it, and what every URL names.

    A file's artifact is named after its path within the folder given, with ":" for "/". One that
    cannot be ingested is reported, and the rest is done all the same. What is there already is not
    sent. Hidden and temporary files of folders are passed over. A URL is fetched by the service,
    where its settings allow it.

    Ctrl-C cancels what is under way (exit code 130); the next run goes on from there.
    """
    options = IngestOptions.of(places, given)
    with connection.client() as client:
        if options.dry_run:
            _preview(client, collection, options)
            return
        _ensure_collection(client, collection)
        under_way = UnderWay(client)
        job = Job(client, collection, options.keywords, options.at_once, under_way)
        report = Report(as_json=options.as_json)
        with report, on_interrupt(under_way.stop):
            if options.watch:
                Follower(job, options, report).run()
            else:
                _once(job, options, report)
    if report.failed:
        raise click.exceptions.Exit(1)
    if under_way.stopped.is_set() and not options.watch:
        raise click.exceptions.Exit(INTERRUPTED_EXIT_CODE)


def _ensure_collection(client: Client, collection: str) -> None:
    try:
        client.get_collection(collection)
    except CollectionNotFound:
        client.create_collection(collection, exist_ok=True)
        click.echo(f"created the collection {collection!r}", err=True)


def _once(job: Job, options: IngestOptions, report: Report) -> None:
    """Ingest all, then take away what is gone, where that is wanted."""
    everything = _all_of(options)
    report.left_out(everything.left_out)
    held = _held(job.client, job.collection, everything.sources, all_of_it=options.delete)
    plan = Plan(held, options.keywords, options.again)
    with report.bars(len(everything.sources)) as bars:
        for outcome in outcomes(job, plan, everything.sources, bars):
            report.add(outcome)
    if options.delete:
        # After what is new, so that a file under another name brings nothing that is not there.
        for outcome in removals(job, _owned(held, options)):
            report.add(outcome)


def _preview(client: Client, collection: str, options: IngestOptions) -> None:
    """Say what would be done."""
    everything = _all_of(options)
    try:
        held = _held(client, collection, everything.sources, all_of_it=options.delete)
    except CollectionNotFound:
        held = {}
    plan = Plan(held, options.keywords, options.again)
    preview = Preview(as_json=options.as_json)
    for left_out in everything.left_out:
        preview.left_out(left_out)
    for step in map(plan.step, everything.sources):
        preview.step(step)
    for name in gone(_owned(held, options)) if options.delete else ():
        preview.deletion(name)
    preview.close()


def _all_of(options: IngestOptions) -> Found:
    """Return all that is meant: files of this machine, then addresses."""
    everything = found(options.paths, options.selection)
    everything.sources += [
        Source(Path(uri), uri_artifact(uri), "", uri=uri) for uri in dict.fromkeys(options.uris)
    ]
    if not everything.sources and not options.delete:
        raise click.UsageError(f"no files in {', '.join(map(str, options.paths))}")
    return everything


def _held(
    client: Client, collection: str, sources: Sequence[Source], *, all_of_it: bool
) -> dict[str, Artifact]:
    if all_of_it:
        return {known.artifact: known for known in client.list_artifacts(collection)}
    return held_artifacts(client, collection, sources)


def _owned(held: dict[str, Artifact], options: IngestOptions) -> dict[str, Path]:
    """Return the artifacts that are of the folders given, with their files."""
    owned = Mirror(options.folders).owned(held.values())
    for top in empty_folders(options.folders):
        if any(path.is_relative_to(top) for path in owned.values()):
            raise click.ClickException(empty_folder_message(top))
    return owned
