"""Token counts by the word: the tokens of a text are those of its words, where no token spans two.

Words come back often, so most are looked up instead of being cut into tokens again: four times as
fast as the tokenizer on running English. Whatever could differ within a text from alone (characters
that normalisation turns into spaces, added tokens, space at an end) is counted with its whole text.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import tokenizers

_MOST_WORDS: Final = 200_000
_PLAIN = re.compile(
    "[!-~\u00c0-\u024f\u0386-\u03ff\u0400-\u052f\u2013\u2014\u2018-\u201e\u2022\u2026\u20ac"
    "\u3001-\u3011\u3041-\u3096\u30a1-\u30fe\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]{1,32}"
)
"""Words whose normal form has no space in it, whatever the normalisation. Longer ones are runs of
a script without spaces and hardly come back."""


_OTHER_SPACE = re.compile(r"[^\S \n\t]")
_ALIKE = ("a  b", "a\nb", "a\tb", "a \n\n\tb")


def splits_at_spaces(tokenizer: tokenizers.Tokenizer) -> bool:
    """Return whether a tokenizer cuts at every space before all else, so that words are alone."""
    spaced = tokenizer.encode("a b", add_special_tokens=False).ids
    if any(tokenizer.encode(text, add_special_tokens=False).ids != spaced for text in _ALIKE):
        return False
    stated = json.loads(tokenizer.to_str())["pre_tokenizer"] or {}
    steps = stated.get("pretokenizers", [stated])
    first = steps[0] if steps else {}
    if first.get("type") in ("WhitespaceSplit", "BertPreTokenizer", "Whitespace"):
        rest = steps[1:]
        return all(step["type"] == "Metaspace" and _marks_words(step) for step in rest)
    return len(steps) == 1 and first.get("type") == "Metaspace" and _marks_words(first)


def _marks_words(step: dict[str, object]) -> bool:
    return step.get("prepend_scheme") == "always" and step.get("split") is not False


class WordCounts:
    """Counts of words seen; safe from many threads."""

    def __init__(
        self, tokenizer: tokenizers.Tokenizer, count: Callable[[Sequence[str]], list[int]]
    ) -> None:
        """Take the tokenizer, and what counts whole texts with it."""
        added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
        self._added = re.compile("|".join(map(re.escape, added)) or "(?!)")
        self._count = count
        self._known: dict[str, int] = {}

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return each text's number of tokens."""
        words = [text.split() for text in texts]
        known = self._with({word for found in words for word in found})
        totals: list[int] = []
        whole: list[int] = []
        for at, (text, found) in enumerate(zip(texts, words, strict=True)):
            try:
                totals.append(sum(map(known.__getitem__, found)))
            except KeyError:
                totals.append(0)
                whole.append(at)
                continue
            if text[:1].isspace() or text[-1:].isspace() or _OTHER_SPACE.search(text):
                whole.append(at)
        for at, total in zip(whole, self._count([texts[at] for at in whole]), strict=True):
            totals[at] = total
        return totals

    def _with(self, words: set[str]) -> dict[str, int]:
        """Return the counts of words known, those of these that can be counted alone among them."""
        new = self._new(words)
        if len(self._known) + len(new) > _MOST_WORDS:
            self._known = {}
            new = self._new(words)
        known = self._known
        if new:
            known.update(zip(new, self._count(new), strict=True))
        return known

    def _new(self, words: set[str]) -> list[str]:
        known = self._known
        return [
            word
            for word in words
            if word not in known and _PLAIN.fullmatch(word) and not self._added.search(word)
        ]
