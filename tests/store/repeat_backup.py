"""A process that makes the same backup again and again, to be killed in the middle.

python -m store.repeat_backup <folder> <target>

Prints a line for each piece of progress.
"""

from __future__ import annotations

import sys
from pathlib import Path

from store.say import say
from treespan.store import back_up


def main() -> None:
    """Make backups until killed."""
    folder, target = sys.argv[1:]
    while True:
        back_up(folder, Path(target), force=True, progress=say)


if __name__ == "__main__":
    main()
