"""`treespan search`: every hit with the context around it."""

from __future__ import annotations

import click

from treespan.cli.connection import Connection, collection_option, json_option, pass_connection
from treespan.cli.draw_answer import answer_summary, draw_hit
from treespan.cli.plain import plain
from treespan.cli.query_options import query_options
from treespan.cli.screen import echo_json, screen
from treespan.cli.where_option import WHERE_HELP
from treespan.client import SearchKeywords


@click.command(epilog=WHERE_HELP)
@click.argument("question")
@collection_option
@query_options
@json_option
@pass_connection
def search(
    connection: Connection,
    question: str,
    collection: str,
    keywords: SearchKeywords,
    as_json: bool,
) -> None:
    """Search for QUESTION and show every hit (▶) with the context around it."""
    with connection.client() as client:
        if as_json:
            echo_json(plain(client.search(question, collection, **keywords)), indent=2)
            return
        keywords["nodes"] = True
        answer = client.search(question, collection, **keywords)
    console = screen()
    for rank, chunk in enumerate(answer.chunks, 1):
        for line in draw_hit(rank, chunk, console.width):
            console.print(line, soft_wrap=True)
        console.print()
    console.print(answer_summary(answer), style="dim")
