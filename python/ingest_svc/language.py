"""The language of a file: as it states, else as its script says, else as its words do.

Answers are the primary subtag of a language tag alone, "en" for "en-GB", because filters compare
them as they stand. Where neither the file nor its text says enough, there is no answer.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Final

from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

from ingest_svc.readers.block import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest_svc.readers.block import Block, ParsedFile

LEAST_CONFIDENCE: Final = 0.9
"""Below it, what the words say is no answer: names, codes and numbers are in no language."""

_STATED_IN = ("language", "lang")
_TAG = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]{1,8})*", re.IGNORECASE)
# Tags that name no language: undetermined, several, none at all, one without a code.
_NO_LANGUAGE = frozenset({"und", "mul", "zxx", "mis"})
# A language has one tag, its shortest; these are the long ones that files hold all the same.
_SHORTER = {
    "ara": "ar",
    "ces": "cs",
    "cze": "cs",
    "dan": "da",
    "deu": "de",
    "ger": "de",
    "ell": "el",
    "gre": "el",
    "eng": "en",
    "spa": "es",
    "fin": "fi",
    "fra": "fr",
    "fre": "fr",
    "heb": "he",
    "hin": "hi",
    "hun": "hu",
    "ind": "id",
    "ita": "it",
    "jpn": "ja",
    "kor": "ko",
    "nld": "nl",
    "dut": "nl",
    "nor": "no",
    "pol": "pl",
    "por": "pt",
    "ron": "ro",
    "rum": "ro",
    "rus": "ru",
    "swe": "sv",
    "tha": "th",
    "tur": "tr",
    "ukr": "uk",
    "vie": "vi",
    "zho": "zh",
    "chi": "zh",
}
_KANA = "ja"
_HAN = "zh"
# Scripts that one language of weight is written in. Han is Japanese where kana stand beside it.
_SCRIPTS = {
    _KANA: "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff",
    _HAN: "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd",
    "ko": "\u1100-\u11ff\u3131-\u318e\uac00-\ud7af",
    "th": "\u0e01-\u0e4e",
    "lo": "\u0e81-\u0ecf",
    "my": "\u1000-\u109f",
    "km": "\u1780-\u17d3",
    "el": "\u0370-\u03ff\u1f00-\u1fff",
    "hy": "\u0531-\u058f",
    "ka": "\u10a0-\u10ff",
    "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f",
    "kn": "\u0c80-\u0cff",
    "ml": "\u0d00-\u0d7f",
    "gu": "\u0a80-\u0aff",
    "si": "\u0d80-\u0dff",
}
_OF_SCRIPT = {tag: re.compile(f"[{signs}]") for tag, signs in _SCRIPTS.items()}
_OTHER_LETTER = re.compile(rf"[^\W\d_{''.join(_SCRIPTS.values())}]")
# A sign of these is worth about two letters of a word.
_WIDE = frozenset({_KANA, _HAN, "ko"})
_LEAST_KANA = 0.1
# Looked at, of a file: pieces from all over it, each from its start.
_PIECES = 128
_PIECE_CHARACTERS = 250
_loading = Lock()


def language_of(parsed: ParsedFile) -> str:
    """Return the language of a file as a lower-case primary subtag, "en"; empty where unknown."""
    stated = (primary_subtag(str(parsed.metadata.get(name, ""))) for name in _STATED_IN)
    return next(filter(None, stated), "") or language_of_text(_sample(parsed.blocks))


def primary_subtag(tag: str) -> str:
    """Return the language in a tag as files hold it; empty where it is none."""
    match = _TAG.fullmatch(tag.strip())
    if match is None or match[1].lower() in _NO_LANGUAGE:
        return ""
    language = match[1].lower()
    return _SHORTER.get(language, language)


def language_of_text(text: str) -> str:
    """Return the language of a text by its script, else by its words; empty where unknown."""
    return _by_script(text) or _by_words(text)


def _sample(blocks: list[Block]) -> str:
    """Return words from all over a file, without program code."""
    worded = [block for block in blocks if block.kind is not BlockKind.CODE]
    step = -(-len(worded) // _PIECES) or 1
    return "\n".join(
        piece[:_PIECE_CHARACTERS] for block in worded[::step] for piece in islice(_texts(block), 4)
    )


def _texts(block: Block) -> Iterator[str]:
    if block.text:
        yield block.text
    if block.table is not None:
        yield " ".join(block.table.header)
        yield from (" ".join(row) for row in block.table.rows)


def _by_script(text: str) -> str:
    """Return the language whose script has at least half of a text; empty where none has."""
    weights = {
        tag: len(signs.findall(text)) * (2 if tag in _WIDE else 1)
        for tag, signs in _OF_SCRIPT.items()
    }
    japanese = weights[_KANA] + weights[_HAN]
    if weights[_KANA] > _LEAST_KANA * japanese:
        weights |= {_KANA: japanese, _HAN: 0}
    tag = max(weights, key=lambda tag: weights[tag])
    everything = sum(weights.values()) + len(_OTHER_LETTER.findall(text))
    return tag if weights[tag] and weights[tag] * 2 >= everything else ""


def _by_words(text: str) -> str:
    with _loading:
        identifier = _identifier()
    language, confidence = identifier.classify(text)
    return primary_subtag(language) if confidence >= LEAST_CONFIDENCE else ""


@cache
def _identifier() -> LanguageIdentifier:
    """Return the identifier: loaded at its first use in half a second, and 76 MB large."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
