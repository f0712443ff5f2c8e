"""Print what pyproject.toml asks for, one requirement a line, the developer's tools included."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def main() -> None:
    """Read pyproject.toml beside this folder and print."""
    root = Path(__file__).resolve().parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    sys.stdout.write("\n".join(wanted) + "\n")


if __name__ == "__main__":
    main()
