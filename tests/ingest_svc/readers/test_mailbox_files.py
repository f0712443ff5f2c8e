from __future__ import annotations

import pytest

from ingest_svc.readers import read_file
from ingest_svc.readers.block import BlockKind
from ingest_svc.readers.limits import ReaderLimits
from treespan.errors import TooLarge

FIRST = (
    b"From ann@example.org Tue Oct  1 12:34:56 2024\n"
    b"From: ann@example.org\nSubject: One\n\nalpha\n\n"
)
SECOND = (
    b"From bob@example.org Tue Oct  1 12:34:57 2024\nFrom: bob@example.org\nX: y\n\nbeta\n\n"
    b"From there it is not far: 12:30.\n\n>From here neither.\n"
)


@pytest.mark.parametrize("name", ["inbox", "inbox.mbox", "inbox.txt"])
def test_the_mails_of_a_mailbox_are_files_inside(name):
    parsed = read_file(FIRST + SECOND, name)
    assert [block.text for block in parsed.blocks] == [
        "One",
        "From: ann@example.org\nSubject: One",
        "alpha",
        "mail 2",
        "From: bob@example.org",
        "beta",
        "From there it is not far: 12:30.",
        "From here neither.",
    ]
    assert parsed.media_type == "application/mbox"
    assert parsed.counts == {"entries": 2, "entries_read": 2, "skipped": 0}


def test_lines_may_end_as_on_windows():
    parsed = read_file((FIRST + SECOND).replace(b"\n", b"\r\n"), "inbox.mbox")
    assert [b.text for b in parsed.blocks if b.kind is BlockKind.FILE] == ["One", "mail 2"]


def test_one_mail_alone_is_a_mail():
    parsed = read_file(FIRST, "inbox.mbox")
    assert parsed.media_type == "message/rfc822"
    assert parsed.title == "One"


def test_too_many_mails_are_refused():
    with pytest.raises(TooLarge, match="max_archive_entries is 2"):
        read_file(FIRST * 3, "inbox.mbox", limits=ReaderLimits(max_archive_entries=2))
