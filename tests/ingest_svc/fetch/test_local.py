"""Files of the server by URI: what lies below the folders allowed, and nothing else."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path

import pytest

from ingest_svc.fetch import Fetched, FetchRules, fetch, local
from treespan.errors import EmptyFile, InvalidField, TooLarge, UriNotAllowed, UriUnreachable

DATA = b"The mill closed in 1910.\n"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "mühle 100%.txt").write_bytes(DATA)
    (tmp_path / "secret.txt").write_bytes(b"secret")
    return folder


def fetched(uri: str, root: Path, **changed: int) -> Fetched:
    rules = FetchRules(**{"max_bytes": 1000, **changed}, roots=(str(root),))  # type: ignore[arg-type]
    return asyncio.run(fetch(uri, root.parent / "spooled", rules, lambda done, total: None))


@pytest.mark.parametrize("head", ["file://", "file:", "FILE://localhost", "file://LOCALHOST"])
def test_a_file_below_a_folder_is_copied_under_its_decoded_name(docs: Path, head: str) -> None:
    got = fetched(f"{head}{docs}/deep/m%C3%BChle%20100%25.txt", docs)
    assert got == Fetched(len(DATA), hashlib.sha256(DATA).hexdigest(), "mühle 100%.txt", "")
    assert (docs.parent / "spooled").read_bytes() == DATA


def test_a_link_within_the_folder_is_followed(docs: Path) -> None:
    (docs / "link").symlink_to("deep")
    assert fetched(f"file://{docs}/link/m%C3%BChle%20100%25.txt", docs).size_bytes == len(DATA)


def test_the_folder_itself_may_be_a_link(docs: Path) -> None:
    other = docs.parent / "other"
    other.symlink_to(docs)
    got = fetched(f"file://{other}/deep/m%C3%BChle%20100%25.txt", other)
    assert got.size_bytes == len(DATA)


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/deep/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2Fsecret.txt",
        "/out",
        "/folder_out/secret.txt",
        "/absent_out",
        "x/secret.txt",
        "/deep/../../nothing.txt",
    ],
)
def test_what_leads_out_of_the_folder_is_refused_whether_it_exists_or_not(
    docs: Path, path: str
) -> None:
    (docs / "out").symlink_to(docs.parent / "secret.txt")
    (docs / "folder_out").symlink_to(docs.parent)
    (docs / "absent_out").symlink_to(docs.parent / "nothing.txt")
    with pytest.raises(UriNotAllowed) as refused:
        fetched(f"file://{docs}{path}", docs)
    assert refused.value.message == (
        "the path is not below a folder that the setting ingest.uri_roots names, links followed"
    )
    assert not (docs.parent / "spooled").exists()


def test_a_link_put_in_after_the_check_leads_nowhere(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = os.path.realpath

    def swapped(path: str, **options: bool) -> str:
        real = checked(path, **options)
        if real.endswith(".txt"):
            (docs / "deep").rename(docs / "aside")
            (docs / "deep").symlink_to(docs.parent)
        return real

    (docs / "deep" / "secret.txt").write_bytes(DATA)
    monkeypatch.setattr(local.os.path, "realpath", swapped)
    with pytest.raises(UriUnreachable, match="cannot be read"):
        fetched(f"file://{docs}/deep/secret.txt", docs)


def test_only_regular_files_are_read(docs: Path) -> None:
    os.mkfifo(docs / "pipe")
    (docs / "zero").symlink_to("/dev/zero")
    with pytest.raises(UriNotAllowed, match="regular"):
        fetched(f"file://{docs}/pipe", docs)
    with pytest.raises(UriNotAllowed, match="folder"):
        fetched(f"file://{docs}/deep", docs)
    with pytest.raises(UriNotAllowed, match="not below"):
        fetched(f"file://{docs}/zero", docs)
    with pytest.raises(UriNotAllowed, match="not below"):
        fetched(f"file://{docs}", docs)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read every file")
def test_a_file_that_may_not_be_read_is_unreachable(docs: Path) -> None:
    (docs / "deep" / "mühle 100%.txt").chmod(0)
    with pytest.raises(UriUnreachable, match="Permission denied"):
        fetched(f"file://{docs}/deep/m%C3%BChle%20100%25.txt", docs)


def test_a_missing_and_an_empty_and_a_large_file_each_say_so(docs: Path) -> None:
    (docs / "empty").touch()
    with pytest.raises(UriUnreachable, match="No such file"):
        fetched(f"file://{docs}/nothing.txt", docs)
    with pytest.raises(EmptyFile):
        fetched(f"file://{docs}/empty", docs)
    with pytest.raises(TooLarge, match=r"25 bytes or more; the most is 24 \(readers"):
        fetched(f"file://{docs}/deep/m%C3%BChle%20100%25.txt", docs, max_bytes=24)
    assert not (docs.parent / "spooled").exists()


@pytest.mark.parametrize("tail", ["?a=1", "#top", "%zz", "%", "%00", "%2"])
def test_a_uri_with_a_query_a_fragment_or_a_broken_escape_is_no_file(docs: Path, tail: str) -> None:
    with pytest.raises(InvalidField, match="uri"):
        fetched(f"file://{docs}/a{tail}", docs)


@pytest.mark.parametrize(
    "uri", ["file://server/share/a.txt", "file:a.txt", "file:", "file://localhost"]
)
def test_another_host_and_a_relative_path_are_no_file(docs: Path, uri: str) -> None:
    with pytest.raises(InvalidField, match="file:///path"):
        fetched(uri, docs)
