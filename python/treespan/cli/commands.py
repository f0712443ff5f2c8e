"""The `treespan` command: global options, its subcommands, and how an error ends the program.

A subcommand's module is imported when it is called, so that asking for help or a search does not
wait for what only the servers need.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, NamedTuple

import click

from treespan.cli.connection import Connection
from treespan.config import Config, ConfigError, load
from treespan.errors import CollectionNotFound, NotServing, TreespanError


class _Command(NamedTuple):
    """Where a subcommand is, and what it does in a line."""

    module: str
    help: str


_COMMANDS: Final = {
    "serve": _Command("treespan.cli.serve", "Start the ingest and search services."),
    "ingest": _Command(
        "treespan.cli.ingest", "Ingest files, folders and addresses, or follow a folder."
    ),
    "operations": _Command("treespan.cli.operations", "Show, watch and cancel ingests."),
    "search": _Command("treespan.cli.search", "Search, and show every hit with its context."),
    "explain": _Command("treespan.cli.explain", "Search, and draw how each context was grown."),
    "tree": _Command("treespan.cli.tree", "Draw an artifact's tree."),
    "artifacts": _Command("treespan.cli.catalogue", "List the artifacts of a collection."),
    "collections": _Command("treespan.cli.catalogue", "List the collections."),
    "update": _Command(
        "treespan.cli.update", "Change an artifact's metadata, summary or file name."
    ),
    "delete": _Command("treespan.cli.delete", "Delete artifacts, by name or by filter."),
    "status": _Command("treespan.cli.status", "Say what both services are, hold and allow."),
    "models": _Command("treespan.cli.models", "Convert, list and check embedding models."),
    "backup": _Command("treespan.cli.store", "Copy the store into a file, while all goes on."),
    "restore": _Command("treespan.cli.store", "Put a backup in the place of the store."),
    "check": _Command("treespan.cli.store", "Check the store, and repair what can be."),
    "vacuum": _Command("treespan.cli.store", "Give the space of deleted documents back."),
    "stats": _Command("treespan.cli.store", "Show what the store holds, and its sizes."),
    "config": _Command("treespan.cli.settings", "Print every setting and where it came from."),
}


class _Failure(click.ClickException):
    """An error as one line, and exit code 1."""


class _Unreachable(_Failure):
    """The same where no server answers."""

    exit_code = 2


class _Commands(click.Group):
    """A group that imports a subcommand when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names, in the order of their use."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return a subcommand; None where there is none of that name."""
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(import_module(_COMMANDS[cmd_name].module), cmd_name)
        if not isinstance(command, click.Command):
            raise TypeError(f"{_COMMANDS[cmd_name].module}.{cmd_name} is not a click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of subcommands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.help) for name, command in _COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand; a treespan error ends it with one line."""
        try:
            return super().invoke(ctx)
        except NotServing as error:
            raise _Unreachable(error.message) from error
        except CollectionNotFound as error:
            raise _Failure(f"{error.message}; `treespan ingest PATH` makes one") from error
        except TreespanError as error:
            raise _Failure(error.message) from error
        except UnicodeError as error:
            raise _Failure(
                "a text holds characters that cannot be sent or shown here; use UTF-8 "
                f"(PYTHONIOENCODING=utf-8): {error}"
            ) from error
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            raise _Failure(str(error)) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--ingest",
    "ingest_address",
    metavar="ADDRESS",
    envvar="TREESPAN_INGEST",
    show_envvar=True,
    help="Where the ingest service listens.  [default: the setting ingest.address]",
)
@click.option(
    "--search",
    "search_address",
    metavar="ADDRESS",
    envvar="TREESPAN_SEARCH",
    show_envvar=True,
    help="Where the search service listens.  [default: the setting search.address]",
)
@click.option(
    "--tenant",
    metavar="NAME",
    envvar="TREESPAN_TENANT",
    show_envvar=True,
    help="Tenant to speak for.",
)
@click.version_option(package_name="treespan")
@click.pass_context
def main(
    ctx: click.Context,
    ingest_address: str | None,
    search_address: str | None,
    tenant: str | None,
) -> None:
    """Turn files into document trees, and search them with the context around each hit.

    Exit codes: 0 all went well, 1 something failed, 2 wrong usage or no server, 130 interrupted.
    """
    if ingest_address is None or search_address is None:
        settings = _settings()
        ingest_address = ingest_address or settings.ingest.address
        search_address = search_address or settings.search.address
    ctx.obj = Connection(ingest_address, search_address, tenant)


def _settings() -> Config:
    try:
        return load()[0]
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
