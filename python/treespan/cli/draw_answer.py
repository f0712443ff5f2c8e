"""Answers as lines of text: hits with the context around them, and how they were found.

    1  0.873  attention.pdf  p.4  Model › Attention
         An attention function maps a query ...
       ▶ We call our attention "Scaled Dot-Product Attention" ...
         The two most commonly used attention functions ...

Lines are styled, and say the same without a style.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from rich.text import Text

from treespan.cli.draw import HIT, LEFT_OUT, PICKED, Mark, pages
from treespan.cli.screen import counted, one_line, wrapped
from treespan.v1.chunk_pb2 import Expansion, ExpansionStep
from treespan.v1.node_pb2 import NODE_KIND_SECTION
from treespan.v1.search_service_pb2 import RecallPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from treespan.v1.chunk_pb2 import Chunk
    from treespan.v1.node_pb2 import Node
    from treespan.v1.search_service_pb2 import SearchResponse, Timings

_INDENT: Final = "     "
_HIT_INDENT: Final = "   ▶ "
_GAP: Final = "⋯"


class _Passage(NamedTuple):
    """One text of an answer."""

    text: str
    hit: bool = False
    heading: bool = False
    gap_before: bool = False


def draw_hit(rank: int, chunk: Chunk, width: int) -> Iterator[Text]:
    """Yield the lines of one hit: where it is, then its texts in document order."""
    yield hit_title(rank, chunk)
    for passage in _passages(chunk):
        if passage.gap_before:
            yield Text(_INDENT + _GAP, style="dim")
        style = "bold green" if passage.hit else "dim italic" if passage.heading else "dim"
        indent = _HIT_INDENT if passage.hit else _INDENT
        for line in wrapped(passage.text, max(width - len(_INDENT), 20)):
            yield Text(indent + line if line else "", style=style)
            indent = _INDENT


def hit_title(rank: int, chunk: Chunk) -> Text:
    """Return one line: rank, score, file, pages, headings above."""
    name = chunk.document.file_name or chunk.artifact
    title = Text.assemble(
        (str(rank), "bold"), f"  {chunk.score:.3f}  ", (one_line(name), "bold cyan")
    )
    for part in (
        pages(chunk.page_start, chunk.page_end),
        " › ".join(one_line(heading) for heading in chunk.heading_path),
        counted(len(chunk.hits), "hit") if len(chunk.hits) > 1 else "",
    ):
        if part:
            title.append(f"  {part}")
    return title


def answer_summary(answer: SearchResponse) -> str:
    """Return how much was found, and the server's time for it."""
    hits = counted(len(answer.chunks), "hit") if answer.chunks else "no hit"
    return f"{hits} · {counted(answer.token_count, 'token')} · {_times(answer.timings)}"


def plan_lines(plan: RecallPlan) -> Iterator[str]:
    """Yield how the hits were found."""
    method = RecallPlan.Method.Name(plan.method).removeprefix("METHOD_").lower()
    yield (
        f"plan: {method} · {plan.rows:,} vectors, {plan.allowed_rows:,} allowed, "
        f"{plan.compared_rows:,} compared exactly · {plan.documents:,} documents"
    )
    yield f"model: {plan.embedding_model} · below the threshold: {plan.below_threshold:,}"


def expansion_lines(expansion: Expansion) -> Iterator[str]:
    """Yield what the context cost and why each direction ended."""
    if expansion.hit_exceeds_budget:
        yield f"budget {expansion.budget_tokens:,} tokens: the hit alone exceeds it, no context"
        return
    budget, used = expansion.budget_tokens, expansion.used_tokens
    yield f"budget {budget:,} tokens, used {used:,}, left {budget - used:,}"
    yield (
        f"ended: down {_reason(expansion.down)} · next {_reason(expansion.next)} · "
        f"previous {_reason(expansion.previous)} · up {_reason(expansion.up)}"
    )


def expansion_marks(chunk: Chunk, nodes: Sequence[Node]) -> dict[int, Mark]:
    """Return by position what became of the nodes that the expansion looked at."""
    marks: dict[int, Mark] = {}
    for step in chunk.expansion.steps:
        marks.update(_step_marks(step, nodes))
    texts = {node.abs_idx: node.hit for node in chunk.context_nodes}
    # The texts returned are the last word: a container taken on the way down may be given back.
    marks = {
        position: mark
        for position, mark in marks.items()
        if mark.symbol != PICKED or position in texts or not nodes[position].own_tokens
    }
    for position, hit in texts.items():
        marks[position] = Mark(HIT if hit else PICKED)
    return marks | {chunk.abs_idx: Mark(HIT)}


def _step_marks(step: ExpansionStep, nodes: Sequence[Node]) -> dict[int, Mark]:
    direction = ExpansionStep.Direction.Name(step.direction).removeprefix("DIRECTION_").lower()
    if step.outcome != ExpansionStep.OUTCOME_TAKEN:
        how = "stopped" if step.outcome == ExpansionStep.OUTCOME_STOP else "rolled back"
        why = f"{direction} {how}: {step.tokens:,} do not fit in {step.budget_left:,}"
        return {step.abs_idx: Mark(LEFT_OUT, why)}
    sideways = step.direction in (ExpansionStep.DIRECTION_NEXT, ExpansionStep.DIRECTION_PREVIOUS)
    end = nodes[step.abs_idx].end if sideways else step.abs_idx + 1
    return dict.fromkeys(range(step.abs_idx, end), Mark(PICKED))


def _passages(chunk: Chunk) -> Iterator[_Passage]:
    if chunk.context_nodes:
        for node in chunk.context_nodes:
            heading = node.kind == NODE_KIND_SECTION
            yield _Passage(node.text, node.hit, heading, node.gap_before)
        return
    yield from (_Passage(text) for text in chunk.previous_texts)
    yield _Passage(chunk.text, hit=True)
    yield from (_Passage(text) for text in chunk.next_texts)


def _times(timings: Timings) -> str:
    stages = ("embed", "recall", "context")
    parts = ", ".join(f"{name} {_ms(timings, name)}" for name in stages)
    return f"{_ms(timings, 'total')} ms ({parts})"


def _ms(timings: Timings, stage: str) -> str:
    seconds: float = getattr(timings, stage).ToTimedelta().total_seconds()
    return f"{seconds * 1000:.1f}"


def _reason(reason: Expansion.StopReason.ValueType) -> str:
    if reason == Expansion.STOP_REASON_UNSPECIFIED:
        return "not tried"
    return Expansion.StopReason.Name(reason).removeprefix("STOP_REASON_").lower()
