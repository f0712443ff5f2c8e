from __future__ import annotations

import pytest
from click.testing import CliRunner

from fake_services import FakeIngest, FakeSearch, serving
from treespan.cli import main
from treespan.v1.chunk_pb2 import Chunk, ContextNode, Document, Expansion
from treespan.v1.search_service_pb2 import SearchResponse


@pytest.fixture
def ingest():
    return FakeIngest()


@pytest.fixture
def search():
    fake = FakeSearch()
    fake.answer = SearchResponse(
        token_count=12,
        chunks=[
            Chunk(
                node_id="n2",
                abs_idx=2,
                artifact="paper",
                document=Document(file_name="论文.pdf"),
                score=0.5,
                text="The hit.",
                previous_texts=["[bold]Before.[/bold]"],
                next_texts=["After."],
                context_nodes=[ContextNode(abs_idx=2, text="The hit.", hit=True)],
                expansion=Expansion(budget_tokens=100, used_tokens=5),
            )
        ],
    )
    return fake


@pytest.fixture
def run(ingest, search):
    """Run a command line against both services."""
    with serving(ingest, search) as address:

        def run(*arguments, env=None, answer=None):
            addresses = ["--ingest", address, "--search", address]
            return CliRunner().invoke(
                main, [*addresses, *map(str, arguments)], input=answer, env=env
            )

        yield run
