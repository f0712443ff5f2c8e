"""The real models, converted once a test run; tests are skipped where a model's package is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from treespan.embed import Embedder
from treespan.models.cache import prepare
from treespan.models.packages import E5_SMALL, MINILM, KnownModel, installed_weights

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def e5_weights() -> Path:
    return weights_of(E5_SMALL)


@pytest.fixture(scope="session")
def minilm_weights() -> Path:
    return weights_of(MINILM)


@pytest.fixture(scope="session")
def e5_folder(model_cache: Path, e5_weights: Path) -> Path:
    return prepare(E5_SMALL.name, model_cache, weights=e5_weights)


@pytest.fixture(scope="session")
def e5(e5_folder: Path) -> Embedder:
    return Embedder.open(e5_folder)


@pytest.fixture(scope="session")
def minilm(model_cache: Path, minilm_weights: Path) -> Embedder:
    return Embedder.open(prepare(MINILM.name, model_cache, weights=minilm_weights))


def weights_of(model: KnownModel) -> Path:
    path = installed_weights(model)
    if path is None:
        pytest.skip(f"{model.package} is not installed: {model.install}")
    return path
