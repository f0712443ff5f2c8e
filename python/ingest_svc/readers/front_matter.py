"""The fields before a Markdown text: YAML between three dashes, or TOML between three pluses.

Only top-level words and lists of words are taken, which is what front matter holds; deeper values
are passed over. Text that merely starts with a drawn line is left alone.
"""

from __future__ import annotations

import re
import tomllib

_FENCED = re.compile(
    r"\ufeff?(---|\+\+\+)[ \t]*\n(.*?)^\1[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_FIELD = re.compile(r"([A-Za-z_][\w .-]{0,63}?):(?:[ \t]+(.*))?")
_BLANK_OR_INNER = re.compile(r"\s*(?:#.*)?|[ \t]+\S.*|-(?:[ \t].*)?|[\]}].*")
_NO_WORDS = re.compile(r"\s*(?:#.*)?|[ \t]+[A-Za-z_][\w .-]{0,63}?:(?:[ \t].*)?")
_ENTRY = re.compile(r"\s*-[ \t]+(.+)")
_BLOCK_SIGNS = ("|", ">", "|-", ">-", "|+", ">+")


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the fields, names in lower case and lists joined by commas, and the rest."""
    found = _FENCED.match(text)
    if not found:
        return {}, text
    fields = _toml(found[2]) if found[1] == "+++" else _yaml(found[2])
    return ({}, text) if fields is None else (fields, text[found.end() :])


def _toml(matter: str) -> dict[str, str] | None:
    try:
        values = tomllib.loads(matter)
    except tomllib.TOMLDecodeError:
        return None
    fields = {key.lower(): _words(value) for key, value in values.items()}
    return {key: value for key, value in fields.items() if value}


def _words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_words, value)))
    return "" if isinstance(value, dict) else str(value)


def _yaml(matter: str) -> dict[str, str] | None:
    """Return the fields; None where a line is neither a field nor belongs to one."""
    values: dict[str, list[str]] = {}
    name = ""
    for line in matter.split("\n"):
        if found := _FIELD.fullmatch(line):
            name = found[1].lower()
            values[name] = _entries((found[2] or "").strip())
        elif not _BLANK_OR_INNER.fullmatch(line):
            return None
        elif name and not _NO_WORDS.fullmatch(line):
            entry = _ENTRY.fullmatch(line)
            words = _unquoted(entry[1] if entry else line.strip())
            values[name] += (
                [words] if entry or not values[name] else [f"{values[name].pop()} {words}"]
            )
    fields = {key: ", ".join(filter(None, found)) for key, found in values.items()}
    return {key: value for key, value in fields.items() if value}


def _entries(value: str) -> list[str]:
    """Return the words of a one-line value; several of a list in brackets."""
    if not value or value in _BLOCK_SIGNS or value.startswith(("#", "{")):
        return []
    if value.startswith("[") and value.endswith("]"):
        return [_unquoted(entry) for entry in value[1:-1].split(",")]
    return [_unquoted(value)]


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return value[1:-1].replace('\\"', '"')
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return re.sub(r"\s+#.*$", "", value)
