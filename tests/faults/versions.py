"""Documents that say on every line which version of which artifact they are."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from treespan.v1.chunk_pb2 import Chunk

SECTIONS = 20
COLOURS = ("red", "green", "blue")
"""Words that the tiny model knows: their mixture makes one vector differ from the next."""

_MARK = re.compile(r"artifact (\w+) version (\d+)\b")


def document(artifact: str, version: int, sections: int = SECTIONS) -> bytes:
    """A Markdown file of the same shape for every version."""
    mark = f"artifact {artifact} version {version}"
    words = random.Random(f"{artifact} {version}")
    return "\n\n".join(
        f"# Section {number} of {mark}\n\n" + "".join(_sentences(mark, words))
        for number in range(sections)
    ).encode()


def _sentences(mark: str, words: random.Random) -> Iterable[str]:
    for number in range(12):
        colours = " ".join(words.choices(COLOURS, k=5))
        yield f"Sentence {number} of {mark} is {colours}. "


def marks(texts: Iterable[str]) -> set[tuple[str, int]]:
    """The artifacts and versions that texts speak of; every text must speak of one."""
    found = set()
    for text in texts:
        said = {(artifact, int(version)) for artifact, version in _MARK.findall(text)}
        assert said, f"a text without a mark: {text!r}"
        found |= said
    return found


def version_of(chunk: Chunk) -> int:
    """The version of a chunk; all of it, its metadata too, must be of this one."""
    texts = [chunk.text, *chunk.previous_texts, *chunk.next_texts, *chunk.heading_path]
    [(artifact, version)] = marks(texts)
    assert artifact == chunk.artifact
    said = chunk.metadata["version"].int_value
    assert said == version, f"text of version {version} with metadata of version {said}"
    return version


def versions_of(chunks: Iterable[Chunk]) -> dict[str, int]:
    """The version of every artifact in an answer, which must hold no two of one artifact."""
    found: dict[str, int] = {}
    for chunk in chunks:
        version = version_of(chunk)
        first = found.setdefault(chunk.artifact, version)
        assert first == version, f"{chunk.artifact}: versions {first} and {version} in one answer"
    return found
