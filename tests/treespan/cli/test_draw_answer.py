from __future__ import annotations

from google.protobuf.duration_pb2 import Duration

from drawn_trees import tree
from treespan.cli.draw import draw_marked
from treespan.cli.draw_answer import (
    answer_summary,
    draw_hit,
    expansion_lines,
    expansion_marks,
    plan_lines,
)
from treespan.v1.chunk_pb2 import Chunk, ContextNode, Document, Expansion, ExpansionStep, PassageHit
from treespan.v1.node_pb2 import NODE_KIND_SECTION, NODE_KIND_TEXT
from treespan.v1.search_service_pb2 import RecallPlan, SearchResponse, Timings

DOWN, NEXT = ExpansionStep.DIRECTION_DOWN, ExpansionStep.DIRECTION_NEXT
PREVIOUS, UP = ExpansionStep.DIRECTION_PREVIOUS, ExpansionStep.DIRECTION_UP
TAKEN, STOP = ExpansionStep.OUTCOME_TAKEN, ExpansionStep.OUTCOME_STOP
ROLLBACK = ExpansionStep.OUTCOME_ROLLBACK

# The tree of the worked example W1: the window of d within 45 tokens is S c d e f.
W1 = """
document 0
  section 4 S
    text 10 a
    text 10 b
    text 10 c
    text 10 d
    text 10 e
    text 10 f
    text 10 g
"""


def drawn(lines):
    return "\n".join(line.plain for line in lines)


def step(direction, outcome, position, tokens, left):
    return ExpansionStep(
        direction=direction,
        outcome=outcome,
        node_id=f"n{position}",
        abs_idx=position,
        tokens=tokens,
        budget_left=left,
    )


def w1_chunk():
    return Chunk(
        node_id="n5",
        abs_idx=5,
        text="d",
        context_nodes=[
            ContextNode(abs_idx=at, text=text, hit=at == 5)
            for at, text in ((1, "S"), (4, "c"), (5, "d"), (6, "e"), (7, "f"))
        ],
        expansion=Expansion(
            budget_tokens=45,
            used_tokens=44,
            down=Expansion.STOP_REASON_END,
            next=Expansion.STOP_REASON_BUDGET,
            previous=Expansion.STOP_REASON_BUDGET,
            up=Expansion.STOP_REASON_END,
            steps=[
                step(NEXT, TAKEN, 6, 10, 25),
                step(PREVIOUS, TAKEN, 4, 10, 15),
                step(NEXT, TAKEN, 7, 10, 5),
                step(PREVIOUS, ROLLBACK, 3, 10, 5),
                step(NEXT, ROLLBACK, 8, 10, 5),
                step(UP, TAKEN, 1, 4, 1),
                step(UP, TAKEN, 0, 0, 1),
            ],
        ),
    )


def test_worked_example_is_drawn_with_what_was_taken_and_left_out():
    nodes = tree(W1)
    assert drawn(draw_marked(nodes, expansion_marks(w1_chunk(), nodes), 80)) == (
        "document+ (0/74)\n"
        "└─ section+ (4/74)  S\n"
        "   ├─ … 1 node (10)\n"
        "   ├─ text· (10)  previous rolled back: 10 do not fit in 5  b\n"
        "   ├─ text+ (10)  c\n"
        "   ├─ text* (10)  d\n"
        "   ├─ text+ (10)  e\n"
        "   ├─ text+ (10)  f\n"
        "   └─ text· (10)  next rolled back: 10 do not fit in 5  g"
    )


def test_worked_example_says_why_each_direction_ended():
    assert list(expansion_lines(w1_chunk().expansion)) == [
        "budget 45 tokens, used 44, left 1",
        "ended: down end · next budget · previous budget · up end",
    ]


def test_hit_beyond_its_budget_is_said_to_have_no_context():
    expansion = Expansion(budget_tokens=10, used_tokens=50, hit_exceeds_budget=True)
    assert list(expansion_lines(expansion)) == [
        "budget 10 tokens: the hit alone exceeds it, no context"
    ]


def test_direction_never_tried_says_so():
    assert "up not tried" in list(expansion_lines(Expansion(budget_tokens=10)))[1]


def test_whole_subtree_of_a_taken_sibling_is_picked():
    nodes = tree("document 0\n  text 5 hit\n  list 0\n    text 3 one\n    text 4 two")
    chunk = Chunk(
        abs_idx=1,
        context_nodes=[ContextNode(abs_idx=at, hit=at == 1) for at in (1, 3, 4)],
        expansion=Expansion(steps=[step(NEXT, TAKEN, 2, 7, 1)]),
    )
    assert drawn(draw_marked(nodes, expansion_marks(chunk, nodes), 80)) == (
        "document (0/12)\n"
        "├─ text* (5)  hit\n"
        "└─ list+ (0/7)\n"
        "   ├─ text+ (3)  one\n"
        "   └─ text+ (4)  two"
    )


def test_heading_given_back_on_the_way_down_is_not_picked():
    nodes = tree("document 0\n  section 2 hit\n    section 3 sub\n      text 90 long")
    chunk = Chunk(
        abs_idx=1,
        context_nodes=[ContextNode(abs_idx=1, hit=True)],
        expansion=Expansion(steps=[step(DOWN, TAKEN, 2, 3, 5), step(DOWN, STOP, 3, 90, 5)]),
    )
    assert drawn(draw_marked(nodes, expansion_marks(chunk, nodes), 80)) == (
        "document (0/95)\n"
        "└─ section* (2/95)  hit\n"
        "   └─ section (3/93)  sub\n"
        "      └─ text· (90)  down stopped: 90 do not fit in 5  long"
    )


def paper(**fields):
    return Chunk(
        artifact="a",
        document=Document(file_name="attention.pdf"),
        score=0.8731,
        heading_path=["Model", "Attention"],
        page_start=4,
        page_end=5,
        **fields,
    )


def test_hit_is_drawn_between_its_contexts():
    chunk = paper(text="We scale.", previous_texts=["Before."], next_texts=["After one.", "Two."])
    assert drawn(draw_hit(1, chunk, 60)) == (
        "1  0.873  attention.pdf  p.4-5  Model › Attention\n"
        "     Before.\n"
        "   ▶ We scale.\n"
        "     After one.\n"
        "     Two."
    )


def test_long_text_is_wrapped_under_its_mark():
    chunk = Chunk(artifact="a", text="one two three four five six seven", score=1)
    assert drawn(draw_hit(2, chunk, 25)) == (
        "2  1.000  a\n   ▶ one two three four\n     five six seven"
    )


def test_chinese_is_wrapped_between_characters_and_never_before_a_mark():
    chunk = Chunk(artifact="a", text="注意力机制把查询映射为输出，权重由相似度得到。", score=1)
    assert drawn(draw_hit(1, chunk, 25)).splitlines()[1:] == [
        "   ▶ 注意力机制把查询映射",
        "     为输出，权重由相似度",
        "     得到。",
    ]


def test_missing_text_and_several_hits_of_a_passage_are_shown():
    chunk = paper(
        text="first",
        hits=[PassageHit(node_id="n1"), PassageHit(node_id="n3")],
        context_nodes=[
            ContextNode(text="Attention", kind=NODE_KIND_SECTION),
            ContextNode(text="first", kind=NODE_KIND_TEXT, hit=True),
            ContextNode(text="second", kind=NODE_KIND_TEXT, hit=True, gap_before=True),
        ],
    )
    assert drawn(draw_hit(1, chunk, 80)) == (
        "1  0.873  attention.pdf  p.4-5  Model › Attention  2 hits\n"
        "     Attention\n"
        "   ▶ first\n"
        "     ⋯\n"
        "   ▶ second"
    )


def test_summary_and_plan_say_how_much_and_how_long():
    answer = SearchResponse(
        chunks=[Chunk(), Chunk()],
        token_count=2048,
        timings=Timings(
            embed=Duration(nanos=8_120_000),
            recall=Duration(nanos=1_000_000),
            context=Duration(nanos=250_000),
            total=Duration(nanos=9_500_000),
        ),
    )
    assert answer_summary(answer) == (
        "2 hits · 2,048 tokens · 9.5 ms (embed 8.1, recall 1.0, context 0.2)"
    )
    plan = RecallPlan(
        method=RecallPlan.METHOD_MIXED,
        rows=12_000,
        allowed_rows=300,
        compared_rows=280,
        documents=40,
        below_threshold=2,
        embedding_model="e5",
    )
    assert list(plan_lines(plan)) == [
        "plan: mixed · 12,000 vectors, 300 allowed, 280 compared exactly · 40 documents",
        "model: e5 · below the threshold: 2",
    ]


def test_no_hit_is_said_in_words():
    assert answer_summary(SearchResponse()).startswith("no hit · 0 tokens")
