"""A web server on loopback that can be slow."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Web:
    """What it serves, by path, and whether it lets its callers wait."""

    pages: dict[str, bytes] = field(default_factory=dict)
    port: int = 0
    asked: list[str] = field(default_factory=list)
    going_on: threading.Event = field(default_factory=threading.Event)
    """Cleared, an answer stops after its first bytes."""

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"


@contextmanager
def serving() -> Iterator[Web]:
    web = Web()
    web.going_on.set()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            web.asked.append(self.path)
            body = web.pages.get(self.path)
            self.send_response(200 if body is not None else 404)
            body = body or b"nothing here"
            self.send_header("Content-Type", "text/markdown; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:100])
            self.wfile.flush()
            web.going_on.wait(30)
            self.wfile.write(body[100:])

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """A caller that went away is none of ours."""

    server = Server(("127.0.0.1", 0), Handler)
    web.port = server.server_port
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield web
    finally:
        web.going_on.set()
        server.shutdown()
        server.server_close()
        thread.join()
