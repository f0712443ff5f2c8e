"""Files attached to a PDF, read as files inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ingest_svc.readers.inside import Inside
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source


def read_attached(document: Any, source: Source) -> Inside:
    """Return what was read of the files attached to a PDF.

    Raises:
        TooLarge: there are more of them, or more in them, than the limits allow.
    """
    inside = Inside(source)
    for index in range(document.embfile_count()):
        name = _name(document, index)
        try:
            data = document.embfile_get(index)
        except Exception as error:
            reason = f"the attached file cannot be unpacked ({type(error).__name__})"
            inside.refuse(name, DamagedFile(reason))
            continue
        source.unpacks().add(len(data))
        inside.add(data, name)
    return inside


def _name(document: Any, index: int) -> str:
    """Return the name of an attached file; its key where the file has none."""
    try:
        stated = document.embfile_info(index)
    except Exception:  # Its bytes may be sound all the same.
        return f"attachment {index + 1}"
    name = stated.get("ufilename") or stated.get("filename") or stated.get("name")
    return str(name or f"attachment {index + 1}")
