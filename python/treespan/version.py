"""The version of treespan."""

from importlib.metadata import version

VERSION = version("treespan")
