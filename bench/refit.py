"""The planner's one constant: rows that are scanned in the time in which a graph proposes one.

Run by `python bench/filters.py --refit`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import corpus
from record import Record
from searches import ALWAYS_GRAPH, ALWAYS_SCAN, LIMIT, SEAL_ROWS, compare, indexes

if TYPE_CHECKING:
    from corpus import Corpus

ROWS = (20_000, 50_000, 100_000)
QUERIES = 60
SHARES = (1.0, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02)
CANDIDATES = (10, 15, 20, 25, 30, 40, 50, 65, 80, 100, 130, 160, 200)
_FORCED = {"scan": ALWAYS_SCAN, "graph": ALWAYS_GRAPH}
# As in planner.rs: what a graph is asked for, and how much wider it looks where few are allowed.
_LEAST_PROPOSALS = 64
_MOST_WIDENED = 4


def proposals(rows: int, allowed: int) -> int:
    """Return how many rows a graph is asked to propose for `LIMIT` hits."""
    return max(4 * LIMIT, _LEAST_PROPOSALS) * min(max(rows // allowed, 1), _MOST_WIDENED)


def scans(cost: int, rows: int, allowed: int) -> bool:
    """Return whether the planner scans, as planner.rs decides."""
    return allowed * allowed <= proposals(rows, allowed) * cost * rows


def main() -> None:
    """Measure, print what fits, and keep the record."""
    record = Record(
        "refit",
        "Processor time of a search, random rows allowed, medians, scan and graph asked in turn. "
        "fitting: the proposal_cost at which both would cost the same.",
    )
    times = {}
    made = [corpus.generated(rows, queries=QUERIES) for rows in ROWS]
    for data in [*made, *filter(None, [corpus.real()])]:
        for share, (scan_us, graph_us) in measured(data).items():
            rows, allowed = len(data.doc), round(share * len(data.doc))
            asked = proposals(rows, allowed)
            times[data.name, rows, allowed] = scan_us, graph_us
            # A graph that looks at all rows for the allowed ones costs by their share.
            a_proposal_us = graph_us / asked * allowed / rows
            record.add(
                corpus=data.name,
                rows=rows,
                share=f"{100 * share:g} %",
                **{
                    "scan us": round(scan_us, 1),
                    "graph us": round(graph_us, 1),
                    "scan ns a row": 1000 * scan_us / allowed,
                    "graph us a proposal": a_proposal_us,
                    "fitting": round(a_proposal_us / (scan_us / allowed)),
                },
            )
    for cost in CANDIDATES:
        lost = [
            (scan_us if scans(cost, rows, allowed) else graph_us) / min(scan_us, graph_us)
            for (_, rows, allowed), (scan_us, graph_us) in times.items()
        ]
        print(
            f"proposal_cost {cost:>3}: at worst {max(lost):.2f} times the better, "
            f"{np.exp(np.mean(np.log(lost))):.3f} on average"
        )
    record.finish()


def measured(data: Corpus) -> dict[float, tuple[float, float]]:
    """Return by share allowed the median microseconds of a scan and of the graph."""
    times = {}
    with tempfile.TemporaryDirectory(prefix="treespan-bench-") as folder:
        made = indexes(data, Path(folder), SEAL_ROWS, _FORCED)
        for share in SHARES:
            kind = "none" if share == 1 else "random"
            asked = compare(made, data, kind, share, 3)
            times[share] = asked["scan"].p50_us, asked["graph"].p50_us
    return times
