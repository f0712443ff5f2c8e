"""A process that writes without end, to be killed in the middle.

    python -m store.crash_writer <address> <first step>

Step `n` is a pure function of `n`, so that whoever knows how many steps were answered knows what
the store must hold. Prints the number of each step when the store has answered it.
"""

from __future__ import annotations

import itertools
import random
import sys
from contextlib import suppress
from dataclasses import replace
from typing import Any

from store import samples
from treespan.errors import TreespanError
from treespan.store import open_writer
from treespan.store.records import Draft

COLLECTIONS = ("papers", "laws")
NAMES = ("a", "b", "c", "d", "e", "f")


def step(store: Any, number: int) -> None:
    """Do one step to a store or to the model; a refusal is an answer as well."""
    chance = random.Random(number)
    tenant = chance.choice((samples.ACME, samples.GLOBEX))
    collection = chance.choice(COLLECTIONS)
    name = chance.choice(NAMES)
    content = samples.content(chance.randrange(6), sections=chance.choice((3, 300, 3000)))
    artifact = samples.new_artifact(name, content, tenant=tenant, collection=collection)
    what = chance.random()
    with suppress(TreespanError):
        if number < 4 or what < 0.05:
            tenant = (samples.ACME, samples.GLOBEX)[number % 2]
            collection = COLLECTIONS[number // 2 % 2]
            store.create_collection(samples.collection(collection, tenant))
        elif what < 0.10:
            metadata = samples.metadata(step=str(number))
            store.update_artifact(tenant, collection, name, f"{number}.txt", metadata, "")
        elif what < 0.20:
            record = samples.operation(number, name, tenant=tenant, collection=collection)
            store.begin_operation(record, samples.reserved(name, tenant, collection))
        elif what < 0.25:
            store.save_draft(Draft(replace(artifact, content=replace(content, vectors=b""))))
        elif what < 0.70:
            # Of the step before, which may have begun none.
            before = samples.operation(number - 1).operation
            store.commit_artifact(replace(artifact, operation=before, outcome=b"done"))
        elif what < 0.80:
            store.delete_artifact(tenant, collection, name)
        elif what < 0.88:
            store.delete_artifacts(tenant, collection, chance.sample(NAMES, 3))
        elif what < 0.96:
            store.reserve_artifact(samples.reserved(name, tenant, collection))
        else:
            store.delete_collection(tenant, collection, force=True)


def main() -> None:
    """Write until killed."""
    address, first = sys.argv[1:]
    writer = open_writer(address)
    for number in itertools.count(int(first)):
        step(writer, number)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
