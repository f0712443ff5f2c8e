"""A bound on the cost of unclosed brackets: the parser looks for the end of each to the last line.

Where the bound is reached, brackets are taken for plain characters, so that no word is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

    Rule = Callable[[StateInline, bool], bool]

_RULES = ("link", "image", "footnote_inline")
_LEAST_STEPS = 2_000_000
_STEPS_PER_CHARACTER = 20
"""Texts that people write take about one."""


def bound_brackets(parser: MarkdownIt, characters: int) -> None:
    """Bound the search for the ends of brackets, for one text of so many characters."""
    left = [max(_LEAST_STEPS, _STEPS_PER_CHARACTER * characters)]
    for rule in parser.inline.ruler.__rules__:
        if rule.name in _RULES:
            parser.inline.ruler.at(rule.name, _bounded(rule.fn, left))


def _bounded(rule: Rule, left: list[int]) -> Rule:
    def bounded(state: StateInline, silent: bool) -> bool:
        if state.src[state.pos] not in "[!^":
            return False
        if left[0] <= 0:
            return False
        start = state.pos
        found = rule(state, silent)
        left[0] -= (state.pos if found else state.posMax) - start
        return found

    return bounded
