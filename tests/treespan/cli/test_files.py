from __future__ import annotations

import os

import pytest

from treespan.cli.files import sources


@pytest.fixture
def folder(tmp_path):
    for name in ("b.txt", "a.md", "sub/deep/c.pdf", ".hidden", ".git/config", "sub/.x/y.txt"):
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "docs"


def test_folder_gives_its_files_at_any_depth_without_hidden_ones(folder):
    found = sources([folder])
    assert [(one.artifact, one.file_name) for one in found] == [
        ("a.md", "a.md"),
        ("b.txt", "b.txt"),
        ("sub:deep:c.pdf", "sub/deep/c.pdf"),
    ]


def test_hidden_file_named_itself_is_taken(folder):
    assert [one.artifact for one in sources([folder / ".hidden"])] == [".hidden"]


def test_same_file_given_twice_is_taken_once(folder):
    assert len(sources([folder / "a.md", folder / "a.md", folder])) == 3


def test_two_files_of_one_name_are_not_mixed_up(folder, tmp_path):
    other = tmp_path / "a.md"
    other.write_text("another")
    first, second = sources([folder / "a.md", other])
    assert not first.problem
    assert second.problem == f"{folder / 'a.md'} is ingested as 'a.md' already"


def test_link_to_a_folder_above_does_not_loop(folder):
    (folder / "sub" / "up").symlink_to(folder)
    assert len(sources([folder])) == 3


def test_pipes_are_not_files(folder):
    os.mkfifo(folder / "pipe")
    assert len(sources([folder])) == 3
