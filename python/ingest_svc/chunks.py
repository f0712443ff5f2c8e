"""Chunks: texts cut at sentence ends, never across a section, short neighbours packed together.

A text of up to a quarter more than the target stays whole; a longer one is cut into parts of about
equal size. Texts below the minimum join their neighbours, so that a line of three words is no chunk
of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treespan.segmentation import pieces, sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Count = Callable[[Sequence[str]], list[int]]

_ENDS = frozenset(".!?…。！？；;")
_MOST_CHARACTERS_A_TOKEN = 16
_CLOSING = "\"'”’」』）)]】》 "


@dataclass(frozen=True, slots=True)
class ChunkRules:
    """Sizes, in tokens of the embedding model."""

    target_tokens: int = 100
    """About how large a chunk is."""
    limit_tokens: int = 460
    """No chunk is larger, whatever its sentences are."""

    @property
    def whole_tokens(self) -> int:
        """Return the size up to which a text stays whole."""
        return self.target_tokens + self.target_tokens // 4

    @property
    def least_tokens(self) -> int:
        """Return the size below which a text joins its neighbours."""
        return max(1, self.target_tokens // 4)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a text: its place in it, in code points, and its tokens."""

    start: int
    end: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Text:
    """A text and its sentences; between two of them there is nothing but white space."""

    text: str
    sentences: tuple[Sentence, ...]
    page_start: int = 0
    page_end: int = 0

    @property
    def tokens(self) -> int:
        """Return the tokens of all sentences."""
        return sum(sentence.tokens for sentence in self.sentences)


def measured(
    texts: Sequence[tuple[str, int, int]], count: Count, rules: ChunkRules, *, lines: bool = False
) -> list[Text]:
    """Return texts with their sentences found and counted, all in one call of the tokenizer.

    Args:
        texts: (text, first page, last page), without white space around the text.
        count: Counts tokens.
        rules: Sentences above its limit are cut at clause marks, white space or, last,
            between characters.
        lines: Take lines for sentences, as in program code.
    """
    find = _lines if lines else sentences
    spans = [find(text) for text, _, _ in texts]
    flat = [
        text[start:end]
        for (text, _, _), found in zip(texts, spans, strict=True)
        for start, end in found
    ]
    counts = iter(count(flat))
    result = []
    for (text, first, last), found in zip(texts, spans, strict=True):
        marked = [Sentence(start, end, next(counts)) for start, end in found]
        result.append(Text(text, tuple(_bounded(text, marked, count, rules)), first, last))
    return result


def cut(text: Text, rules: ChunkRules) -> list[Text]:
    """Return a text as chunks: itself where it is short, else runs of sentences of equal size."""
    if text.tokens <= rules.whole_tokens or len(text.sentences) == 1:
        return [text]
    parts = math.ceil(text.tokens / rules.target_tokens)
    ideal = text.tokens / parts
    runs: list[list[Sentence]] = [[]]
    done = 0
    for sentence in text.sentences:
        # A new run starts where the middle of the sentence lies beyond the next ideal border.
        if runs[-1] and done + sentence.tokens / 2 > ideal * len(runs):
            runs.append([])
        runs[-1].append(sentence)
        done += sentence.tokens
    return [_slice(text, run) for run in runs]


def packed(texts: Sequence[Text], rules: ChunkRules) -> list[list[Text]]:
    """Return neighbouring texts in groups: those too short to stand alone with those beside."""
    groups: list[list[Text]] = []
    sizes: list[int] = []
    for text in texts:
        short = text.tokens < rules.least_tokens
        after_lead = bool(groups) and _leads(groups[-1][-1], rules)
        joins = (
            groups
            and (short or after_lead or sizes[-1] < rules.least_tokens)
            and sizes[-1] + text.tokens <= rules.target_tokens
            and (after_lead or not _leads(text, rules))
        )
        if joins:
            groups[-1].append(text)
            sizes[-1] += text.tokens
        else:
            groups.append([text])
            sizes.append(text.tokens)
    return groups


def _leads(text: Text, rules: ChunkRules) -> bool:
    """Return whether a text reads as a line that leads to what follows: short, and no sentence."""
    return text.tokens < rules.least_tokens and text.text.rstrip(_CLOSING)[-1:] not in _ENDS


def _slice(text: Text, run: Sequence[Sentence]) -> Text:
    start = run[0].start
    return Text(
        text.text[start : run[-1].end],
        tuple(Sentence(s.start - start, s.end - start, s.tokens) for s in run),
        text.page_start,
        text.page_end,
    )


def _bounded(
    text: str, found: Sequence[Sentence], count: Count, rules: ChunkRules
) -> list[Sentence]:
    """Return the sentences, those above the limit cut into pieces that are not."""
    result: list[Sentence] = []
    for sentence in found:
        body = text[sentence.start : sentence.end]
        if _size(sentence.tokens, body) <= rules.limit_tokens:
            result.append(sentence)
            continue
        spans = pieces(
            body, lambda texts: list(map(_size, count(texts), texts)), rules.target_tokens
        )
        sizes = count([body[start:end] for start, end in spans])
        result += [
            Sentence(sentence.start + start, sentence.start + end, size)
            for (start, end), size in zip(spans, sizes, strict=True)
        ]
    return result


def _size(tokens: int, text: str) -> int:
    """Return a text's tokens, or what its length is worth where few tokens hold very much of it.

    A tokenizer may take a megabyte of one unknown sign for a single token.
    """
    return max(tokens, len(text) // _MOST_CHARACTERS_A_TOKEN)


def _lines(text: str) -> list[tuple[int, int]]:
    spans = []
    at = 0
    for line in text.split("\n"):
        if line.strip():
            spans.append((at, at + len(line.rstrip())))
        at += len(line) + 1
    return spans
