"""A service whose clock is set back by a day in mid-run, once a file is there.

python -m faults.clock_back <file> <module of the service>
"""

from __future__ import annotations

import runpy
import sys
import time
from pathlib import Path

DAY_S = 86_400


def main() -> None:
    """Put the clock in the place of the real one and run the service."""
    sign = Path(sys.argv.pop(1))
    module = sys.argv.pop(1)
    real_s, real_ns = time.time, time.time_ns

    def back_s() -> int:
        return DAY_S if sign.exists() else 0

    time.time = lambda: real_s() - back_s()
    time.time_ns = lambda: real_ns() - back_s() * 1_000_000_000
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
