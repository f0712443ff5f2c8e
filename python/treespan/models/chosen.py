"""The embedding model that the settings choose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from treespan.models.cache import no_progress, prepare

if TYPE_CHECKING:
    from collections.abc import Callable

    from treespan.config import ModelsConfig


def prepare_chosen(config: ModelsConfig, progress: Callable[[str], None] = no_progress) -> Path:
    """Return the folder of the chosen model, converted first where it is not in the cache yet.

    Raises:
        ModelError: there is no such model, or its weights are missing or not the expected ones.
    """
    return prepare(
        config.embedding,
        Path(config.cache).expanduser() if config.cache else None,
        progress,
        Path(config.weights).expanduser() if config.weights else None,
    )
