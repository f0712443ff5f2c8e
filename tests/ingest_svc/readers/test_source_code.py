from __future__ import annotations

from ingest_svc.readers import read_file
from ingest_svc.readers.block import BlockKind


def code(text: str, name: str = "a.py"):
    return read_file(text.encode(), name).blocks


def test_no_line_is_lost_or_torn_and_a_short_function_stays_whole():
    functions = [
        f"def f{n}(x):\n" + "\n".join(f"    step_{n}_{line} = {line}" for line in range(20))
        for n in range(30)
    ]
    found = code("\n\n\n".join(functions))
    assert {block.kind for block in found} == {BlockKind.CODE}
    lines = [line for block in found for line in block.text.split("\n") if line]
    assert lines == [line for function in functions for line in function.split("\n")]
    for n in range(30):
        [whole] = [block for block in found if f"def f{n}(" in block.text]
        assert f"step_{n}_19" in whole.text


def test_a_long_function_is_cut_at_its_blank_lines():
    body = "\n\n".join("    a = 1\n    b = 2\n    c = 3" for _ in range(100))
    found = code(f"def long():\n{body}\n")
    assert len(found) > 3
    assert all(len(block.text.split("\n")) <= 60 for block in found)
    assert all(block.text.lstrip().startswith(("def", "a = 1")) for block in found)


def test_languages_go_by_name_and_first_line():
    assert code("fn main() {}", "a.rs")[0].language == "rust"
    assert code("all:\n\ttrue", "Makefile")[0].language == "makefile"
    assert code("#!/usr/bin/env bash\necho hi", "run")[0].language == "shell"
    assert code("# just words\n", "notes.txt")[0].kind is not BlockKind.CODE


def test_comments_are_no_headings():
    assert [block.kind for block in code("# One\n\n## Two\nx = 1\n")] == [BlockKind.CODE]
