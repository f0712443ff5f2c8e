"""Metadata on the command line: KEY=VALUE is text, KEY:=VALUE a JSON value or a date."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from treespan.client.metadata import metadata_values
from treespan.errors import InvalidField

if TYPE_CHECKING:
    from treespan.client import MetadataInput


def metadata_of_pairs(option: str, pairs: tuple[str, ...]) -> MetadataInput:
    """Return the metadata that an option gives, which may be repeated.

    Raises:
        click.BadParameter: a pair has another form, or its value cannot be kept.
    """
    metadata = dict(_pair(option, pair) for pair in pairs)
    try:
        metadata_values(metadata)
    except InvalidField as error:
        raise click.BadParameter(error.message, param_hint=option) from error
    return metadata


def _pair(option: str, pair: str) -> tuple[str, Any]:
    key, equals, value = pair.partition("=")
    if not equals or not key.removesuffix(":"):
        raise click.BadParameter(f"{pair!r} is not KEY=VALUE", param_hint=option)
    if not key.endswith(":"):
        return key, value
    try:
        return key[:-1], json.loads(value)
    except ValueError as error:
        time = _time(value)
        if time is not None:
            return key[:-1], time
        raise click.BadParameter(
            f"{value!r} is neither JSON ({error}) nor a date such as 2024-01-31", param_hint=option
        ) from error


def _time(value: str) -> datetime | None:
    """Return a date's midnight, or a date-time; in UTC where it names no zone."""
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
