"""Nodes as the API has them, from a drawing: two blanks a level, kind, own tokens, page, text."""

from __future__ import annotations

from treespan.v1.node_pb2 import Node, NodeKind


def tree(drawing: str) -> list[Node]:
    """Return the nodes of a drawing, such as "section 5 p3 Model"; ids are "n0", "n1", ..."""
    nodes: list[Node] = []
    above: list[Node] = []
    for line in drawing.strip("\n").splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        kind, tokens, *rest = line.split(maxsplit=2)
        text = rest[0] if rest else ""
        page = 0
        if text.startswith("p") and text[1:2].isdigit():
            stated, _, text = text.partition(" ")
            page = int(stated[1:])
        del above[depth:]
        node = Node(
            node_id=f"n{len(nodes)}",
            kind=NodeKind.Value(f"NODE_KIND_{kind.upper()}"),
            parent_id=above[-1].node_id if above else "",
            position=len(nodes),
            depth=depth,
            text=text,
            own_tokens=int(tokens),
            page_start=page,
            page_end=page,
        )
        above.append(node)
        nodes.append(node)
        for ancestor in above:
            ancestor.end = len(nodes)
            ancestor.subtree_tokens += node.own_tokens
    return nodes
