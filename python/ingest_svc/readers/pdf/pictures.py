"""Pages as pictures: grey pixels for recognition, PNG for a vision service."""

from __future__ import annotations

from typing import Any

import numpy as np

from ingest_svc.readers.ocr.picture import Picture

_MOST_PIXELS = 40_000_000
"""Pages that would have more are looked at in a coarser resolution."""
_VISION_SIDE = 2_400
"""Most pixels of the longer side that a vision service is sent."""
_WHOLE_PAGE = 0.8
_ENLARGED = 1.5
"""A page that is one picture is not enlarged more than this: no detail comes of it."""


def picture_of(page: Any, dpi: int) -> Picture:
    """Return a page in grey pixels, in about this resolution.

    Args:
        page: A page of an open pymupdf document.
        dpi: Dots an inch that are wanted.
    """
    chosen = _resolution(page, dpi)
    pixmap = page.get_pixmap(dpi=chosen, colorspace="gray", alpha=False)
    pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.stride)
    return Picture(np.ascontiguousarray(pixels[:, : pixmap.width]), float(chosen))


def png_of(page: Any, dpi: int) -> bytes:
    """Return a page as a PNG in colours, as `picture_of` does and no larger than services like."""
    chosen = _resolution(page, dpi)
    longer = max(page.rect.width, page.rect.height) * chosen / 72.0
    if longer > _VISION_SIDE:
        chosen = max(int(chosen * _VISION_SIDE / longer), 1)
    return bytes(page.get_pixmap(dpi=chosen, alpha=False).tobytes("png"))


def _resolution(page: Any, dpi: int) -> int:
    """Return the resolution to look at a page in."""
    area = page.rect.width * page.rect.height
    finest = int((_MOST_PIXELS / max(area, 1.0)) ** 0.5 * 72.0)
    native = _native(page, area)
    most = min(finest, int(_ENLARGED * native)) if native else finest
    return max(min(dpi, most), 1)


def _native(page: Any, area: float) -> float:
    """Return the resolution of the picture that a page is; 0 where it is none, or several."""
    pictures = page.get_image_info()
    if len(pictures) != 1:
        return 0.0
    x0, y0, x1, y1 = pictures[0]["bbox"]
    if (x1 - x0) * (y1 - y0) < _WHOLE_PAGE * area:
        return 0.0
    return float(72.0 * (pictures[0]["width"] * pictures[0]["height"] / area) ** 0.5)
