"""The command line: `treespan COMMAND`, see `treespan --help`."""

from treespan.cli.commands import main

__all__ = ["main"]
