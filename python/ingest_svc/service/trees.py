"""Calls about trees: of what is visible, and of what waits to be populated."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest_svc import messages
from ingest_svc.index_text import index_text
from treespan.errors import ArtifactBusy, ArtifactNotFound, ArtifactNotReady, NodeNotFound
from treespan.identity import check_name, parse_node_id
from treespan.node import Tree
from treespan.rpc import current_call
from treespan.store.records import ArtifactState, Content
from treespan.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ingest_svc.service.parts import Context, Parts
    from treespan.store.records import Draft, Tenant

_PAGE_BYTES = 900_000
# Reads of an artifact and its content that a replacement may come between.
_TRIES = 5


@dataclass(frozen=True, slots=True)
class _Held:
    """A version of an artifact and its tree."""

    artifact: str
    doc_id: str
    title: str
    tree: Tree


class TreeCalls:
    """Reads trees."""

    _parts: Parts

    async def GetNode(self, request: pb.GetNodeRequest, context: Context) -> pb.GetNodeResponse:
        """Return one node."""
        check_name("collection", request.collection)
        doc_id, position = parse_node_id("node_id", request.node_id)
        try:
            held = await self._by_doc_id(current_call().tenant, request.collection, doc_id)
        except ArtifactNotFound:
            raise NodeNotFound(request.node_id) from None
        if held.doc_id != doc_id or position >= len(held.tree):
            raise NodeNotFound(request.node_id)
        return await asyncio.to_thread(self._node, held, position)

    async def ExportTree(
        self, request: pb.ExportTreeRequest, context: Context
    ) -> AsyncIterator[pb.ExportTreeResponse]:
        """Stream a tree."""
        messages.checked_artifact(request.collection, request.artifact)
        held = await self._held(current_call().tenant, request.collection, request.artifact)
        page = pb.ExportTreeResponse()
        size = 0
        for node in messages.node_messages(held.tree, held.doc_id):
            size += node.ByteSize() + 8
            if page.nodes and size > _PAGE_BYTES:
                yield page
                page, size = pb.ExportTreeResponse(), node.ByteSize() + 8
            page.nodes.append(node)
        yield page

    def _node(self, held: _Held, position: int) -> pb.GetNodeResponse:
        embedder = self._parts.embedder
        return pb.GetNodeResponse(
            node=messages.node_message(held.tree, held.doc_id, position),
            artifact=held.artifact,
            indexed_text=index_text(
                held.tree, held.title, position, embedder.tokenizer.count, embedder.text_tokens
            ),
        )

    async def _by_doc_id(self, tenant: Tenant, collection: str, doc_id: str) -> _Held:
        """Return the version of an id, visible or waiting."""
        writer = self._parts.writer
        try:
            named = await asyncio.to_thread(writer.artifact_by_doc_id, tenant, collection, doc_id)
        except ArtifactNotFound:
            draft = await asyncio.to_thread(writer.draft_by_doc_id, tenant, collection, doc_id)
            return _held_draft(draft)
        return await self._held(tenant, collection, named.name)

    async def _held(self, tenant: Tenant, collection: str, name: str) -> _Held:
        """Return the visible version of an artifact; else the one that waits."""
        writer = self._parts.writer
        for _ in range(_TRIES):
            record = await asyncio.to_thread(writer.artifact, tenant, collection, name)
            try:
                if record.state is ArtifactState.POPULATED:
                    content = await asyncio.to_thread(
                        writer.content_by_id, tenant, record.content_id
                    )
                    return _Held(name, record.doc_id, content.title, Tree.unpack(content.tree))
                if record.has_draft:
                    return _held_draft(
                        await asyncio.to_thread(writer.draft, tenant, collection, name)
                    )
            except ArtifactNotFound:  # replaced or populated between the two reads
                continue
            raise ArtifactNotReady(
                name, f"artifact {name!r} is {record.state.name}; it has no tree yet"
            )
        raise ArtifactBusy(f"artifact {name!r} changes faster than it can be read; try again")


def _held_draft(draft: Draft) -> _Held:
    artifact = draft.artifact
    if not isinstance(artifact.content, Content):
        raise ValueError(f"the draft of artifact {artifact.name!r} holds no content")
    tree = Tree.unpack(artifact.content.tree)
    return _Held(artifact.name, artifact.doc_id, artifact.content.title, tree)
