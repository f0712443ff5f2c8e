"""The vision service, asked by the pool for a reader process, over a server of our own."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from made_pdf import MadePdf, drawn
from test_ocr import LEFT, LETTER, scanned

from ingest_svc.readers.block import ParsedFile
from ingest_svc.readers.ocr import tessdata_folder
from ingest_svc.readers.pool import ReaderPool
from ingest_svc.readers.source import ReadOptions
from treespan.config import OcrConfig, ReadersConfig
from treespan.errors import NoTextLayer, TooLarge

MARKDOWN = "# Notice\n\nThe quay is closed.\n\n| Day | Hours |\n| --- | --- |\n| Monday | 9-5 |\n"


@dataclass
class Seer:
    """A service that answers as told, and remembers what it was asked."""

    text: object = MARKDOWN
    status: int = 200
    wait_s: float = 0.0
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str], dict]] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def seer() -> Iterator[Seer]:
    told = Seer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = self.rfile.read(int(self.headers["Content-Length"]))
            told.asked.append((self.path, dict(self.headers), json.loads(asked)))
            time.sleep(told.wait_s)
            answer = {"choices": [{"message": {"role": "assistant", "content": told.text}}]}
            body = json.dumps(answer).encode() if told.body is None else told.body
            self.send_response(told.status)
            for name, value in told.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    told.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield told
    server.shutdown()
    server.server_close()


def read(tmp_path, data: bytes, config: OcrConfig, limits: ReadersConfig | None = None):
    async def once() -> ParsedFile:
        path = tmp_path / "scan.pdf"
        path.write_bytes(data)
        pool = ReaderPool(1, limits, config)
        try:
            return await pool.read(path, path.name, options=ReadOptions(ocr="auto"))
        finally:
            await pool.close()

    return asyncio.run(once())


def page() -> bytes:
    return scanned(MadePdf().page().lines(70, 120, LETTER))


def no_tesseract(tmp_path, seer: Seer, **rest) -> OcrConfig:
    (tmp_path / "none").mkdir(exist_ok=True)
    rest = {"vision_url": seer.url, "vision_model": "seer", "dpi": 100} | rest
    return OcrConfig(tessdata=str(tmp_path / "none"), **rest)


def test_a_page_is_what_the_service_says_as_markdown(tmp_path, seer):
    made = MadePdf().page().lines(70, 120, LETTER)
    pages = scanned(made.page().lines(70, 120, LEFT))
    parsed = read(tmp_path, pages, no_tesseract(tmp_path, seer))
    assert drawn(parsed.blocks) == 2 * [
        "HEADING1? Notice",
        "PARAGRAPH The quay is closed.",
        "TABLE Day|Hours / Monday|9-5",
    ]
    assert [block.page_start for block in parsed.blocks] == [1, 1, 1, 2, 2, 2]
    assert (parsed.counts["pages_by_ocr"], parsed.warnings) == (2, [])


def test_the_service_is_asked_as_openai_s_is(tmp_path, seer):
    key = tmp_path / "key"
    key.write_text("s3cret\n")
    read(tmp_path, page(), no_tesseract(tmp_path, seer, vision_key_file=str(key)))
    ((path, headers, asked),) = seer.asked
    assert (path, headers["Authorization"]) == ("/v1/chat/completions", "Bearer s3cret")
    assert asked["model"] == "seer"
    text, picture = asked["messages"][0]["content"]
    assert (text["type"], picture["type"]) == ("text", "image_url")
    head, _, data = picture["image_url"]["url"].partition(",")
    assert head == "data:image/png;base64"
    png = base64.b64decode(data)
    # Width and height of a page of 595 by 842 points at 100 dots an inch.
    assert png.startswith(b"\x89PNG")
    assert [int.from_bytes(png[at : at + 4], "big") for at in (16, 20)] == [827, 1170]


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"status": 500}, "answered with status 500"),
        ({"status": 302, "headers": {"Location": "http://127.0.0.1:1/x"}}, "status 302"),
        ({"body": b"<html>"}, "no chat completion"),
        ({"body": b'{"choices": []}'}, "no chat completion"),
        ({"text": ["a", "list"]}, "no chat completion"),
        ({"body": b" " * (5 << 20)}, "more than 4,194,304 bytes"),
        ({"wait_s": 2.0}, "did not answer within ocr.vision_timeout_s = 0.5"),
    ],
)
def test_a_service_that_fails_is_said_to_with_its_reason(tmp_path, seer, told, reason):
    for name, value in told.items():
        setattr(seer, name, value)
    with pytest.raises(NoTextLayer, match=reason):
        read(tmp_path, page(), no_tesseract(tmp_path, seer, vision_timeout_s=0.5))


def test_a_service_that_is_not_there_is_said_to(tmp_path, seer):
    config = no_tesseract(tmp_path, seer, vision_url="http://127.0.0.1:1/v1")
    with pytest.raises(NoTextLayer, match=r"127\.0\.0\.1 cannot be asked"):
        read(tmp_path, page(), config)


def test_a_key_file_that_is_missing_is_named_without_a_guess_at_the_key(tmp_path, seer):
    config = no_tesseract(tmp_path, seer, vision_key_file=str(tmp_path / "lost"))
    with pytest.raises(NoTextLayer, match=r"ocr\.vision_key_file names cannot be read"):
        read(tmp_path, page(), config)
    assert seer.asked == []


@pytest.mark.skipif(tessdata_folder(OcrConfig()) is None, reason="no language files of Tesseract")
def test_where_the_service_fails_tesseract_reads_and_a_warning_says_so(tmp_path, seer):
    seer.status = 503
    parsed = read(tmp_path, page(), OcrConfig(vision_url=seer.url, vision_model="seer"))
    assert drawn(parsed.blocks) == [f"PARAGRAPH {' '.join(LETTER)}"]
    (warning,) = parsed.warnings
    assert (warning.kind, warning.pages) == ("OCR_FAILED", [1])
    assert "status 503" in warning.message


@pytest.mark.skipif(tessdata_folder(OcrConfig()) is None, reason="no language files of Tesseract")
def test_a_reader_process_is_ended_where_a_page_takes_too_long(tmp_path):
    with pytest.raises(TooLarge, match=r"max_page_s is 0\.05; this file has page 1"):
        read(tmp_path, page(), OcrConfig(), ReadersConfig(max_page_s=0.05))
