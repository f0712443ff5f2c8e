"""`treespan backup`, `restore`, `check`, `vacuum` and `stats`: the store itself, without a service.

All but restore and repair may run while both services are at work.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from treespan._core import file_hash
from treespan.cli.connection import json_option
from treespan.cli.screen import counted, echo_json, notices, one_line, screen, show, table
from treespan.config import ConfigError, load
from treespan.store import back_up, check_store, repair, store_stats
from treespan.store import restore as restore_store
from treespan.store import vacuum as vacuum_store
from treespan.store.upkeep.cache_files import FOLDER, Cache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from treespan.store.upkeep.reports import (
        CheckReport,
        CollectionStats,
        Finding,
        Progress,
        Snapshot,
        StoreStats,
    )

_store_option = click.option(
    "--store", metavar="ADDRESS", help="Store to work on.  [default: the setting store.path]"
)
_PLACE: Final = click.Path(path_type=Path)
_COUNTS: Final = ("artifacts", "contents", "shared", "nodes", "vectors", "tokens", "keys")


@click.command()
@click.argument("target", type=_PLACE)
@click.option("--force", is_flag=True, help="Overwrite a file of that name.")
@_store_option
@json_option
def backup(target: Path, force: bool, store: str | None, as_json: bool) -> None:
    """Copy one state of the store into the file TARGET, while everything goes on.

    The file appears when it is whole and checked. It holds everything up to the change printed.
    """
    address, _ = _places(store)
    with _progress() as progress:
        made = back_up(address, target, force=force, progress=progress)
    if as_json:
        echo_json(asdict(made), indent=2)
        return
    click.echo(f"{made.path}: {_megabytes(made.size_bytes)}, {_said(made.snapshot)}")


@click.command()
@click.argument("source", type=_PLACE)
@click.option("--force", is_flag=True, help="Replace a store that is not empty; it is kept aside.")
@_store_option
@json_option
def restore(source: Path, force: bool, store: str | None, as_json: bool) -> None:
    """Put the backup SOURCE in the place of the store.

    Ingest must be stopped; search goes on, and answers from the restored store once it stands.
    """
    address, _ = _places(store)
    with _progress() as progress:
        done = restore_store(address, source, force=force, progress=progress)
    if as_json:
        echo_json(asdict(done), indent=2)
        return
    click.echo(f"{done.store} holds {_said(done.snapshot)}")
    if done.kept:
        click.echo(f"the former store is kept as {done.kept}")


@click.command()
@click.option("--full", is_flag=True, help="Compare every index and every word too.")
@click.option("--repair", "mend", is_flag=True, help="Build anew what can be; stop ingest first.")
@_store_option
@json_option
def check(full: bool, mend: bool, store: str | None, as_json: bool) -> None:
    """Compare everything in the store with what it must be; exit code 1 where something is wrong.

    Changes nothing without --repair, which rebuilds what is derived: filters, full text, the cache
    of search. Documents themselves are never changed.
    """
    address, cache = _places(store)
    with _progress() as progress:
        look = repair if mend else check_store
        found = look(address, full=full, cache=Cache(cache, file_hash), progress=progress)
    if as_json:
        echo_json(asdict(found), indent=2)
    else:
        _show_check(found)
    if found.findings:
        raise click.exceptions.Exit(1)


@click.command()
@_store_option
@json_option
def vacuum(store: str | None, as_json: bool) -> None:
    """Give the space of deleted documents back to the disk, while everything goes on."""
    address, _ = _places(store)
    with _progress() as progress:
        done = vacuum_store(address, progress=progress)
    if as_json:
        echo_json(asdict(done), indent=2)
        return
    click.echo(
        f"{_megabytes(done.bytes_before)} before, {_megabytes(done.bytes_after)} now; "
        f"{counted(done.pruned_changes, 'old change')} dropped; "
        f"no write waited longer than {1000 * done.longest_step_s:.0f} ms"
    )
    if done.log_bytes_after:
        click.echo(
            f"{_megabytes(done.log_bytes_after)} of it is the write-ahead log, which readers hold "
            "at the moment"
        )


@click.command()
@_store_option
@json_option
def stats(store: str | None, as_json: bool) -> None:
    """Show what the store holds, and its sizes."""
    address, cache = _places(store)
    found = store_stats(address, cache=cache)
    if as_json:
        echo_json(asdict(found), indent=2)
        return
    _show_stats(found)


def _places(store: str | None) -> tuple[str, Path]:
    """Return the address of the store, and the folder of search's cache."""
    try:
        settings, _ = load()
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    if store is not None and store != settings.store.path:
        return store, Path(store) / FOLDER
    address = settings.store.path
    return address, Path(settings.search.cache_path or Path(address) / FOLDER)


@contextmanager
def _progress() -> Iterator[Progress]:
    console = notices()
    with console.status("opening the store") as status:

        def progress(what: str, done: int, total: int) -> None:
            share = f" {100 * done // total} %" if total > 1 else ""
            status.update(f"{what}{share}")

        yield progress


def _said(snapshot: Snapshot) -> str:
    return (
        f"{counted(snapshot.artifacts, 'artifact')} in "
        f"{counted(snapshot.collections, 'collection')}, up to change {snapshot.seq}"
    )


def _megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.1f} MB"


def _show_check(found: CheckReport) -> None:
    if found.repaired:
        _show_findings("repaired", found.repaired)
    if found.findings:
        _show_findings("found", found.findings)
        return
    click.echo(
        f"all is well: {_said(found.snapshot)}; {counted(found.contents, 'content')} and "
        f"{counted(found.cache_files, 'file')} of the cache looked at"
    )


def _show_findings(heading: str, findings: tuple[Finding, ...]) -> None:
    shown = table(heading, "where", "what to do")
    for finding in findings:
        todo = finding.advice or ("treespan check --repair" if finding.repairable else "")
        if heading == "repaired":
            todo = ""
        shown.add_row(one_line(finding.what), one_line(finding.where), one_line(todo))
    show(shown)


def _show_stats(found: StoreStats) -> None:
    facts = table("", "")
    facts.show_header = False
    for name, said in _facts(found):
        facts.add_row(name, said)
    screen().print(facts)
    if not found.collections:
        return
    numbers = (*_COUNTS, "tree MB", "vector MB", "texts")
    shown = table("tenant", "collection", *numbers, numbers=numbers)
    for one in found.collections:
        shown.add_row(*_collection_row(one))
    click.echo()
    show(shown)


def _facts(found: StoreStats) -> Iterator[tuple[str, str]]:
    snapshot, cache = found.snapshot, found.cache
    yield "store", f"{found.store} ({found.engine}, schema {snapshot.schema})"
    yield "epoch", snapshot.epoch
    yield "last change", f"{snapshot.seq:,} ({counted(found.changes, 'row')} in the log)"
    yield (
        "operations",
        f"{counted(found.operations, 'operation')}, of which {found.unfinished_operations:,} are "
        "under way",
    )
    yield "drafts", f"{counted(found.drafts, 'draft')}, {_megabytes(found.draft_bytes)}"
    yield "file", f"{_megabytes(found.file_bytes)}, of which {_megabytes(found.free_bytes)} free"
    yield "write-ahead log", _megabytes(found.log_bytes)
    yield "full text", _megabytes(found.text_index_bytes)
    yield "cache", f"{counted(cache.segments, 'segment')}, {_megabytes(cache.size_bytes)}"


def _collection_row(one: CollectionStats) -> Iterator[str]:
    yield one_line(one.tenant)
    yield one_line(one.collection)
    counts = (one.artifacts, one.contents, one.shared_contents, one.nodes, one.vectors, one.tokens)
    for count in (*counts, one.metadata_keys):
        yield f"{count:,}"
    yield f"{one.tree_bytes / 1e6:,.1f}"
    yield f"{one.vector_bytes / 1e6:,.1f}"
    yield f"{one.text_entries:,}"
