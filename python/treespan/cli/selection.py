"""Which files of a folder are taken: patterns, and names that mark what is not for reading."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

HIDDEN: Final = "hidden"
TEMPORARY: Final = "temporary"
EXCLUDED: Final = "excluded"
NOT_INCLUDED: Final = "not included"
LINK: Final = "link to a folder"
NO_FILE: Final = "no regular file"

# Locks of Office, swap files of editors, downloads under way, and what file browsers leave.
_TEMPORARY: Final = re.compile(
    r"~\$.*|.*~|.*\.(?:swp|swo|part|partial|crdownload|download|filepart|tmp|temp)"
    r"|thumbs\.db|desktop\.ini",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^]]*\]|[^*?\[]+|\[")
_WILD: Final = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@dataclass(frozen=True, slots=True)
class Selection:
    """Patterns that say which files of a folder are taken."""

    include: tuple[re.Pattern[str], ...] = ()
    """Files are taken that match one of these; none means all."""
    exclude: tuple[re.Pattern[str], ...] = ()
    """Files are left out that match one of these, or lie in a folder that does."""

    @classmethod
    def of(cls, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> Selection:
        """Return the selection that globs describe.

        Without a "/", a glob is about names at any depth; with one, about paths within the folder
        given. "*" and "?" stop at a "/", "**" does not.
        """
        return cls(tuple(map(_compiled, include)), tuple(map(_compiled, exclude)))

    def file_left_out(self, path: str) -> str:
        """Return why a file is left out, by its path within the folder; empty where it is taken."""
        name = path.rpartition("/")[2]
        if name.startswith("."):
            return HIDDEN
        if _TEMPORARY.fullmatch(name):
            return TEMPORARY
        if self._excluded(path):
            return EXCLUDED
        if self.include and not any(glob.fullmatch(path) for glob in self.include):
            return NOT_INCLUDED
        return ""

    def folder_left_out(self, path: str) -> str:
        """Return why a folder is left out with all that is in it; empty where it is looked into."""
        if path.rpartition("/")[2].startswith("."):
            return HIDDEN
        return EXCLUDED if self._excluded(path) else ""

    def _excluded(self, path: str) -> bool:
        return any(glob.fullmatch(path) for glob in self.exclude)


def _compiled(glob: str) -> re.Pattern[str]:
    bare = glob.rstrip("/")
    depth = "" if "/" in bare else "(?:.*/)?"
    written = "".join(map(_regex, _PARTS.findall(bare.removeprefix("/"))))
    return re.compile(depth + written, re.DOTALL)


def _regex(part: str) -> str:
    if part in _WILD:
        return _WILD[part]
    if part.startswith("[") and len(part) > 2:
        body = part[1:-1].replace("\\", r"\\")
        return f"[^/{body[1:]}]" if body.startswith("!") else f"[{body}]"
    return re.escape(part)
