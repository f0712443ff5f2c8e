"""Names of elements: the vocabulary by a short prefix of ours, and the name in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_NAMES = 10_000
"""Of different ones that are remembered."""


class Names(dict[object, str]):
    """Names by tag; a plain dict finds most of them, since this is asked for every element."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        """Take the prefixes of the vocabularies; what is in none of them has the name ""."""
        super().__init__()
        self._prefixes = prefixes

    def __missing__(self, tag: object) -> str:
        """Return the name of a tag that was not asked for before."""
        name = ""
        if isinstance(tag, str):
            namespace, _, local = tag[1:].partition("}")
            prefix = self._prefixes.get(namespace)
            name = "" if prefix is None else prefix + local
        if len(self) < _MOST_NAMES:
            self[tag] = name
        return name
