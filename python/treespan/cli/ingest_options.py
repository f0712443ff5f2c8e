"""The options of `treespan ingest`, as values that fit together."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from treespan.cli.metadata_pairs import metadata_of_pairs
from treespan.cli.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from treespan.client import UriKeywords

F = TypeVar("F", bound="Callable[..., Any]")

_URI: Final = re.compile(r"(?:https?|file)://", re.IGNORECASE)
_READING: Final = ("pdf_mode", "ocr", "ocr_languages", "include_hidden", "password")


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """What the command line says, beside where to."""

    paths: tuple[Path, ...]
    uris: tuple[str, ...]
    keywords: UriKeywords
    selection: Selection
    at_once: int
    watch: bool
    settle_s: float
    delete: bool
    dry_run: bool
    again: bool
    as_json: bool

    @property
    def folders(self) -> list[Path]:
        """The folders among the paths."""
        return [path for path in self.paths if path.is_dir()]

    @classmethod
    def of(cls, places: tuple[str, ...], given: dict[str, Any]) -> IngestOptions:
        """Return the options; raise `click.UsageError` where they do not go together."""
        uris = tuple(place for place in places if _URI.match(place))
        paths = tuple(Path(place) for place in places if not _URI.match(place))
        for path in paths:
            if not path.exists():
                raise click.BadParameter(f"{str(path)!r} does not exist", param_hint="PATH")
        keywords = _keywords(given)
        options = cls(
            paths=paths,
            uris=uris,
            keywords=keywords,
            selection=Selection.of(given["include"], given["exclude"]),
            at_once=given["jobs"],
            watch=given["watch"],
            settle_s=given["settle"],
            delete=given["delete"],
            dry_run=given["dry_run"],
            # Read otherwise, the same bytes may become another tree; the server knows.
            again=given["again"] or any(name in keywords for name in _READING),
            as_json=given["as_json"],
        )
        options._check()
        return options

    def _check(self) -> None:
        only_folders = not self.uris and len(self.folders) == len(self.paths)
        if self.watch and not only_folders:
            raise click.UsageError("--watch follows folders; leave out files and addresses")
        if self.delete and not self.folders:
            raise click.UsageError("--delete is about folders, and none is given")
        if self.watch and self.dry_run:
            raise click.UsageError("--watch and --dry-run do not go together")


def _keywords(given: dict[str, Any]) -> UriKeywords:
    """Return what was given of how to ingest; what was not is for the server to decide."""
    keywords: dict[str, Any] = {"metadata": metadata_of_pairs("--metadata", given["pairs"])}
    for name in (*_READING, "summary"):
        if given[name]:
            keywords[name] = given[name]
    return keywords  # type: ignore[return-value] # the names are those of the options


def reading_options(command: F) -> F:
    """Add the options about how files are read, and what is said of them."""
    for option in reversed(_READING_OPTIONS):
        command = option(command)
    return command


def folder_options(command: F) -> F:
    """Add the options about folders, and how a run goes."""
    for option in reversed(_FOLDER_OPTIONS):
        command = option(command)
    return command


_READING_OPTIONS: Final = (
    click.option(
        "--metadata",
        "pairs",
        multiple=True,
        metavar="KEY=VALUE",
        help="Metadata of every file, as text; KEY:=VALUE takes JSON or a date. May be repeated.",
    ),
    click.option("--summary", metavar="TEXT", help="Summary of every file, for routing."),
    click.option(
        "--password",
        envvar="TREESPAN_PASSWORD",
        show_envvar=True,
        help="Password of encrypted files; in the environment other users do not see it.",
    ),
    click.option(
        "--pdf-mode",
        type=click.Choice(["fast", "layout"]),
        help="How PDFs are read.  [default: as the server is set]",
    ),
    click.option(
        "--ocr",
        type=click.Choice(["off", "auto", "force"]),
        help="Whether pictures of text are read.  [default: as the server is set]",
    ),
    click.option(
        "--ocr-languages",
        metavar="NAMES",
        help="Languages of pictures of text, such as eng+chi_sim.  [default: as the server is set]",
    ),
    click.option(
        "--include-hidden",
        is_flag=True,
        help="Read hidden sheets, rows, columns and slides, too.",
    ),
)

_FOLDER_OPTIONS: Final = (
    click.option(
        "--include",
        multiple=True,
        metavar="GLOB",
        help="Of folders, take only files like this, such as *.pdf or reports/**. May be repeated.",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="GLOB",
        help="Of folders, leave out files and folders like this. May be repeated.",
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        help="Say what would be ingested, skipped and deleted, and do nothing.",
    ),
    click.option(
        "--delete",
        is_flag=True,
        help="Delete artifacts that this command made of files of the folders, and whose file is "
        "gone.",
    ),
    click.option(
        "--watch",
        is_flag=True,
        help="Then follow the folders until Ctrl-C: new, changed, renamed and deleted files.",
    ),
    click.option(
        "--settle",
        type=click.FloatRange(0, 3600),
        default=2.0,
        show_default=True,
        metavar="SECONDS",
        help="With --watch, how long a file must stay as it is before it is taken.",
    ),
    click.option(
        "--again",
        is_flag=True,
        help="Send files, too, that are there already; the server reads anew what its settings "
        "have changed. So do --pdf-mode, --ocr, --ocr-languages, --include-hidden and --password.",
    ),
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(1, 64),
        default=max(8, 2 * (os.cpu_count() or 1)),
        metavar="NUMBER",
        show_default=True,
        help="Files under way at once.",
    ),
)
