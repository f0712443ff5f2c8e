"""`treespan update`: an artifact's metadata, summary and file name, changed in place."""

from __future__ import annotations

import json

import click

from treespan.cli.connection import Connection, collection_option, json_option, pass_connection
from treespan.cli.metadata_pairs import metadata_of_pairs
from treespan.cli.plain import plain
from treespan.cli.screen import echo_json, one_line


@click.command()
@click.argument("artifact")
@collection_option
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of the metadata, as text; KEY:=VALUE takes JSON or a date. May be repeated.",
)
@click.option(
    "--unset",
    multiple=True,
    metavar="KEY",
    help="Remove a key of the metadata. May be repeated.",
)
@click.option("--file-name", metavar="NAME", help="Name of the file.")
@click.option("--summary", metavar="TEXT", help="Summary for routing.")
@json_option
@pass_connection
def update(
    connection: Connection,
    artifact: str,
    collection: str,
    pairs: tuple[str, ...],
    unset: tuple[str, ...],
    file_name: str | None,
    summary: str | None,
    as_json: bool,
) -> None:
    """Change metadata, summary or file name of ARTIFACT; nothing is read or embedded anew.

    Keys that are not named stay as they are.
    """
    if not pairs and not unset and file_name is None and summary is None:
        raise click.UsageError("nothing to change; give --set, --unset, --summary or --file-name")
    metadata = metadata_of_pairs("--set", pairs)
    both = sorted(metadata.keys() & set(unset))
    if both:
        raise click.UsageError(f"{both[0]!r} is given to --set and to --unset; give it to one")
    with connection.client() as client:
        answer = client.update_artifact(
            artifact,
            collection,
            file_name=file_name,
            summary=summary,
            metadata=metadata,
            remove=unset,
        )
    if as_json:
        echo_json(plain(answer))
        return
    click.echo(f"updated {one_line(artifact)}; its file is {one_line(answer.artifact.file_name)}")
    now = plain(answer.artifact)["metadata"]
    for key, value in now.items() if isinstance(now, dict) else ():
        click.echo(f"  {one_line(key)}: {one_line(json.dumps(value, ensure_ascii=False))}")
