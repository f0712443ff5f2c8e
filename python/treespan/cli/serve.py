"""`treespan serve`: both services in one terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from treespan import config as settings
from treespan.client import Client
from treespan.errors import TreespanError
from treespan.models.card import ModelError
from treespan.models.chosen import prepare_chosen

if TYPE_CHECKING:
    from collections.abc import Mapping

_MODULES = {"ingest": "ingest_svc", "search": "search_svc"}
_POLL_S = 0.2
# More than either service gives its calls at shutdown.
_KILL_AFTER_S = 60.0


@click.command()
@click.option("--data", help="Folder of the store.  [default: treespan-data]")
@click.option("--ingest", help="Address of the ingest service.  [default: 127.0.0.1:50051]")
@click.option("--search", help="Address of the search service.  [default: 127.0.0.1:50052]")
@click.option("--model", help="Embedding model: a known name or a folder.")
@click.option("--log-level", help="debug, info, warning or error.")
@click.option("--only", type=click.Choice(list(_MODULES)), help="Start one service alone.")
@click.option("--config", "file", type=click.Path(path_type=Path), help="Settings file.")
def serve(only: str | None, file: Path | None, **given: str | None) -> None:
    """Start both services; Ctrl-C lets calls under way end, then stops them."""
    # `treespan --ingest ADDRESS serve` means the same as `treespan serve --ingest ADDRESS`.
    before = click.get_current_context().find_root().params
    flags = {
        "store.path": given["data"],
        "ingest.address": given["ingest"] or before.get("ingest_address"),
        "search.address": given["search"] or before.get("search_address"),
        "models.embedding": given["model"],
        "log.level": given["log_level"],
    }
    try:
        config, sources = settings.load(file, flags=flags)
    except settings.ConfigError as error:
        raise click.UsageError(str(error)) from error
    try:
        prepare_chosen(config.models, lambda step: click.echo(step, err=True))
    except ModelError as error:
        raise click.ClickException(str(error)) from error
    environment = settings.environment(flags, file)
    if any(one.name == "log.format" and one.source == "default" for one in sources):
        environment |= settings.environment({"log.format": "text"})
    names = [only] if only else list(_MODULES)
    click.echo(f"starting {' and '.join(names)}; data in {Path(config.store.path).absolute()}")
    services = {name: _start(name, environment) for name in names}
    sys.exit(_supervise(services, config))


def _start(name: str, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    # A group of its own: Ctrl-C goes to the command alone, which then stops both in order.
    return subprocess.Popen(
        [sys.executable, "-m", _MODULES[name]], env=os.environ | environment, process_group=0
    )


def _is_ready(name: str, config: settings.Config) -> bool:
    try:
        with Client(config.ingest.address, config.search.address) as client:
            return client.is_serving("ingest" if name == "ingest" else "search")
    except TreespanError:
        return False


def _supervise(services: Mapping[str, subprocess.Popen[bytes]], config: settings.Config) -> int:
    """Wait for the services; stop all when one ends or a signal comes; return the exit code."""
    asked: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: asked.append(number))
    waiting = set(services)
    while not asked and all(service.poll() is None for service in services.values()):
        time.sleep(_POLL_S)
        ready = {name for name in waiting if _is_ready(name, config)}
        if ready and ready == waiting:
            click.echo("ready; Ctrl-C stops")
        waiting -= ready
    for name, service in services.items():
        if not asked and service.poll() is not None:
            click.echo(f"the {name} service ended with code {service.returncode}", err=True)
    for service in services.values():
        if service.poll() is None:
            service.terminate()
    _wait(services)
    codes = [service.returncode for service in services.values()]
    return 0 if asked and not any(codes) else 1


def _wait(services: Mapping[str, subprocess.Popen[bytes]]) -> None:
    """Wait for services that were told to stop; one that does not is killed."""
    end = time.monotonic() + _KILL_AFTER_S
    for name, service in services.items():
        try:
            service.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            click.echo(f"the {name} service did not stop within {_KILL_AFTER_S:g} s", err=True)
            service.kill()
            service.wait()
