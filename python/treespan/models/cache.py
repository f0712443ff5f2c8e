"""The model cache: a folder a model, named by its fingerprint, that appears whole or not at all.

~/.cache/treespan/models/
├─ .lock                                     held while a folder is made
├─ multilingual-e5-small@6c0f...             graph, tokenizer, card, licence
└─ .part-...                                 being made, or left over by a killed process
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from filelock import FileLock, Timeout

from treespan.models.card import CARD_FILE, ModelError, fingerprint, graph_file, read_card
from treespan.models.convert import Job, convert
from treespan.models.packages import KNOWN, KnownModel, find_weights, known_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LOG: Final = logging.getLogger(__name__)
_PART: Final = ".part-"
_LOCK_TIMEOUT_S: Final = 600.0


def default_cache_dir() -> Path:
    """Return the folder used where none is set."""
    return Path.home() / ".cache" / "treespan" / "models"


def no_progress(step: str) -> None:
    """Take a step of a conversion and do nothing with it."""


def prepare(
    name: str | Path,
    cache_dir: Path | None = None,
    progress: Callable[[str], None] = no_progress,
    weights: Path | None = None,
) -> Path:
    """Return the folder of a model; a known one is converted into the cache first, once.

    Args:
        name: A known model, a model added to the cache, or the path of a model folder.
        cache_dir: The cache; None means `default_cache_dir()`.
        progress: Told what is being done, a line a step.
        weights: The weight file of a known model; None means the one in its package.

    Raises:
        ModelError: there is no such model, or its weights are missing or not the expected ones.
    """
    cache = cache_dir or default_cache_dir()
    model = known_model(str(name))
    if model is not None:
        return _prepare_known(model, cache, progress, weights)
    added = _added(cache, str(name))
    if added:
        return added
    folder = Path(name).expanduser()
    if (folder / CARD_FILE).is_file():
        return folder
    raise ModelError(
        f"there is no model {str(name)!r}: it is neither a folder with {CARD_FILE} nor one of"
        f" {', '.join(known.name for known in KNOWN)} nor a model added with `treespan models add`"
    )


def add_folder(folder: Path, cache_dir: Path | None = None) -> Path:
    """Copy a model folder into the cache, so that settings can use its name; return the copy.

    Raises:
        ModelError: the folder is no sound model folder, or its name is taken by another model.
    """
    cache = cache_dir or default_cache_dir()
    card = read_card(folder)
    graph_file(folder)
    if known_model(card.name):
        raise ModelError(f"{card.name} is the name of a known model; give the card another name")
    target = cache / fingerprint(card)
    with _locked(cache, no_progress):
        other = _added(cache, card.name)
        if other is not None and other != target:
            raise ModelError(
                f"another model named {card.name} is in the cache, {other};"
                " delete it or give the card another name"
            )
        if not target.exists():
            with _appearing(target) as part:
                shutil.copytree(folder, part, dirs_exist_ok=True)
    return target


def cached_folder(model: KnownModel, cache_dir: Path) -> Path:
    """Return where a known model lies, or would lie, in a cache."""
    return cache_dir / fingerprint(model.card())


def added_folders(cache_dir: Path) -> list[Path]:
    """Return the folders of the cache that are not known models', by name."""
    known = {cached_folder(model, cache_dir) for model in KNOWN}
    return [
        path
        for path in sorted(cache_dir.glob("*@*"))
        if path not in known
        and not known_model(path.name.partition("@")[0])
        and (path / CARD_FILE).is_file()
    ]


def _prepare_known(
    model: KnownModel, cache: Path, progress: Callable[[str], None], weights: Path | None
) -> Path:
    target = cached_folder(model, cache)
    if target.exists():
        return target
    source = find_weights(model, weights)
    with _locked(cache, progress):
        if target.exists():
            return target
        _LOG.info("converting %s into %s, once", model.name, target)
        progress(f"converting {model.name} into {target}, once")
        with _appearing(target) as part:
            convert(Job(model.name, str(source), str(part)), progress)
    return target


def _added(cache: Path, name: str) -> Path | None:
    found = [path for path in added_folders(cache) if path.name.partition("@")[0] == name]
    return found[0] if found else None


@contextmanager
def _locked(cache: Path, progress: Callable[[str], None]) -> Iterator[None]:
    """Hold the cache's lock and remove what killed processes left: nobody else is at work then."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        lock = FileLock(cache / ".lock")
        if not _try(lock):
            progress("waiting for another process that is preparing a model")
            lock.acquire(timeout=_LOCK_TIMEOUT_S)
    except Timeout:
        raise ModelError(
            f"another process has held {cache / '.lock'} for {_LOCK_TIMEOUT_S:.0f} s"
        ) from None
    except OSError as error:
        raise ModelError(f"the model cache {cache} cannot be written: {error}") from error
    try:
        for leftover in cache.glob(_PART + "*"):
            shutil.rmtree(leftover, ignore_errors=True)
        yield
    finally:
        lock.release()


def _try(lock: FileLock) -> bool:
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    return True


@contextmanager
def _appearing(target: Path) -> Iterator[Path]:
    """Give an empty folder that becomes `target` when the block ends well and else goes away."""
    part = Path(tempfile.mkdtemp(prefix=_PART, dir=target.parent))
    try:
        part.chmod(0o755)
        yield part
        os.replace(part, target)  # noqa: PTH105, says that it is one step
        handle = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    finally:
        shutil.rmtree(part, ignore_errors=True)
