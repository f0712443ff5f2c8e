"""Logging: one line an event, for people on a terminal and as JSON elsewhere.

Texts of documents and queries, passwords and tokens are never logged; values go into `extra`.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treespan.config import LogConfig

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def configure(config: LogConfig, service: str) -> None:
    """Set up the root logger of a process.

    Args:
        config: Level and format.
        service: Name of the process in every line, for example "ingest".
    """
    handler = logging.StreamHandler(sys.stderr)
    text = config.format == "text" or (config.format == "auto" and sys.stderr.isatty())
    handler.setFormatter(TextFormatter(service) if text else JsonFormatter(service))
    logging.basicConfig(level=config.level.upper(), handlers=[handler], force=True)
    # At debug, gRPC says something at every turn of its event loop.
    logging.getLogger("grpc").setLevel(logging.INFO)


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        line: dict[str, object] = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "service": self._service,
            "logger": record.name,
            "message": record.getMessage(),
            **_extra(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class TextFormatter(logging.Formatter):
    """Time, service, level, message, then key=value."""

    default_time_format = "%H:%M:%S"

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line for people."""
        values = "".join(f" {key}={value}" for key, value in _extra(record).items())
        level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        line = f"{self.formatTime(record)} {self._service:<6} {level}{record.getMessage()}{values}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


def _extra(record: logging.LogRecord) -> dict[str, object]:
    return {key: value for key, value in vars(record).items() if key not in _STANDARD}
