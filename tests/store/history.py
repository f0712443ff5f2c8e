"""A short history of a store, in which everything happens that a schema must keep apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from store import samples
from store.samples import ACME, GLOBEX
from treespan.store.records import Content


def write(store: Any, schema: int) -> None:
    """Write the history into an empty store, as a schema could keep it.

    Args:
        store: The store.
        schema: 1 had no languages and cells, 2 nothing that files state and no summaries.
    """

    def content(version: int) -> Content:
        whole = replace(samples.content(version), file_metadata=b"", summary="", counts=())
        return replace(whole, language="", cells=()) if schema == 1 else whole

    for name, tenant in (("papers", ACME), ("laws", ACME), ("papers", GLOBEX)):
        store.create_collection(samples.collection(name, tenant))
    store.commit_artifact(samples.new_artifact("a", content(1)))
    store.commit_artifact(samples.new_artifact("b", content(1), collection="laws"))
    store.commit_artifact(samples.new_artifact("a", content(1), tenant=GLOBEX))
    store.update_collection(samples.collection(display_name="Papers", chunk_tokens=64))
    store.commit_artifact(samples.new_artifact("a", content(2)))
    # Its name comes again: what was created then is not what is there now.
    store.delete_collection(ACME, "laws", force=True)
    store.create_collection(samples.collection("laws"))
    store.update_collection(samples.collection("laws", display_name="Laws"))
    store.commit_artifact(samples.new_artifact("c", content(3), collection="laws"))
    store.commit_artifact(samples.new_artifact("d", content(3).content_id))
    store.delete_artifact(ACME, "papers", "d")
    store.commit_artifact(samples.new_artifact("d", content(4)))
    store.reserve_artifact(samples.reserved("e"))
    again = samples.new_artifact("a", content(2).content_id, note=" again")
    store.commit_artifact(replace(again, summary="", source_uri=""))
    store.commit_artifact(samples.new_artifact("f", content(2).content_id, collection="laws"))
