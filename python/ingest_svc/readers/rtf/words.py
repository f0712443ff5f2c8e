"""What control words mean: signs, places of text, properties of text."""

from __future__ import annotations

from collections.abc import Callable

from ingest_svc.readers.rtf.state import Place, State

SIGNS: dict[bytes, str] = {
    b"tab": "\t",
    b"line": "\n",
    b"softline": "\n",
    b"lbr": "\n",
    b"emdash": "—",
    b"endash": "–",
    b"emspace": " ",
    b"enspace": " ",
    b"qmspace": " ",
    b"bullet": "•",
    b"lquote": "‘",
    b"rquote": "’",
    b"ldblquote": "“",
    b"rdblquote": "”",
    b"zwj": "\u200d",
    b"zwnj": "\u200c",
}
SYMBOLS = {b"~": "\xa0", b"_": "\u2011", b"-": "", b"\\": "\\", b"{": "{", b"}": "}"}
FACTS = {
    b"title": "title",
    b"author": "author",
    b"subject": "subject",
    b"keywords": "keywords",
    b"doccomm": "description",
    b"generator": "generator",
}
NEVER_READ = frozenset(
    {
        *(b"colortbl", b"header", b"headerl", b"headerr", b"headerf", b"footer", b"footerl"),
        *(b"footerr", b"footerf", b"ftnsep", b"ftnsepc", b"aftnsep", b"aftnsepc", b"annotation"),
        *(b"nonshppict", b"shprslt", b"nonesttables", b"xe", b"tc", b"rxe", b"listtable"),
        *(b"listoverridetable", b"revtbl", b"fldinst", b"objdata", b"htmltag", b"private1"),
    }
)
"""Destinations that are no part of the text; some have no mark that says so."""
PLACES = {
    b"fonttbl": Place.FONTS,
    b"stylesheet": Place.STYLES,
    b"info": Place.INFO,
    b"listtext": Place.MARKER,
    b"pntext": Place.MARKER,
    b"shp": Place.PASS,
    b"shpinst": Place.PASS,
    b"do": Place.PASS,
    b"pict": Place.PASS,
    b"picprop": Place.PASS,
    b"sp": Place.PASS,
    b"sn": Place.NAME,
    b"sv": Place.VALUE,
    b"nesttableprops": Place.ROW,
}
INNER = (b"footnote", b"shptxt", b"dptxbxtext")
"""Destinations whose text comes behind the paragraph that they stand in."""
TRANSPARENT = frozenset({b"shppict", b"shpgrp", b"result", b"fldrslt"})
"""Destinations whose text is that of the paragraph."""


def _is_on(number: int | None) -> bool:
    return number != 0


PROPERTIES: dict[bytes, Callable[[State, int | None], State]] = {
    b"plain": lambda state, _: state.plain(),
    b"pard": lambda state, _: state.new_paragraph(),
    b"b": lambda state, number: state._replace(bold=_is_on(number)),
    b"v": lambda state, number: state._replace(hidden=_is_on(number)),
    b"deleted": lambda state, number: state._replace(deleted=_is_on(number)),
    b"fs": lambda state, number: state._replace(size=number or 24),
    b"f": lambda state, number: state._replace(font=-1 if number is None else number),
    b"uc": lambda state, number: state._replace(skipped_per_unicode=max(number or 0, 0)),
    b"s": lambda state, number: state._replace(style=number or 0),
    b"outlinelevel": lambda state, number: state._replace(outline=-1 if number is None else number),
    b"intbl": lambda state, _: state._replace(in_table=True),
    b"itap": lambda state, number: state._replace(in_table=bool(number), depth=max(number or 1, 1)),
    b"ls": lambda state, number: state._replace(list_id=number or 0),
    b"ilvl": lambda state, number: state._replace(list_level=min(max(number or 0, 0), 8)),
}
_OTHERS = (
    "ansi mac pc pca ansicpg deff upr ud par sect cell nestcell row nestrow trowd cellx trleft "
    "trhdr clmrg clvmrg fcharset cpg cs ts sbasedon"
)
KNOWN = frozenset(
    {*NEVER_READ, *PLACES, *FACTS, *INNER, *TRANSPARENT, *PROPERTIES, *_OTHERS.encode().split()}
)
"""All words that are acted on; the others say only how text looks."""
