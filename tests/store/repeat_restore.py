"""A process that restores the same backup again and again, to be killed in the middle.

python -m store.repeat_restore <folder> <source>

Prints a line for each piece of progress, and when a restore is done.
"""

from __future__ import annotations

import sys
from pathlib import Path

from store.say import say
from treespan.store import restore


def main() -> None:
    """Restore until killed; the stores kept aside are dropped."""
    folder, source = sys.argv[1:]
    while True:
        report = restore(folder, Path(source), force=True, progress=say)
        say("restored", 1, 1)
        Path(report.kept).unlink()


if __name__ == "__main__":
    main()
