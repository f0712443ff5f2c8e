"""Records of measurements: what was measured, on which machine, and the tables made of them.

    python bench/record.py      writes the tables of bench/README.md anew from bench/record/

A record is a CSV, `record/<machine>-<date>-<suite>.csv`: lines of `# key: value` that say what the
figures are of, then one row a case. A suite's later record takes the place of its earlier ones in
the tables; the files stay.
"""

from __future__ import annotations

import csv
import datetime
import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from treespan import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "bench" / "record"
README = ROOT / "bench" / "README.md"
PASS, MISS, INFO = "PASS", "MISS", ""

Cell: TypeAlias = "str | int | float"
Row: TypeAlias = "dict[str, Cell]"

_FLAGS = ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "asimd", "bf16")
_MARKED = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


@dataclass(slots=True)
class Record:
    """The rows of one run of a suite. A row with a `verdict` has an `expected` beside it."""

    suite: str
    notes: str
    """What the figures are of: data, sizes, what is compared with what."""
    rows: list[Row] = field(default_factory=list)
    commit: str = field(default_factory=lambda: _commit())
    """As of the start: a long run may end after a later one."""

    def add(self, **row: Cell) -> None:
        """Add a row and print it."""
        self.rows.append(row)
        print("  ".join(f"{key}={_shown(value)}" for key, value in row.items()), flush=True)

    def finish(self) -> None:
        """Write the record; end the process with an error where an expectation was missed."""
        path = FOLDER / f"{machine_name()}-{_today()}-{self.suite}.csv"
        FOLDER.mkdir(exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            for key, value in self._origin().items():
                file.write(f"# {key}: {value}\n")
            writer = csv.DictWriter(file, list(self.rows[0]), lineterminator="\n")
            writer.writeheader()
            for row in self.rows:
                writer.writerow({key: _shown(value) for key, value in row.items()})
        print(f"wrote {path.relative_to(ROOT)}")
        self.fail_where_missed()

    def fail_where_missed(self) -> None:
        """End the process with an error that names the expectations that were missed."""
        missed = [row for row in self.rows if row.get("verdict") == MISS]
        if missed:
            sys.exit("\n".join(["missed:", *(f"  {_sentence(row)}" for row in missed)]))

    def _origin(self) -> dict[str, str]:
        return {
            "suite": self.suite,
            "notes": self.notes,
            "machine": f"{cpu_model()}; {os.cpu_count()} cores; {_memory_gb()} GB",
            "simd": f"kernel {_core.simd()}; the processor has {' '.join(_flags())}",
            "commit": self.commit,
            "date": _today(),
            "command": " ".join(["python", *sys.argv]),
        }


def verdict(good: bool) -> str:
    """Return the word for an expectation that was met, or not."""
    return PASS if good else MISS


def cpu_model() -> str:
    """Return the name of the processor."""
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def machine_name() -> str:
    """Return a name of the machine's kind that can be part of a file's name."""
    words = re.sub(r"\((r|tm)\)", "", cpu_model().lower())
    plain = re.sub(r"[^a-z0-9]+", "-", words).strip("-")
    model = _cpuinfo("model")
    return f"{plain}{f'-m{model}' if model else ''}-{os.cpu_count()}c"


def _cpuinfo(key: str) -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    pairs = (line.partition(":") for line in lines)
    return next((value.strip() for name, _, value in pairs if name.strip() == key), "")


def _flags() -> list[str]:
    found = set((_cpuinfo("flags") or _cpuinfo("Features")).split())
    return [flag for flag in _FLAGS if flag in found]


def _memory_gb() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def _commit() -> str:
    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "rust", "python")
    return git("rev-parse", "--short", "HEAD") + (" with changes" if changed else "")


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def _shown(value: Cell) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _sentence(row: Row) -> str:
    return ", ".join(f"{key} {_shown(value)}" for key, value in row.items() if key != "verdict")


def _read(path: Path) -> tuple[dict[str, str], list[list[str]]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    said = [line[2:].partition(": ") for line in lines if line.startswith("# ")]
    rows = list(csv.reader(line for line in lines if not line.startswith("# ")))
    return {key: value for key, _, value in said}, rows


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def _section(suite: str) -> str:
    """Return the newest record of a suite on each machine, as text."""
    newest: dict[str, Path] = {}
    for path in sorted(FOLDER.glob(f"*-{suite}.csv")):
        newest[path.name[: -len(f"-YYYY-MM-DD-{suite}.csv")]] = path
    parts = []
    for path in newest.values():
        said, rows = _read(path)
        parts.append(
            f"{said['machine']}; {said['simd']}. {said['date']}, commit {said['commit']}:\n"
            f"`{said['command']}` ([record](record/{path.name})). {said['notes']}\n\n"
            f"{_table(rows)}\n"
        )
    return "\n".join(parts) or "No record yet.\n"


def main() -> None:
    """Write the tables of README.md anew."""
    text = README.read_text(encoding="utf-8")
    README.write_text(
        _MARKED.sub(lambda mark: mark[1] + _section(mark[2]) + mark[3], text), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
