"""`treespan tree`: an artifact's tree, drawn."""

from __future__ import annotations

import click

from treespan.cli.connection import Connection, collection_option, json_option, pass_connection
from treespan.cli.draw import draw_tree
from treespan.cli.plain import plain
from treespan.cli.screen import echo_json, screen


@click.command()
@click.argument("artifact")
@collection_option
@click.option(
    "--depth", type=click.IntRange(min=0), help="Draw no deeper than this; the root is 0."
)
@click.option(
    "--max-nodes",
    type=click.IntRange(min=1),
    default=500,
    show_default=True,
    help="Draw no more nodes than this.",
)
@json_option
@pass_connection
def tree(
    connection: Connection,
    artifact: str,
    collection: str,
    depth: int | None,
    max_nodes: int,
    as_json: bool,
) -> None:
    """Draw the tree of ARTIFACT.

    Numbers in brackets are tokens of a node's own text / of its whole subtree. With --json every
    node is written, one a line.
    """
    console = screen()
    with connection.client() as client:
        nodes = client.export_tree(artifact, collection)
        if as_json:
            for node in nodes:
                echo_json(plain(node))
            return
        for line in draw_tree(nodes, console.width, max_depth=depth, max_nodes=max_nodes):
            console.print(line, soft_wrap=True)
