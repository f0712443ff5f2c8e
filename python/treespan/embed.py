"""Embeds texts with an ONNX model. The only file that imports onnxruntime.

Texts are sorted by length and cut into batches by tokens, padding counted: worth four times arrival
order, and more than any precision. Vectors go back to the caller's order; with the models that
treespan converts they do not depend on the batch.

Live queries go ahead of passages that share the embedder: passages then run in small batches and
let waiting queries pass in between. `Session.run` releases the GIL.
"""

from __future__ import annotations

import importlib.resources
import threading
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import onnxruntime  # type: ignore[import-untyped]

from treespan.errors import CallCancelled, InvalidField
from treespan.metrics import BATCH_TOKENS as BATCH_TOKENS_SEEN
from treespan.models import feeds
from treespan.models.card import TOKENIZER_FILE, ModelError, fingerprint, graph_file, read_card
from treespan.tokens import Tokenizer, has_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import TracebackType

    from numpy.typing import NDArray

    from treespan.models.card import ModelCard

    Vectors = NDArray[np.float32]
    Ids = NDArray[np.uint32]
    """Token ids of one text."""
    Entry = tuple[int, Ids]
    """A text's position among others, and its token ids."""

BATCH_TOKENS: Final = 1024
BUSY_BATCH_TOKENS: Final = 256
"""Tokens of a batch of passages while queries are under way."""
_GROUP_TEXTS: Final = 2048
"""Passages tokenised and sorted together."""
_PATIENCE_S: Final = 0.25
"""Longest wait of passages for queries; without a bound a stream of queries would stop ingest."""
_EXACT_INT8: Final = "session.x64quantprecision"


def open_session(path: Path, threads: int = 1) -> onnxruntime.InferenceSession:
    """Return a session on the CPU, one that multiplies int8 exactly.

    On x86 CPUs without VNNI the fast int8 product of onnxruntime loses sums silently; there its
    exact one is asked for, and the vectors equal those of other CPUs.

    Raises:
        ModelError: onnxruntime cannot load the graph.
    """
    exact = not int8_is_fast()
    try:
        return _session(str(path), threads, exact=exact)
    except Exception as error:  # the library's errors share no narrower base
        hint = (
            f"; this CPU needs {_EXACT_INT8}, with which two int8 layers must not share a constant"
            if exact
            else ""
        )
        raise ModelError(f"{path} cannot be loaded: {error}{hint}") from error


@cache
def int8_is_fast() -> bool:
    """Return whether this CPU's fast int8 product is exact: a known sum, once a process, 4 ms."""
    probe = importlib.resources.files("treespan.models").joinpath("int8_probe.onnx").read_bytes()
    session = _session(probe, 1, exact=False)
    product = session.run(None, {"x": np.full((8, 64), 255, np.uint8)})[0]
    return bool((product == 64 * 255 * 127).all())


class Embedder:
    """An embedding model, opened; safe from many threads."""

    def __init__(
        self,
        card: ModelCard,
        tokenizer: Tokenizer,
        session: onnxruntime.InferenceSession,
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        self._card = card
        self._session = session
        self._inputs = frozenset(node.name for node in session.get_inputs())
        self._output = _output_name(session)
        self._batch_tokens = batch_tokens
        self._queries = _QueryLane()
        self.tokenizer = tokenizer
        """The model's tokenizer, to share with a `TokenCounter`."""

    @classmethod
    def open(cls, folder: Path, threads: int = 1, batch_tokens: int = BATCH_TOKENS) -> Embedder:
        """Open a model folder and prove it with one text.

        Args:
            folder: A folder as `treespan.models.cache.prepare` returns it.
            threads: Threads within one run.
            batch_tokens: Tokens of one run, padding included; 256 to 1,024 is flat, above it falls.

        Raises:
            ModelError: a file is missing, damaged or at odds with the card.
        """
        card = read_card(folder)
        session = open_session(graph_file(folder), threads)
        tokenizer = Tokenizer.open(folder / TOKENIZER_FILE)
        embedder = cls(card, tokenizer, session, batch_tokens)
        embedder._prove(folder)
        return embedder

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._card.name

    @property
    def fingerprint(self) -> str:
        """Return what the vectors depend on; see `treespan.models.card.fingerprint`."""
        return fingerprint(self._card)

    @property
    def dimension(self) -> int:
        """Return the elements of a vector."""
        return self._card.dimension

    @property
    def max_tokens(self) -> int:
        """Return the longest input, special tokens and prefix included; the rest is not seen."""
        return self._card.max_tokens

    @property
    def text_tokens(self) -> int:
        """Return the longest passage seen whole, in tokens without special tokens and prefix."""
        prefix = self.tokenizer.encode([self._card.passage_prefix], self.max_tokens)[0]
        return self.max_tokens - len(prefix)

    def embed_passages(
        self,
        texts: Sequence[str],
        progress: Callable[[int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Vectors:
        """Return the vectors of passages, [texts, dimension], of length 1, in the order given.

        Args:
            texts: Passages without the model's prefix.
            progress: Told the number of texts done, after every batch.
            cancelled: Asked before every batch.

        Raises:
            InvalidField: a text has nothing to read (`treespan.tokens.has_text`).
            CallCancelled: `cancelled` said so.
        """
        _refuse_empty(texts)
        vectors = np.empty((len(texts), self.dimension), np.float32)
        done = 0
        for start in range(0, len(texts), _GROUP_TEXTS):
            group = texts[start : start + _GROUP_TEXTS]
            rest = longest_first(self.encode_passages(group))
            while rest:
                if cancelled is not None and cancelled():
                    raise CallCancelled(
                        f"embedding was cancelled after {done} of {len(texts)} texts"
                    )
                batch, rest = first_batch(rest, self.passage_budget())
                vectors[[start + position for position, _ in batch]] = self.run(batch)
                done += len(batch)
                if progress is not None:
                    progress(done)
        return vectors

    def encode_passages(self, texts: Sequence[str]) -> list[Ids]:
        """Return the token ids of passages, prefix and special tokens included, cut at the window.

        Raises:
            InvalidField: a text has nothing to read.
        """
        _refuse_empty(texts)
        return self._encode(texts, self._card.passage_prefix)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of queries, [texts, dimension], of length 1, in the order given.

        Raises:
            InvalidField: a text has nothing to read.
        """
        _refuse_empty(texts)
        vectors = np.empty((len(texts), self.dimension), np.float32)
        with self._queries:
            rest = longest_first(self._encode(texts, self._card.query_prefix))
            while rest:
                batch, rest = first_batch(rest, self._batch_tokens)
                vectors[[position for position, _ in batch]] = self.run(batch)
        return vectors

    def _encode(self, texts: Sequence[str], prefix: str) -> list[Ids]:
        ids = self.tokenizer.encode([prefix + text for text in texts], self.max_tokens)
        return [np.array(row, dtype=np.uint32) for row in ids]

    def passage_budget(self) -> int:
        """Let queries under way pass, for a while, and return the tokens of the next batch."""
        if self._queries.wait_until_none(_PATIENCE_S):
            return self._batch_tokens
        return min(self._batch_tokens, BUSY_BATCH_TOKENS)

    def run(self, batch: Sequence[Entry]) -> Vectors:
        """Return the vectors of one batch, [entries, dimension], in its order."""
        ids = [row for _, row in batch]
        mask = feeds.mask_of(ids)
        inputs: dict[str, Any] = (
            feeds.packed_inputs(ids, mask)
            if "pad_index" in self._inputs
            else feeds.padded_inputs(ids, mask, self._card.pad_id)
        )
        wanted = {name: array for name, array in inputs.items() if name in self._inputs}
        BATCH_TOKENS_SEEN.observe(int(mask.sum()))
        states = self._session.run([self._output], wanted)[0]
        self._check_shape(states.shape)
        vectors = feeds.pool(states, mask, self._card.pooling)
        return feeds.scale(vectors) if self._card.normalise is True else vectors

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        pooling, rank = self._card.pooling, 2 if self._card.pooling == "in_graph" else 3
        if len(shape) != rank:
            raise ModelError(
                f"output {self._output} of {self.name} has {len(shape)} axes, pooling {pooling!r}"
                f" takes {rank}; correct pooling in its card"
            )
        if shape[-1] != self.dimension:
            raise ModelError(
                f"output {self._output} of {self.name} has dimension {shape[-1]}, its card says"
                f" {self.dimension}"
            )

    def _prove(self, folder: Path) -> None:
        try:
            vector = self.embed_passages(["treespan"])[0]
        except ModelError:
            raise
        except Exception as error:  # a missing input, a wrong shape: whatever the library raises
            raise ModelError(f"{folder} cannot be run: {error}") from error
        length = float(np.linalg.norm(vector))
        if not abs(length - 1) < 1e-3:
            raise ModelError(
                f"{folder}: a vector has length {length:.4g} instead of 1;"
                " set normalise to true in its card"
            )


class _QueryLane:
    """Counts the queries under way, so that passages can step aside."""

    def __init__(self) -> None:
        self._count = 0
        self._changed = threading.Condition()

    def __enter__(self) -> None:
        with self._changed:
            self._count += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    def wait_until_none(self, timeout_s: float) -> bool:
        """Wait while queries are under way; return whether none were to begin with."""
        with self._changed:
            idle = self._count == 0
            self._changed.wait_for(lambda: self._count == 0, timeout_s)
            return idle


def longest_first(ids: Sequence[Ids]) -> list[Entry]:
    """Return token ids with their positions, longest first."""
    return sorted(enumerate(ids), key=lambda entry: -len(entry[1]))


def first_batch(rest: list[Entry], budget_tokens: int) -> tuple[list[Entry], list[Entry]]:
    """Return the next batch, within the budget when padded or one text, and what is left."""
    count = max(1, budget_tokens // max(1, len(rest[0][1])))
    return rest[:count], rest[count:]


def _refuse_empty(texts: Sequence[str]) -> None:
    for i, text in enumerate(texts):
        if not has_text(text):
            raise InvalidField(f"texts[{i}]", "has nothing to read; a text needs a letter or sign")


def _output_name(session: onnxruntime.InferenceSession) -> str:
    names = [str(node.name) for node in session.get_outputs()]
    return "sentence_embedding" if "sentence_embedding" in names else names[0]


def _session(model: str | bytes, threads: int, *, exact: bool) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that spin between runs would take the cores of the rest of the process.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if exact:
        options.add_session_config_entry(_EXACT_INT8, "1")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
