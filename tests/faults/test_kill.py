"""Services are killed (-9) at random moments: nothing acknowledged is lost, nothing half left.

TREESPAN_KILLS sets how often (default 8; 200 in the long form), TREESPAN_SEED the moments.
"""

from __future__ import annotations

import os
import random
import threading
from typing import TYPE_CHECKING

import pytest

from faults.load import Ledger, under_load
from faults.versions import SECTIONS
from faults.wholeness import check_artifacts, check_files, check_search

if TYPE_CHECKING:
    from faults.callers import Caller
    from servers import Servers

KILLS = int(os.environ.get("TREESPAN_KILLS", "8"))
SEED = int(os.environ.get("TREESPAN_SEED", "20"))

VICTIMS = (("ingest",), ("search",), ("ingest", "search"))
_LONGEST_START_S = 1.5
"""In every fourth round the services are killed once more, within this time of their start."""


@pytest.mark.timeout(60 + 20 * KILLS)
def test_a_kill_at_any_moment_loses_nothing_acknowledged_and_leaves_nothing_half(
    running: Servers, caller: Caller
) -> None:
    moments = random.Random(SEED)
    ledger = Ledger()
    answers = segments = 0
    for number in range(KILLS):
        victims = VICTIMS[number % len(VICTIMS)]
        with under_load(running, ledger, SEED + number) as load:
            threading.Event().wait(moments.uniform(0.02, 2.5))
            running.kill(*victims)
        answers += load.answers
        if number % 4 == 3:
            _kill_while_starting(running, victims, moments.uniform(0, _LONGEST_START_S))
        running.start(*victims)
        check_search(caller, check_artifacts(caller, ledger, SECTIONS))
        segments += check_files(running)
    assert ledger.acknowledged > KILLS, "hardly a write was acknowledged, so nothing was tried"
    assert answers > KILLS, "hardly a search was answered"
    assert segments, "no segment was ever sealed"


def _kill_while_starting(servers: Servers, names: tuple[str, ...], after_s: float) -> None:
    for name in names:
        servers.spawn(name)
    threading.Event().wait(after_s)
    servers.kill(*names)
