"""`treespan config`: every setting, its value, and where the value came from."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click
from rich.text import Text

from treespan.cli.screen import echo_json, printable, show, table
from treespan.config import ConfigError, load


@click.command("config")
@click.option("--config", "file", type=click.Path(path_type=Path), help="Settings file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def config(file: Path | None, *, as_json: bool) -> None:
    """Print every setting, its value, and where it came from."""
    try:
        _, settings = load(file)
    except ConfigError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        echo_json([dataclasses.asdict(setting) for setting in settings], indent=2)
        return
    shown = table("setting", "value", "from")
    for setting in settings:
        style = "" if setting.source == "default" else "bold"
        cells = (setting.name, _value(setting.value), setting.source)
        shown.add_row(*(Text(cell) for cell in cells), style=style)
    show(shown)


def _value(value: object) -> str:
    """Return a value as it is shown; an empty string in quotes, since nothing is easily missed."""
    return printable(str(value)) if value != "" else '""'
