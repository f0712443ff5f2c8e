"""A service as a process: settings, log, serve, and an exit code."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

from treespan.config import Config, ConfigError, load
from treespan.errors import TreespanError
from treespan.log import configure
from treespan.models.card import ModelError
from treespan.rpc.server import AddressInUse

if TYPE_CHECKING:
    from collections.abc import Callable


def run(name: str, serve: Callable[[Config], None]) -> int:
    """Serve until the process is asked to stop; return the exit code.

    Args:
        name: Name of the service in the log.
        serve: Serves, and returns when all is drained.
    """
    try:
        config, _ = load()
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    configure(config.log, name)
    try:
        serve(config)
    except (TreespanError, ModelError, AddressInUse, OSError) as error:
        logging.getLogger(__name__).error("cannot serve: %s", error)  # the sentence says all
        return 1
    return 0
