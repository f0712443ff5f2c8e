"""A folder has one writer."""

from __future__ import annotations

import os
import socket
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from store.processes import python
from store.samples import collection
from treespan.errors import StoreUnavailable
from treespan.store import open_reader, open_writer

if TYPE_CHECKING:
    from pathlib import Path


def test_second_writer_is_refused_and_told_who_has_the_folder(tmp_path: Path) -> None:
    with closing(open_writer(tmp_path)) as writer:
        with pytest.raises(StoreUnavailable) as refused:
            open_writer(tmp_path)
        writer.create_collection(collection())
    assert f"(pid {os.getpid()} on {socket.gethostname()}) writes to {tmp_path}" in str(
        refused.value
    )


def test_second_writing_process_is_refused_and_reads_all_the_same(tmp_path: Path) -> None:
    with closing(open_writer(tmp_path)):
        process = python("store.open_both", str(tmp_path), stdout=subprocess.PIPE)
        output, _ = process.communicate(timeout=60)
    write_error, read_error = output.split("\n")[:2]
    assert f"another ingest process (pid {os.getpid()} on" in write_error
    assert read_error == ""


def test_folder_is_free_when_the_writer_is_closed(tmp_path: Path) -> None:
    for _ in range(3):
        open_writer(tmp_path).close()
    assert (tmp_path / "writer.lock").read_bytes() == b""


def test_folder_is_free_when_the_writer_is_killed(tmp_path: Path) -> None:
    process = python("store.crash_writer", str(tmp_path), "0", stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == "0\n"
        with pytest.raises(StoreUnavailable, match=f"pid {process.pid} on"):
            open_writer(tmp_path)
        process.kill()
    with closing(open_writer(tmp_path)) as writer, closing(open_reader(tmp_path)) as reader:
        assert reader.last_seq() == writer.last_seq() >= 1


def test_children_of_the_writer_do_not_keep_the_folder(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)
    child = subprocess.Popen(["sleep", "60"])
    with child:
        writer.close()
        open_writer(tmp_path).close()
        child.kill()


def test_holder_that_says_nothing_is_refused_as_well(tmp_path: Path) -> None:
    with closing(open_writer(tmp_path)):
        (tmp_path / "writer.lock").write_bytes(b"")
        with pytest.raises(StoreUnavailable, match="another ingest process writes to"):
            open_writer(tmp_path)
