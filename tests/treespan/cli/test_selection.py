"""Which names of a folder are taken."""

from __future__ import annotations

import pytest

from treespan.cli.selection import EXCLUDED, HIDDEN, NOT_INCLUDED, TEMPORARY, Selection


@pytest.mark.parametrize(
    "name",
    [
        "~$Report.docx",
        "a.docx~",
        "a.txt.swp",
        "film.part",
        "a.pdf.crdownload",
        "A.PDF.PART",
        "b.download",
        "c.filepart",
        "x.tmp",
        "Thumbs.db",
        "desktop.ini",
    ],
)
def test_temporary_names_are_left_out_at_any_depth(name: str) -> None:
    assert Selection().file_left_out(name) == TEMPORARY
    assert Selection().file_left_out(f"sub/deep/{name}") == TEMPORARY


@pytest.mark.parametrize("name", ["a.docx", "partial.txt", "tmp", "$a.docx", "~a.docx", "a.party"])
def test_names_that_only_look_like_it_are_taken(name: str) -> None:
    assert Selection().file_left_out(name) == ""


def test_hidden_files_and_folders_are_left_out() -> None:
    assert Selection().file_left_out("sub/.a.txt") == HIDDEN
    assert Selection().folder_left_out("sub/.git") == HIDDEN
    assert Selection().folder_left_out("sub/git") == ""


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("*.pdf", "a.pdf", True),
        ("*.pdf", "sub/deep/a.pdf", True),
        ("*.pdf", "a.pdf.txt", False),
        ("*.pdf", "a.PDF", False),
        ("reports/*.pdf", "reports/a.pdf", True),
        ("reports/*.pdf", "reports/2024/a.pdf", False),
        ("reports/*.pdf", "old/reports/a.pdf", False),
        ("reports/**", "reports/2024/a.pdf", True),
        ("**/draft/*.md", "draft/a.md", True),
        ("**/draft/*.md", "x/y/draft/a.md", True),
        ("/a.pdf", "a.pdf", True),
        ("a?.txt", "ab.txt", True),
        ("a?.txt", "a.txt", False),
        ("[ab].txt", "b.txt", True),
        ("[!ab].txt", "b.txt", False),
        ("[!ab].txt", "c.txt", True),
        ("a[.txt", "a[.txt", True),
        ("a+(1).txt", "a+(1).txt", True),
        ("论文*", "论文一.pdf", True),
    ],
)
def test_globs_are_about_names_and_with_a_slash_about_paths(
    glob: str, path: str, matches: bool
) -> None:
    taken = Selection.of(include=[glob])
    left = Selection.of(exclude=[glob])
    assert taken.file_left_out(path) == ("" if matches else NOT_INCLUDED)
    assert left.file_left_out(path) == (EXCLUDED if matches else "")


def test_an_excluded_folder_is_left_out_with_all_that_is_in_it() -> None:
    selection = Selection.of(exclude=["node_modules", "build/"])
    assert selection.folder_left_out("x/node_modules") == EXCLUDED
    assert selection.folder_left_out("build") == EXCLUDED
    assert selection.folder_left_out("builds") == ""
