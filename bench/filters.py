"""Filtered search: the planner's choice beside always scanning and always taking the graph.

    python bench/filters.py [--once | --refit]

Every query is asked of three indexes over one sealed file, in turn, on one thread, and its
processor time is taken: `planner` decides as in service, `scan` compares every allowed row, `graph`
never does where the graph proposes enough. Expected: recall@10 of at least 0.99 everywhere, and a
median time of the planner of at most 1.3 times the better of the two that has this recall.

Filters let through a share of the rows: `random` rows anywhere; `near`, the documents around the
query (what a graph finds at once); `away`, the documents around another query (where a graph walks
through what is not allowed, and filtering afterwards finds nothing).

`--refit` measures what a row costs to scan and a proposal of the graph, and says which setting
`search.proposal_cost` fits this machine.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import corpus
import refit
from record import INFO, Record, verdict
from searches import ALWAYS_GRAPH, ALWAYS_SCAN, LIMIT, SEAL_ROWS, compare, indexes
from treespan.config import SearchConfig

if TYPE_CHECKING:
    from searches import Asked

SHARES = (0.5, 0.1, 0.01, 0.001)
KINDS = ("random", "near", "away")
LEAST_RECALL = 0.99
MOST_RATIO = 1.3
ROUNDS = 6
PLANS = {"planner": SearchConfig().proposal_cost, "scan": ALWAYS_SCAN, "graph": ALWAYS_GRAPH}
"""`proposal_cost` of each index."""


def report(record: Record, kind: str, share: float, asked: dict[str, Asked], once: bool) -> None:
    """Add the row of a case."""
    planner = asked["planner"]
    forced = [asked[name] for name in ("scan", "graph") if asked[name].recall >= LEAST_RECALL]
    ratio = planner.p50_us / min(one.p50_us for one in forced)
    good = planner.recall >= LEAST_RECALL and (once or ratio <= MOST_RATIO)
    record.add(
        filter=kind,
        share="all" if kind == "none" else f"{100 * share:g} %",
        **{f"{name} recall": one.recall for name, one in asked.items()},
        **{f"{name} us": INFO if once else round(one.p50_us, 1) for name, one in asked.items()},
        scanned=planner.scanned / len(planner.times_us),
        ratio=INFO if once else ratio,
        expected=f"recall >= {LEAST_RECALL}, ratio <= {MOST_RATIO}",
        verdict=verdict(good),
    )


def main() -> None:
    """Measure all filters, or refit the planner."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--once", action="store_true", help="small and once, to see that it works")
    parser.add_argument("--refit", action="store_true", help="find the proposal_cost that fits")
    chosen = parser.parse_args()
    if chosen.refit:
        refit.main()
        return
    data = corpus.generated(3_000, queries=20) if chosen.once else corpus.real()
    data = data or corpus.generated(50_000)
    record = Record(
        "filters",
        f"{len(data.doc):,} rows of {data.vectors.shape[1]}, corpus {data.name}, "
        f"{len(data.queries)} queries, limit {LIMIT}; medians of processor time on one thread, the "
        "three asked in turn; scanned: share of searches that the planner (proposal_cost "
        f"{PLANS['planner']}) scanned.",
    )
    with tempfile.TemporaryDirectory(prefix="treespan-bench-") as folder:
        made = indexes(data, Path(folder), 1_000 if chosen.once else SEAL_ROWS, PLANS)
        for kind, share in [("none", 1.0), *((kind, share) for share in SHARES for kind in KINDS)]:
            asked = compare(made, data, kind, share, 1 if chosen.once else ROUNDS)
            report(record, kind, share, asked, chosen.once)
    if chosen.once:
        record.fail_where_missed()
    else:
        record.finish()


if __name__ == "__main__":
    main()
