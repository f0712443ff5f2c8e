"""Progress for processes that are to be killed in the middle of it."""

from __future__ import annotations

import sys


def say(what: str, done: int, total: int) -> None:
    """Print a line of progress at once."""
    sys.stdout.write(f"{what} {done} {total}\n")
    sys.stdout.flush()
