from __future__ import annotations

import os
from pathlib import Path

import pytest

from treespan.cli.files import found
from treespan.cli.selection import Selection


def sources(paths, selection=None):
    return found(paths, selection).sources


def left_out(paths, selection=None):
    return {one.path.name: one.reason for one in found(paths, selection).left_out}


@pytest.fixture
def folder(tmp_path):
    for name in ("b.txt", "a.md", "sub/deep/c.pdf", ".hidden", ".git/config", "sub/.x/y.txt"):
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "docs"


def test_folder_gives_its_files_at_any_depth_without_hidden_ones(folder):
    assert [(one.artifact, one.file_name) for one in sources([folder])] == [
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
    assert left_out([folder])["up"] == "link to a folder"


def test_pipes_are_not_files(folder):
    os.mkfifo(folder / "pipe")
    (folder / "nowhere").symlink_to(folder / "none")
    assert len(sources([folder])) == 3
    assert {left_out([folder])[name] for name in ("pipe", "nowhere")} == {"no regular file"}


def test_what_is_passed_over_is_named_with_its_reason(folder):
    (folder / "~$a.docx").touch()
    assert left_out([folder], Selection.of(exclude=["b.*"])) == {
        ".git": "hidden",
        ".hidden": "hidden",
        ".x": "hidden",
        "b.txt": "excluded",
        "~$a.docx": "temporary",
    }


def test_patterns_are_about_folders_and_not_about_files_given(folder):
    selection = Selection.of(include=["*.pdf"])
    assert [one.artifact for one in sources([folder], selection)] == ["sub:deep:c.pdf"]
    assert [one.artifact for one in sources([folder / "a.md"], selection)] == ["a.md"]


def test_a_folder_that_may_not_be_read_is_named_and_the_rest_is_taken(folder, monkeypatch):
    real = Path.iterdir

    def iterdir(path):
        if path.name == "sub":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    taken = {one.artifact: one.problem for one in sources([folder])}
    assert taken == {"a.md": "", "b.txt": "", "sub": f"Permission denied: {folder / 'sub'}"}
