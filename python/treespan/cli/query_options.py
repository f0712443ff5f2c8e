"""The options that `search` and `explain` share."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from treespan.cli.where_option import where_option
from treespan.client import SearchKeywords

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

_MODES = click.Choice(["tree", "none", "sentence-window", "linear", "parent"])
_OPTIONS = [
    click.option(
        "-a",
        "--artifact",
        "artifacts",
        multiple=True,
        help="Search this artifact; may be repeated.",
    ),
    where_option,
    click.option("-n", "--limit", type=click.IntRange(1, 10_000), help="Most hits.  [default: 10]"),
    click.option(
        "-b",
        "--budget",
        "token_budget",
        type=click.IntRange(1, 1_000_000),
        help="Tokens a hit with its context.",
    ),
    click.option(
        "--answer-budget",
        "answer_token_budget",
        type=click.IntRange(1, 10_000_000),
        help="Tokens of the whole answer.",
    ),
    click.option("-m", "--mode", type=_MODES, help="How context grows.  [default: tree]"),
    click.option(
        "--sentences",
        type=click.IntRange(0, 100),
        help="Sentences on each side, with --mode sentence-window.  [default: 3]",
    ),
    click.option("--gaps", is_flag=True, help="Pass over a neighbour that does not fit."),
    click.option("--merge", is_flag=True, help="Unite the contexts of one artifact."),
    click.option(
        "--threshold",
        "score_threshold",
        type=click.FloatRange(0, 1),
        help="Least similarity of a hit, 0 to 1.",
    ),
]


def query_options(command: Callable[..., R]) -> Callable[..., R]:
    """Add the options to a command, which gets those given as one dict named `keywords`."""

    @wraps(command)
    def collected(*args: Any, **values: Any) -> R:
        given = {
            name: values.pop(name) for name in SearchKeywords.__annotations__ if name in values
        }
        return command(*args, keywords=given, **values)

    for option in reversed(_OPTIONS):
        collected = option(collected)
    return collected
