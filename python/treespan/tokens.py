"""Tokenizers: text to the ids that a model reads, and the token counts that budgets are made of.

Large vocabularies are large in memory (295 MB for multilingual-e5-small), so a process opens a
`Tokenizer` once and hands it to whoever needs it: the embedder truncates for itself, the counter
never does.
"""

from __future__ import annotations

import hashlib
import unicodedata
from typing import TYPE_CHECKING, Any, Final

import tokenizers

from treespan.models.card import ModelError
from treespan.word_counts import WordCounts, splits_at_spaces

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_GROUP_CHARACTERS: Final = 2_000_000
"""Texts are encoded in groups of about this size: an encoding takes about 100 bytes a token."""
_WRITTEN: Final = frozenset("LNPS")
"""First letters of the Unicode categories of letters, numbers, punctuation and symbols."""


def has_text(text: str) -> bool:
    """Return whether a text has anything to read: not only white space and invisible characters."""
    return any(
        character.isalnum() or unicodedata.category(character)[0] in _WRITTEN for character in text
    )


class Tokenizer:
    """A tokenizer, without the truncation and padding in its file; safe from many threads."""

    def __init__(self, inner: tokenizers.Tokenizer, sha256: str) -> None:
        self._inner = inner
        self._inner.no_padding()
        self._inner.no_truncation()
        self._specials = inner.num_special_tokens_to_add(is_pair=False)
        self._words = WordCounts(inner, self._counted) if splits_at_spaces(inner) else None
        self.sha256 = sha256
        """Hex SHA-256 of the file."""

    @classmethod
    def open(cls, path: Path) -> Tokenizer:
        """Load a `tokenizer.json`.

        Raises:
            ModelError: the file is missing or no tokenizer.
        """
        try:
            data = path.read_bytes()
            inner = tokenizers.Tokenizer.from_buffer(data)
        except OSError as error:
            raise ModelError(f"{path} cannot be read: {error}") from error
        except Exception as error:  # the library raises nothing narrower
            raise ModelError(f"{path} is no tokenizer.json: {error}") from error
        return cls(inner, hashlib.sha256(data).hexdigest())

    def encode(self, texts: Sequence[str], max_tokens: int) -> list[list[int]]:
        """Return each text's ids, special tokens included; the end of a longer text is cut off.

        Args:
            texts: The texts, prefixes included.
            max_tokens: Most ids of a text, special tokens included.
        """
        encodings = self._inner.encode_batch_fast(list(texts))
        return [
            encoding.ids if len(encoding) <= max_tokens else self._cut(text, max_tokens)
            for text, encoding in zip(texts, encodings, strict=True)
        ]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return each text's number of tokens, without special tokens and without truncation."""
        if self._words is None:
            return self._counted(texts)
        return self._words.count(texts)

    def _counted(self, texts: Sequence[str]) -> list[int]:
        counts: list[int] = []
        for group in _groups(texts):
            encodings = self._inner.encode_batch_fast(group, add_special_tokens=False)
            counts.extend(map(len, encodings))
        return counts

    def _cut(self, text: str, max_tokens: int) -> list[int]:
        bare = self._inner.encode(text, add_special_tokens=False)
        bare.truncate(max_tokens - self._specials)
        whole: Any = self._inner.post_process(bare)
        return list(whole.ids)


class TokenCounter:
    """Counts tokens by the budget tokenizer, which need not be the embedding model's."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @classmethod
    def open(cls, path: Path) -> TokenCounter:
        """Load a `tokenizer.json`.

        To share the embedding model's, make the counter of `embedder.tokenizer` instead.

        Raises:
            ModelError: the file is missing or no tokenizer.
        """
        return cls(Tokenizer.open(path))

    @property
    def fingerprint(self) -> str:
        """Return what identifies the tokenizer; equal fingerprints count alike."""
        return self._tokenizer.sha256

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return each text's number of tokens; 0 for an empty text."""
        return self._tokenizer.count(texts)


def _groups(texts: Sequence[str]) -> Iterator[list[str]]:
    group: list[str] = []
    size = 0
    for text in texts:
        group.append(text)
        size += len(text)
        if size >= _GROUP_CHARACTERS:
            yield group
            group, size = [], 0
    if group:
        yield group
