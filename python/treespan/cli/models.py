"""`treespan models`: convert, list and check embedding models."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from treespan.cli.screen import echo_json, notices, screen, show, table
from treespan.config import ConfigError, load
from treespan.models.cache import (
    add_folder,
    added_folders,
    cached_folder,
    default_cache_dir,
    prepare,
)
from treespan.models.card import CARD_FILE, ModelError, fingerprint, graph_file, read_card
from treespan.models.packages import KNOWN, KnownModel, installed_weights, known_model

if TYPE_CHECKING:
    from treespan.config import ModelsConfig

_FOLDER: Final = click.Path(path_type=Path, file_okay=False)
_FILE: Final = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, slots=True)
class _Listed:
    """A model that can be used, or could be."""

    name: str
    about: str
    state: str
    """"ready", "installed" (converted at first use), "missing" or "damaged"."""
    fingerprint: str
    dimension: int
    max_tokens: int
    folder: str
    bytes: int
    """Size on disk; 0 where not converted yet."""
    install: str
    """The command that installs the weights; empty for added models."""


class _ModelGroup(click.Group):
    """A group whose model and settings errors end it with one line."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand."""
        try:
            return super().invoke(ctx)
        except (ModelError, ConfigError) as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_ModelGroup)
@click.option("--cache", type=_FOLDER, help="Folder of converted models; default: models.cache.")
@click.pass_context
def models(ctx: click.Context, cache: Path | None) -> None:
    """Convert, list and check embedding models."""
    config, _ = load()
    configured = Path(config.models.cache).expanduser() if config.models.cache else None
    ctx.obj = _Settings(config.models, cache or configured or default_cache_dir())


@dataclass(frozen=True, slots=True)
class _Settings:
    """What the subcommands share."""

    models: ModelsConfig
    cache: Path


@models.command("list")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.pass_obj
def list_models(settings: _Settings, as_json: bool) -> None:
    """List known and added models, and which of them are ready."""
    listed = [_known(model, settings.cache) for model in KNOWN]
    listed += [_added(folder) for folder in added_folders(settings.cache)]
    if as_json:
        echo_json([asdict(model) for model in listed], indent=2)
        return
    shown = table("model", "state", "dimension", "tokens", "MB", "", numbers=("dimension", "MB"))
    for model in listed:
        about = f"run: {model.install}" if model.state == "missing" else model.about
        size = f"{model.bytes / 1e6:.0f}" if model.bytes else ""
        chosen = "*" if model.name == settings.models.embedding else ""
        numbers = (str(model.dimension), str(model.max_tokens), size)
        shown.add_row(model.name + chosen, model.state, *numbers, about)
    show(shown)
    screen().print(f"\n* chosen by models.embedding; cache: {settings.cache}", soft_wrap=True)


@models.command()
@click.argument("model", metavar="NAME|FOLDER")
@click.option("--weights", type=_FILE, help="Weight file of a known model, from elsewhere.")
@click.pass_obj
def add(settings: _Settings, model: str, weights: Path | None) -> None:
    """Convert a known model, or copy a model folder, into the cache."""
    if known_model(model):
        folder = _prepare(settings, model, weights)
    else:
        # Opened before it is copied: a folder that cannot be run is refused with its reason.
        from treespan.embed import Embedder

        source = Path(model).expanduser()
        Embedder.open(source)
        folder = add_folder(source, settings.cache)
    screen().print(f"{read_card(folder).name} is ready in {folder}", soft_wrap=True)


@models.command("prepare")
@click.pass_obj
def prepare_default(settings: _Settings) -> None:
    """Make the model of the settings ready, for images and hosts without a network."""
    weights = Path(settings.models.weights).expanduser() if settings.models.weights else None
    folder = _prepare(settings, settings.models.embedding, weights)
    screen().print(f"{read_card(folder).name} is ready in {folder}", soft_wrap=True)


@models.command()
@click.argument("model", metavar="[NAME|FOLDER]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.pass_obj
def check(settings: _Settings, model: str | None, as_json: bool) -> None:
    """Open a model, prove it on a few texts and time it; exit code 1 where something is wrong."""
    from treespan.models import checkup

    folder = _prepare(settings, model or settings.models.embedding, None)
    with notices().status("checking"):
        found = checkup.check(folder, settings.models.threads)
    if as_json:
        echo_json(asdict(found) | {"problems": list(found.problems)}, indent=2)
    else:
        facts = table("", "")
        facts.show_header = False
        for name, value in asdict(found).items():
            facts.add_row(
                name.replace("_", " "), f"{value:.4g}" if isinstance(value, float) else str(value)
            )
        show(facts)
        for problem in found.problems:
            notices().print(problem, style="bold red")
    if found.problems:
        raise click.exceptions.Exit(1)


def _prepare(settings: _Settings, model: str, weights: Path | None) -> Path:
    console = notices()
    with console.status(f"preparing {model}"):
        return prepare(
            model,
            settings.cache,
            lambda step: console.print(step, style="dim", soft_wrap=True),
            weights,
        )


def _known(model: KnownModel, cache: Path) -> _Listed:
    folder = cached_folder(model, cache)
    ready = (folder / CARD_FILE).is_file()
    installed = installed_weights(model) is not None
    card = model.card()
    return _Listed(
        name=model.name,
        about=model.about,
        state="ready" if ready else "installed" if installed else "missing",
        fingerprint=fingerprint(card),
        dimension=card.dimension,
        max_tokens=card.max_tokens,
        folder=str(folder) if ready else "",
        bytes=_size(folder) if ready else 0,
        install=model.install,
    )


def _added(folder: Path) -> _Listed:
    try:
        card = read_card(folder)
    except ModelError as error:
        name = folder.name.partition("@")[0]
        return _Listed(name, str(error), "damaged", folder.name, 0, 0, str(folder), 0, "")
    return _Listed(
        name=card.name,
        about=f"added, {graph_file(folder).name}, {card.precision}",
        state="ready",
        fingerprint=fingerprint(card),
        dimension=card.dimension,
        max_tokens=card.max_tokens,
        folder=str(folder),
        bytes=_size(folder),
        install="",
    )


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
