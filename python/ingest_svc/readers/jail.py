"""The bounds that a reader process sets itself before it touches a stranger's bytes.

Memory (address space beyond what the started process has), processor time per file, no core dumps,
no files written, no new privileges, and an end when the parent ends. Where a system lacks one of
them it is left out; the pool's wall clock works everywhere.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import signal
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_WATCH_S = 0.5


def end_with_parent(parent: int) -> None:
    """Have this process killed when the process `parent`, its parent, ends."""
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        if os.getppid() != parent:  # it ended before the call
            os._exit(1)
        return
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def bound_files() -> None:
    """Forbid core dumps and writing to files."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lower(resource.RLIMIT_FSIZE, 0)


def bound_memory(more_bytes: int) -> None:
    """Allow the process this much address space more than it has now."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        pages = int(statm.read_text(encoding="ascii").split()[0])
        _lower(resource.RLIMIT_AS, pages * resource.getpagesize() + more_bytes)


def bound_processor(seconds: int) -> None:
    """Allow this much processor time from now on; beyond it the process is ended by SIGXCPU."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _lower(resource.RLIMIT_CPU, int(usage.ru_utime + usage.ru_stime) + 1 + seconds)


PAGE = struct.Struct("<q")
"""The number of the page under way, on the board that the pool can read when it is too late."""
_board: mmap.mmap | None = None


def bound_pages(board: int) -> None:
    """Have `page_time` end this process: what a library does in C nothing else can stop.

    Args:
        board: Descriptor of a file of `PAGE.size` bytes that the pool holds too.
    """
    global _board
    _board = mmap.mmap(board, PAGE.size)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


@contextmanager
def page_time(seconds: float, number: int) -> Iterator[None]:
    """Allow this much time for a page; beyond it a bounded process ends by SIGALRM."""
    if _board is None:
        yield
        return
    PAGE.pack_into(_board, 0, number)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _lower(limit: int, value: int) -> None:
    """Set the soft limit; the hard one stays, so that it can be set anew for the next file."""
    _, hard = resource.getrlimit(limit)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(limit, (value, hard))


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_WATCH_S)
    os._exit(1)
