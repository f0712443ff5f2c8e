"""Rebuilds the tokenizer of multilingual-e5-small from the vocabulary in its weight file."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

if TYPE_CHECKING:
    from treespan.models.pack import Vocabulary

_SPACE: Final = "\u2581"
"""Stands for a space in the pieces."""


def build_tokenizer(vocabulary: Vocabulary) -> Tokenizer:
    """Return the unigram tokenizer of a vocabulary."""
    pieces = [
        (piece, float(score))
        for piece, score in zip(vocabulary.pieces, vocabulary.scores, strict=True)
    ]
    special = {
        vocabulary.begin: "<s>",
        vocabulary.padding: "<pad>",
        vocabulary.end: "</s>",
        vocabulary.unknown: "<unk>",
    }
    for token, text in special.items():
        pieces[token] = (text, 0.0)
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=vocabulary.unknown, byte_fallback=False))
    tokenizer.normalizer = _normalizer(vocabulary)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(
        replacement=_SPACE, prepend_scheme="always", split=True
    )
    tokenizer.decoder = decoders.Metaspace(replacement=_SPACE, prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", vocabulary.begin), ("</s>", vocabulary.end)],
    )
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    return tokenizer


def _normalizer(vocabulary: Vocabulary) -> normalizers.Sequence:
    """Return NFKC with, ahead of it, the few code points on which the model's own table differs."""
    steps: list[normalizers.Normalizer] = []
    for target in ("", " "):
        odd = [
            code
            for code, result in vocabulary.replaced.items()
            if result == target and unicodedata.normalize("NFKC", chr(code)) != target
        ]
        if odd:
            pattern = "[" + "".join(f"\\x{{{code:X}}}" for code in odd) + "]"
            steps.append(normalizers.Replace(Regex(pattern), target))
    steps += [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    return normalizers.Sequence(steps)
