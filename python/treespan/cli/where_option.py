"""The option `--where`, and what the help of a command says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from treespan.cli.where import parse
from treespan.cli.where_words import WhereError
from treespan.client import filter_message
from treespan.errors import InvalidField
from treespan.filters import All

if TYPE_CHECKING:
    from treespan.filters import Filter

WHERE_HELP: Final = """\
EXPR joins conditions with and, or, not and parentheses; and binds tighter than or:

\b
  --where 'year >= 2024 and tags contains "climate"'
  --where 'not (language = de or kind = TABLE_ROW) and title matches "sea level"'

\b
Operators: =  !=  <  <=  >  >=  in (a, b)  not in (a, b)  contains x
           contains any (x, y)  contains all (x, y)  matches "words"
           exists  is empty

Keys are those of the metadata; artifact, file_name, media_type, title, language, ingested_at; and
in searches page, heading, kind and row.COLUMN. One that is not a single word stands in backticks or
quotes: `row.Net sales`.

Values are numbers, true, false, dates (2024-01-31, which is its midnight in UTC, or
2024-01-31T12:30:00Z), and strings. A string of one word that begins with a letter needs no quotes;
within quotes, a backslash stands before a quotation mark that belongs to the string.
"""


def _filter(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> Filter | None:
    """Return the filter that texts say together; what is wrong with one is wrong usage."""
    if not texts:
        return None
    try:
        parts = tuple(parse(text) for text in texts)
        where = parts[0] if len(parts) == 1 else All(parts)
        # Said here, too large a filter is wrong usage like any other text.
        filter_message(where)
    except (WhereError, InvalidField) as error:
        raise click.BadParameter(error.message, ctx, param) from error
    return where


where_option = click.option(
    "--where",
    metavar="EXPR",
    multiple=True,
    callback=_filter,
    help="Only what is like this; see below for how to say it. Several must all hold.",
)
