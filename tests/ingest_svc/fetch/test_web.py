"""Documents of the web, from real servers on loopback that behave well and badly."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import time
from typing import TYPE_CHECKING

import pytest
from web_server import answering, fetched, reply

from treespan.errors import EmptyFile, TooLarge, UriUnreachable

if TYPE_CHECKING:
    from pathlib import Path

TEXT = b"The mill closed in 1910.\n"


def test_a_document_comes_whole_with_its_hash_its_name_and_what_its_server_calls_it(
    tmp_path: Path,
) -> None:
    steps: list[tuple[int, int]] = []
    answer = reply(TEXT, Content_Type="text/plain; charset=utf-8")
    got, data = fetched(
        answering(answer),
        tmp_path,
        "/a/m%C3%BChle.txt?v=1",
        told=lambda done, total: steps.append((done, total)),
    )
    assert data == TEXT
    assert got.sha256 == hashlib.sha256(TEXT).hexdigest()
    assert (got.size_bytes, got.file_name, got.media_type) == (25, "mühle.txt", "text/plain")
    assert steps == [(0, 25), (25, 25)]


@pytest.mark.parametrize(
    ("given", "path", "name"),
    [
        ('attachment; filename="report 2024.pdf"', "/download", "report 2024.pdf"),
        ("attachment; filename*=UTF-8''M%C3%BChle.pdf", "/download", "Mühle.pdf"),
        ('attachment; filename="../../etc/passwd"', "/download", "passwd"),
        ('attachment; filename="C:\\\\x\\\\a.pdf"', "/download", "a.pdf"),
        ("inline", "/files/a.pdf", "a.pdf"),
        ("inline", "/", ""),
        ("inline", "/a%2Fb.pdf", "b.pdf"),
    ],
)
def test_the_name_is_the_servers_else_the_last_part_of_the_address(
    tmp_path: Path, given: str, path: str, name: str
) -> None:
    got, _ = fetched(answering(reply(Content_Disposition=given)), tmp_path, path)
    assert got.file_name == name


def test_the_request_has_no_cookies_no_password_and_asks_for_no_packing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads: list[str] = []

    async def talk(head: bytes, writer: asyncio.StreamWriter) -> None:
        heads.append(head.decode())
        if len(heads) == 1:
            writer.write(reply(status="302 Found", Location="/next", Set_Cookie="a=1"))
        else:
            writer.write(reply())

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    fetched(talk, tmp_path)
    assert heads[1].startswith("GET /next HTTP/1.1\r\n")
    assert "Accept-Encoding: identity" in heads[0]
    assert not any("Cookie" in head or "Authorization" in head for head in heads)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("404 Not Found", r"answered 404 \(Not Found\)"),
        ("403 Keep Out", r"answered 403 \(Forbidden\)"),
        ("500 Oops", r"answered 500 \(Internal Server Error\)"),
        ("204 No Content", r"answered 204 \(No Content\)"),
        ("206 Partial", r"answered 206 \(Partial Content\)"),
        ("799 Strange", "answered 799"),
    ],
)
def test_any_other_answer_than_a_document_is_named(tmp_path: Path, status: str, said: str) -> None:
    with pytest.raises(UriUnreachable, match=rf"'127\.0\.0\.1' {said}"):
        fetched(answering(reply(b"", status)), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_document_is_empty(tmp_path: Path) -> None:
    with pytest.raises(EmptyFile):
        fetched(answering(reply(b"")), tmp_path)


def test_a_size_that_is_announced_too_large_is_refused_before_it_comes(tmp_path: Path) -> None:
    with pytest.raises(TooLarge, match=r"5,000,000,000 bytes .* 1,048,576 \(readers"):
        fetched(answering(reply(Content_Length="5000000000")), tmp_path)


def test_an_endless_body_ends_at_the_limit(tmp_path: Path) -> None:
    sent = 0

    async def talk(head: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            writer.write(bytes(1 << 16))
            sent += 1 << 16
            await writer.drain()

    with pytest.raises(TooLarge, match="1,048,576"):
        fetched(talk, tmp_path)
    assert sent < 64 << 20
    assert list(tmp_path.iterdir()) == []


def test_a_size_that_is_announced_too_small_does_not_let_more_in(tmp_path: Path) -> None:
    with pytest.raises(UriUnreachable, match="not HTTP") as refused:
        fetched(answering(reply(TEXT * 100, Content_Length="25")), tmp_path)
    assert "mill" not in refused.value.message
    assert list(tmp_path.iterdir()) == []


def test_a_body_that_ends_too_early_is_no_document(tmp_path: Path) -> None:
    with pytest.raises(UriUnreachable, match="ends too early"):
        fetched(answering(reply(TEXT, Content_Length="26")), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "head", [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-Slow: "]
)
def test_a_slow_answer_is_given_up_in_time(tmp_path: Path, head: bytes) -> None:
    async def talk(asked: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(b"0")
            await writer.drain()
            await asyncio.sleep(0.02)

    started = time.monotonic()
    with pytest.raises(UriUnreachable, match=r"within 0\.3 s \(ingest\.uri_timeout_s\)"):
        fetched(talk, tmp_path, timeout_s=0.3)
    assert time.monotonic() - started < 3
    assert list(tmp_path.iterdir()) == []


def test_endless_headers_are_no_answer(tmp_path: Path) -> None:
    async def talk(asked: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(b"X-Filler: " + b"a" * 4000 + b"\r\n")
            await writer.drain()

    with pytest.raises(UriUnreachable, match="failed"):
        fetched(talk, tmp_path)


@pytest.mark.parametrize("answer", [b"SSH-2.0-OpenSSH_9.6\r\n", b"", b"\0" * 100])
def test_what_is_no_web_server_is_unreachable(tmp_path: Path, answer: bytes) -> None:
    with pytest.raises(UriUnreachable, match="failed") as refused:
        fetched(answering(answer), tmp_path)
    assert "OpenSSH" not in refused.value.message


def test_what_is_packed_unasked_is_unpacked_and_counted(tmp_path: Path) -> None:
    packed = reply(gzip.compress(TEXT), Content_Encoding="gzip")
    _, data = fetched(answering(packed), tmp_path)
    assert data == TEXT
    bomb = reply(gzip.compress(bytes(50 << 20)), Content_Encoding="gzip")
    with pytest.raises(TooLarge, match="1,048,576"):
        fetched(answering(bomb), tmp_path)


@pytest.mark.parametrize(
    ("body", "encoding", "said"),
    [
        (gzip.compress(TEXT)[:-9], "gzip", "ends too early"),
        (b"no gzip at all", "gzip", "damaged"),
        (TEXT, "br", "encoding 'br'"),
        (TEXT, "gzip, gzip", "encoding 'gzip, gzip'"),
    ],
)
def test_what_cannot_be_unpacked_says_why(
    tmp_path: Path, body: bytes, encoding: str, said: str
) -> None:
    with pytest.raises(UriUnreachable, match=said):
        fetched(answering(reply(body, Content_Encoding=encoding)), tmp_path)


def test_nobody_listening_is_unreachable_without_telling_addresses(tmp_path: Path) -> None:
    async def talk(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    with pytest.raises(UriUnreachable) as refused:
        fetched(talk, tmp_path, host="localhost", private="localhost")
    assert "'localhost'" in refused.value.message
    assert "127.0.0.1" not in refused.value.message
