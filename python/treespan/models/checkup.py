"""Proves an opened model on a few texts, and times it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from treespan.embed import Embedder, int8_is_fast

if TYPE_CHECKING:
    from pathlib import Path

BATCH_TOLERANCE: Final = 1e-5
"""Largest difference of an element, alone and in a batch, that is rounding and not quantisation."""

_QUESTION: Final = "How do I reset my password?"
_RELATED: Final = "A lost password can be reset on the sign-in page."
_UNRELATED: Final = "The cheetah runs behind its prey."
_ODD: Final = "!!!! $$$$ @@@@ ~~~~ 0101010 " * 30
_PARAGRAPH: Final = (
    "Rivers carry sand and clay down from the hills and lay them where they slow down. "
)
_TIMED_QUERIES: Final = 15


@dataclass(frozen=True, slots=True)
class Checkup:
    """What was found; times are of this machine as busy as it was."""

    name: str
    fingerprint: str
    folder: str
    dimension: int
    max_tokens: int
    load_s: float
    query_ms: float
    """Median time of one short query."""
    tokens_per_s: float
    """Tokens of passages a second, in batches of mixed lengths."""
    related: float
    """Cosine of a question and its answer."""
    unrelated: float
    """Cosine of that question and another sentence."""
    batch_difference: float
    """Largest difference of an element when the texts share a batch with an odd one."""
    int8: str
    """"fast" where the CPU's fast int8 product is exact, else "exact": the slower one is used."""

    @property
    def problems(self) -> list[str]:
        """Return what speaks against the model, a sentence each."""
        found = []
        if self.batch_difference > BATCH_TOLERANCE:
            found.append(
                f"a vector depends on its batch (by {self.batch_difference:.1e}): the same text is"
                " not always found alike; use weights that are not quantised by tensor"
            )
        if self.related <= self.unrelated:
            found.append(
                f"a question is no closer to its answer ({self.related:.3f}) than to another"
                f" sentence ({self.unrelated:.3f}): are prefixes and pooling right?"
            )
        return found


def check(folder: Path, threads: int = 1) -> Checkup:
    """Open a model folder, embed a few texts and return what was found; takes some seconds.

    Raises:
        ModelError: the folder is no sound model folder.
    """
    start = time.perf_counter()
    model = Embedder.open(folder, threads)
    load_s = time.perf_counter() - start
    question = model.embed_queries([_QUESTION])[0]
    alone = np.stack([model.embed_passages([text])[0] for text in (_RELATED, _UNRELATED)])
    together = model.embed_passages([_RELATED, _UNRELATED, _ODD])[:2]
    return Checkup(
        name=model.name,
        fingerprint=model.fingerprint,
        folder=str(folder),
        dimension=model.dimension,
        max_tokens=model.max_tokens,
        load_s=load_s,
        query_ms=_query_ms(model),
        tokens_per_s=_tokens_per_s(model),
        related=float(question @ alone[0]),
        unrelated=float(question @ alone[1]),
        batch_difference=float(np.abs(alone - together).max()),
        int8="fast" if int8_is_fast() else "exact",
    )


def _query_ms(model: Embedder) -> float:
    times = []
    for _ in range(_TIMED_QUERIES):
        start = time.perf_counter()
        model.embed_queries([_QUESTION])
        times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1e3


def _tokens_per_s(model: Embedder) -> float:
    texts = [_PARAGRAPH * (1 + i % 4 * (i % 3)) for i in range(48)]
    tokens = sum(map(len, model.tokenizer.encode(texts, model.max_tokens)))
    start = time.perf_counter()
    model.embed_passages(texts)
    return tokens / (time.perf_counter() - start)
