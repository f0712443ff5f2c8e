"""Sets of nodes, as sorted ranges of places: what filters are evaluated with.

A place is a node of an artifact, in one number; all nodes of an artifact lie in a row, so an
artifact is a single range, however many nodes it has. Everything here costs what its ranges cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Numbers: TypeAlias = "NDArray[np.int64]"

NODE_BITS: Final = 32
NODE_MASK: Final = (1 << NODE_BITS) - 1
_LAST: Final = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Ranges:
    """A set of places: `[starts[i], ends[i])`, ascending, none of them empty, no two overlapping.

    Ranges that touch stay apart, so no range of a bounded set lies in two artifacts.
    """

    starts: Numbers
    ends: Numbers
    bounded: bool = True
    """False: made by a complement, so that it has places of artifacts that nobody asked for, and of
    other collections and tenants; to be intersected with one that is bounded before it is read."""

    def __len__(self) -> int:
        """Return the number of ranges."""
        return len(self.starts)

    def artifacts(self) -> Numbers:
        """Return the numbers of the artifacts of a bounded set, ascending."""
        return _distinct(self.starts >> NODE_BITS)

    def has(self, places: Numbers) -> NDArray[np.bool_]:
        """Return which places are in the set."""
        if not len(self):
            return np.zeros(len(places), dtype=np.bool_)
        at = np.searchsorted(self.starts, places, side="right") - 1
        return (at >= 0) & (places < self.ends[at])

    def bounds(self, most: int) -> list[tuple[int, int, int]]:
        """Return artifacts, each with a first node and an end, that hold all of a bounded set.

        Args:
            most: Where the set has more ranges, each artifact comes once.
        """
        first = np.arange(len(self))
        if len(self) > most:
            first = np.flatnonzero(np.diff(self.starts >> NODE_BITS, prepend=-1))
        last = np.append(first, len(self))[1:] - 1
        artifacts = self.starts[first] >> NODE_BITS
        base = artifacts << NODE_BITS
        held = (artifacts, self.starts[first] - base, self.ends[last] - base)
        return list(zip(*(column.tolist() for column in held), strict=True))


def places(artifacts: Numbers, nodes: Numbers) -> Numbers:
    """Return the places of nodes, each in the artifact beside it."""
    return (artifacts << NODE_BITS) + nodes


def whole(artifacts: Numbers) -> Ranges:
    """Return all nodes of artifacts."""
    starts = _distinct(np.sort(artifacts)) << NODE_BITS
    return Ranges(starts, starts + (1 << NODE_BITS))


def runs(artifacts: Numbers, firsts: Numbers, lasts: Numbers) -> Ranges:
    """Return runs of nodes `[firsts[i], lasts[i])`, each in the artifact beside it."""
    return _united(places(artifacts, firsts), places(artifacts, lasts), bounded=True)


def union(parts: Sequence[Ranges]) -> Ranges:
    """Return the places that are in at least one of at least one set."""
    if len(parts) == 1:
        return parts[0]
    return _united(
        np.concatenate([part.starts for part in parts]),
        np.concatenate([part.ends for part in parts]),
        bounded=all(part.bounded for part in parts),
    )


def intersection(one: Ranges, other: Ranges) -> Ranges:
    """Return the places that are in both."""
    few, many = (one, other) if len(one) <= len(other) else (other, one)
    first = np.searchsorted(many.ends, few.starts, side="right")
    count = np.searchsorted(many.starts, few.ends, side="left") - first
    mine = np.repeat(np.arange(len(few)), count)
    # The count[i] ranges of `many` from first[i] on, one after the other.
    theirs = np.arange(len(mine)) - np.repeat(np.cumsum(count) - count, count) + first[mine]
    return Ranges(
        np.maximum(few.starts[mine], many.starts[theirs]),
        np.minimum(few.ends[mine], many.ends[theirs]),
        bounded=one.bounded or other.bounded,
    )


def complement(part: Ranges) -> Ranges:
    """Return all other places there could be."""
    starts = np.append(0, part.ends)
    ends = np.append(part.starts, _LAST)
    there = starts < ends
    return Ranges(starts[there], ends[there], bounded=False)


def _distinct(ascending: Numbers) -> Numbers:
    """Return numbers that may repeat, each once."""
    found: Numbers = ascending[np.diff(ascending, prepend=-1) != 0]
    return found


def _united(starts: Numbers, ends: Numbers, *, bounded: bool) -> Ranges:
    """Return ranges in any order, overlapping or not, as a set."""
    if not len(starts):
        return Ranges(starts, ends, bounded=bounded)
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    apart = starts[1:] >= ends[:-1]
    return Ranges(starts[np.append(True, apart)], ends[np.append(apart, True)], bounded=bounded)


NOTHING: Final = whole(np.empty(0, dtype=np.int64))
"""The empty set."""
