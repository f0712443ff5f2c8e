"""Ranges of places, held against plain sets of places."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treespan.store.ranges import (
    NODE_BITS,
    NOTHING,
    Ranges,
    complement,
    intersection,
    places,
    runs,
    union,
    whole,
)

NODES = 6
ARTIFACTS = 3
EVERYWHERE = [(artifact, node) for artifact in range(1, 1 + ARTIFACTS) for node in range(NODES)]


def numbers(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


@st.composite
def sets(draw: st.DrawFn) -> Ranges:
    found = draw(
        st.lists(
            st.tuples(st.integers(1, ARTIFACTS), st.integers(0, NODES - 1), st.integers(1, NODES)),
            max_size=6,
        )
    )
    return runs(
        numbers([artifact for artifact, *_ in found]),
        numbers([first for _, first, _ in found]),
        numbers([first + length for _, first, length in found]),
    )


def plain(of: Ranges) -> set[tuple[int, int]]:
    """Return the places of a set, asked one by one."""
    there = of.has(places(*map(numbers, map(list, zip(*EVERYWHERE, strict=True)))))
    return {place for place, is_in in zip(EVERYWHERE, there.tolist(), strict=True) if is_in}


def check(of: Ranges) -> None:
    assert (of.starts < of.ends).all()
    assert (of.starts[1:] >= of.ends[:-1]).all()
    if of.bounded:
        assert (of.starts >> NODE_BITS == (of.ends - 1) >> NODE_BITS).all()


@given(st.lists(sets(), min_size=1, max_size=4))
def test_a_union_has_the_places_of_each(parts: list[Ranges]) -> None:
    found = union(parts)
    check(found)
    assert plain(found) == set().union(*map(plain, parts))


@given(sets(), sets())
def test_an_intersection_has_the_places_of_both(one: Ranges, other: Ranges) -> None:
    for found in (intersection(one, other), intersection(other, one)):
        check(found)
        assert plain(found) == plain(one) & plain(other)


@given(sets(), sets())
def test_a_complement_has_the_other_places_and_is_bounded_by_another_set(
    one: Ranges, other: Ranges
) -> None:
    found = complement(other)
    check(found)
    assert not found.bounded
    assert plain(found) == set(EVERYWHERE) - plain(other)
    assert not union([one, found]).bounded
    difference = intersection(one, found)
    check(difference)
    assert difference.bounded
    assert plain(difference) == plain(one) - plain(other)


@given(sets(), st.integers(0, 8))
def test_bounds_hold_every_place(of: Ranges, most: int) -> None:
    bounds = of.bounds(most)
    held = {(a, node) for a, first, end in bounds for node in range(first, end)}
    assert plain(of) <= held
    assert {artifact for artifact, *_ in bounds} == set(of.artifacts().tolist())
    if len(of) > most:
        assert len(bounds) == len(of.artifacts())
    else:
        assert held & set(EVERYWHERE) == plain(of)


def test_whole_artifacts_stay_apart_and_come_once() -> None:
    of = whole(numbers([7, 3, 4, 3]))
    assert len(of) == 3
    assert of.artifacts().tolist() == [3, 4, 7]
    assert of.has(numbers([3 << NODE_BITS, (5 << NODE_BITS) - 1, 5 << NODE_BITS])).tolist() == [
        True,
        True,
        False,
    ]


def test_nothing_has_no_places() -> None:
    assert len(NOTHING) == len(NOTHING.artifacts()) == len(NOTHING.bounds(1)) == 0
    assert plain(NOTHING) == set()
    assert plain(complement(NOTHING)) == set(EVERYWHERE)
    assert len(union([NOTHING, NOTHING])) == len(intersection(NOTHING, NOTHING)) == 0
