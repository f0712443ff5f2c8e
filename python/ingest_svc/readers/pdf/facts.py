"""What a PDF states of itself: title, author and the like, and when it was made."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingest_svc.readers.block import Value

_NO_TITLE = re.compile(
    r"^(?:untitled|unbenannt|sans titre|document\d*|title|slide \d+|presentation\d*|no ?title|"
    r".{0,3})$|"
    r"\.(?:docx?|pdf|indd|xlsx?|pptx?|tex|dvi|ps|qxd|fm|rtf|odt|html?|txt|wpd|pmd|cdr|jpe?g|png"
    r"|tiff?)$|[/\\]",
    re.IGNORECASE,
)
_PROGRAM = re.compile(r"^(?:Microsoft (?:Word|PowerPoint|Excel) - |Print - )", re.IGNORECASE)
_NAMES = {"author": "author", "subject": "subject", "creator": "generator"}
_DATES = {"creationDate": "created", "modDate": "modified"}
_DATE = re.compile(
    r"^(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-])(\d\d)'?(\d\d)?'?|Z)?"
)


def title_of(document: Any) -> str:
    """Return the title that the file states; empty where it is only a file name or a default."""
    title = _PROGRAM.sub("", _line(_stated(document).get("title")))
    return "" if _NO_TITLE.search(title) else title


def metadata_of(document: Any) -> dict[str, Value]:
    """Return what the file states about itself."""
    stated = _stated(document)
    found: dict[str, Value] = {
        name: text for key, name in _NAMES.items() if (text := _line(stated.get(key)))
    }
    keywords = [_line(word) for word in re.split("[,;]", stated.get("keywords") or "")]
    if any(keywords):
        found["keywords"] = [word for word in keywords if word]
    if document.language:
        found["language"] = document.language
    return found


def dates_of(document: Any) -> dict[str, str]:
    """Return when the file was made and changed, as it states; without a zone it is UTC."""
    stated = _stated(document)
    found = {name: _date(stated.get(key) or "") for key, name in _DATES.items()}
    return {name: date for name, date in found.items() if date}


def _stated(document: Any) -> dict[str, str | None]:
    return document.metadata or {}


def _line(text: str | None) -> str:
    return " ".join((text or "").replace("\x00", "").split())


def _date(text: str) -> str:
    """Return a date like D:20240131120000+01'00' as RFC 3339; empty where it is none."""
    found = _DATE.match(text.strip())
    if not found:
        return ""
    year, month, day, hour, minute, second = (
        int(part) if part else least
        for part, least in zip(found.groups()[:6], (0, 1, 1, 0, 0, 0), strict=True)
    )
    sign, hours, minutes = found.groups()[6:]
    away = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    try:
        zone = timezone(-away if sign == "-" else away) if away else UTC
        when = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=zone)
    except ValueError:
        return ""
    return when.isoformat().replace("+00:00", "Z")
