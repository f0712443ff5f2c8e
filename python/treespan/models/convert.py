"""Runs a conversion (`treespan.models.writer`) in a child process and passes its progress on."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

import msgspec

from treespan.models.card import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable


class Job(msgspec.Struct, frozen=True):
    """What to convert."""

    model: str
    """Name of a known model."""
    weights: str
    """Path of its weight file; a tokenizer and licences that belong to it lie beside it."""
    folder: str
    """An empty folder to write to."""
    precision: Literal["row8", "fp32"] = "row8"
    form: Literal["packed", "padded"] = "packed"


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of the child's output."""

    step: str = ""
    error: str = ""


def convert(job: Job, progress: Callable[[str], None]) -> None:
    """Write a model folder, in a child process.

    Raises:
        ModelError: the weights are refused, or the child failed. The folder may then hold parts.
    """
    with tempfile.TemporaryFile() as noise, _start(noise) as child:
        try:
            error = _follow(child, job, progress)
        except BaseException:
            child.kill()
            raise
        code = child.wait()
        if code:
            noise.seek(0)
            last = noise.read().decode("utf-8", "replace").strip().splitlines()[-1:]
            why = error or f"exit code {code}{''.join(': ' + line for line in last)}"
            raise ModelError(f"{job.model} could not be converted: {why}")


def _start(noise: IO[bytes]) -> subprocess.Popen[bytes]:
    # `-P` and the explicit path: the child imports this very package, and nothing from the
    # working folder.
    here = str(Path(__file__).resolve().parents[2])
    paths = [here, *(path for path in sys.path if path and path != here)]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "treespan.models.writer"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=noise,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )


def _follow(child: subprocess.Popen[bytes], job: Job, progress: Callable[[str], None]) -> str:
    """Send the job, pass steps on and return the child's error; empty where it had none."""
    if child.stdin is None or child.stdout is None:
        raise RuntimeError("the child was started without pipes")
    # A child that died at once says why by its exit code.
    with contextlib.suppress(BrokenPipeError), child.stdin:
        child.stdin.write(msgspec.json.encode(job))
    error = ""
    for raw in child.stdout:
        line = msgspec.json.decode(raw, type=Line)
        if line.step:
            progress(line.step)
        error = line.error or error
    return error
