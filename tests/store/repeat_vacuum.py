"""A process that makes garbage and vacuums it, again and again, to be killed in the middle.

python -m store.repeat_vacuum <folder>

Prints a line for each piece of progress.
"""

from __future__ import annotations

import sys

from store.say import say
from treespan.store import vacuum


def main() -> None:
    """Vacuum until killed."""
    while True:
        vacuum(sys.argv[1], progress=say)


if __name__ == "__main__":
    main()
