"""`treespan config`: every setting, its value, and where the value came from."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

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
        click.echo(json.dumps([dataclasses.asdict(setting) for setting in settings], indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("setting", "value", "from"):
        table.add_column(heading)
    for setting in settings:
        style = "" if setting.source == "default" else "bold"
        table.add_row(setting.name, str(setting.value), setting.source, style=style)
    Console().print(table)
