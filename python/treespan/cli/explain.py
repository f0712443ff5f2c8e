"""`treespan explain`: how hits were found and their contexts grown, drawn on the trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from treespan.cli.connection import Connection, collection_option, json_option, pass_connection
from treespan.cli.draw import LEGEND, draw_marked
from treespan.cli.draw_answer import (
    answer_summary,
    expansion_lines,
    expansion_marks,
    hit_title,
    plan_lines,
)
from treespan.cli.plain import plain
from treespan.cli.query_options import query_options
from treespan.cli.screen import echo_json, screen
from treespan.cli.where_option import WHERE_HELP
from treespan.client import SearchKeywords
from treespan.errors import ArtifactNotReady

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from treespan.v1.chunk_pb2 import Chunk
    from treespan.v1.node_pb2 import Node


@click.command(epilog=WHERE_HELP)
@click.argument("question")
@collection_option
@query_options
@json_option
@pass_connection
def explain(
    connection: Connection,
    question: str,
    collection: str,
    keywords: SearchKeywords,
    as_json: bool,
) -> None:
    """Search for QUESTION and draw how each hit's context was grown.

    Each hit is drawn inside its document's tree: * the hit, + what was picked, · what was looked at
    and left out, with the tokens that it would have cost and the budget there was. Numbers in
    brackets are tokens of a node's own text / of its whole subtree.
    """
    console = screen()
    with connection.client() as client:
        explained = client.explain(question, collection, **keywords)
        if as_json:
            echo_json(plain(explained), indent=2)
            return
        for line in plan_lines(explained.plan):
            console.print(line)
        console.print(answer_summary(explained.response))
        console.print(LEGEND, style="dim")
        trees: dict[str, list[Node]] = {}
        for rank, chunk in enumerate(explained.response.chunks, 1):
            if chunk.artifact not in trees:
                trees[chunk.artifact] = list(client.export_tree(chunk.artifact, collection))
            _show(console, rank, chunk, trees[chunk.artifact])


def _show(console: Console, rank: int, chunk: Chunk, nodes: Sequence[Node]) -> None:
    console.print()
    console.print(hit_title(rank, chunk), soft_wrap=True)
    if chunk.abs_idx >= len(nodes) or nodes[chunk.abs_idx].node_id != chunk.node_id:
        raise ArtifactNotReady(
            chunk.artifact, f"artifact {chunk.artifact!r} was replaced meanwhile; ask again"
        )
    for line in expansion_lines(chunk.expansion):
        console.print(f"   {line}")
    for drawn in draw_marked(nodes, expansion_marks(chunk, nodes), console.width - 3):
        console.print("   ", drawn, sep="", soft_wrap=True)
