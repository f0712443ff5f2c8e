"""A web server on loopback for one test, and what is asked of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ingest_svc.fetch import Fetched, FetchRules, fetch
from ingest_svc.fetch.rules import HostRule

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator
    from pathlib import Path

Talk = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


def rules(port: int, *, private: str = "127.0.0.1", **changed: object) -> FetchRules:
    """Return rules for a server on loopback, which is a private host."""
    hosts = (HostRule("127.0.0.1", port), HostRule("*"), HostRule("*", port))
    given = {"max_bytes": 1 << 20, "timeout_s": 5.0, "redirects": 3, "hosts": hosts}
    named = tuple(HostRule(name) for name in private.split(",") if name)
    return FetchRules(**{**given, "private_hosts": named, **changed})  # type: ignore[arg-type]


@asynccontextmanager
async def served(talk: Talk, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve raw bytes: `talk` is given the head of a request and what to write to."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(await reader.readuntil(b"\r\n\r\n"), writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the other side has what it wanted
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]


def reply(body: bytes = b"text", status: str = "200 OK", **headers: str) -> bytes:
    """Return an answer as bytes; a header's underscores stand for hyphens."""
    lines = {"Content-Length": str(len(body)), "Connection": "close"}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def fetched(
    talk: Talk,
    folder: Path,
    path: str = "/report.txt",
    *,
    host: str = "127.0.0.1",
    told: Callable[[int, int], None] = lambda done, total: None,
    **changed: object,
) -> tuple[Fetched, bytes]:
    """Fetch a path from a server that talks so; return what came of it, and the file's bytes."""

    async def run() -> tuple[Fetched, bytes]:
        async with served(talk) as port:
            uri = f"http://{host}:{port}{path}"
            got = await fetch(uri, folder / "spooled", rules(port, **changed), told)
            return got, (folder / "spooled").read_bytes()

    return asyncio.run(run())


def answering(answer: bytes) -> Talk:
    """Return a server that always says the same."""

    async def talk(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    return talk
