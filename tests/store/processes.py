"""Other processes for the tests of the store."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]


def python(module: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Start a module of the tests in another process."""
    path = os.pathsep.join([str(_ROOT / "python"), str(_ROOT / "tests")])
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        text=True,
        **options,
    )
