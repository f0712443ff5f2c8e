"""A vision service that speaks OpenAI's chat API: a picture of a page in, Markdown out.

It is asked by the service itself: reader processes, which handle strangers' bytes, learn no key.
"""

from __future__ import annotations

import asyncio
import base64
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import msgspec

from ingest_svc.readers.ocr import VisionError

if TYPE_CHECKING:
    from treespan.config import OcrConfig

_PROMPT = (
    "Write down all text of this page in reading order, as Markdown: headings, lists and tables as "
    "such, nothing left out, nothing added, nothing explained. Answer with the text alone; with "
    "nothing where the page has no text."
)
_MOST_BYTES = 4 << 20
_OK = 200


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Completion(msgspec.Struct):
    choices: list[_Choice]


_decode = msgspec.json.Decoder(_Completion).decode


async def text_of_picture(png: bytes, config: OcrConfig) -> str:
    """Return what a vision service reads in a picture, as Markdown; empty where that is nothing.

    Redirects are not followed and proxies of the environment not used: the picture and the key go
    to the address of the settings and nowhere else.

    Args:
        png: The picture.
        config: The service's address, model, key and time.

    Raises:
        VisionError: there is no answer, or none with text in it.
    """
    address = urllib.parse.urlsplit(config.vision_url)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise VisionError("ocr.vision_url is no address that starts with http:// or https://")
    host = address.hostname
    headers = await asyncio.to_thread(_headers, config)
    timeout = aiohttp.ClientTimeout(total=config.vision_timeout_s)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=False) as session,
            session.post(
                f"{config.vision_url.rstrip('/')}/chat/completions",
                data=msgspec.json.encode(_request(png, config.vision_model)),
                headers=headers,
                allow_redirects=False,
            ) as answer,
        ):
            if answer.status != _OK:
                raise VisionError(f"{host} answered with status {answer.status}")
            body = await _body(answer, host)
    except TimeoutError as error:
        raise VisionError(
            f"{host} did not answer within ocr.vision_timeout_s = {config.vision_timeout_s:g}"
        ) from error
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise VisionError(f"{host} cannot be asked ({type(error).__name__})") from error
    return _text(body, host)


async def _body(answer: aiohttp.ClientResponse, host: str) -> bytes:
    body = bytearray()
    async for part in answer.content.iter_any():
        body += part
        if len(body) > _MOST_BYTES:
            raise VisionError(f"{host} answered with more than {_MOST_BYTES:,} bytes")
    return bytes(body)


def _request(png: bytes, model: str) -> dict[str, Any]:
    picture = "data:image/png;base64," + base64.b64encode(png).decode()
    content = [
        {"type": "text", "text": _PROMPT},
        {"type": "image_url", "image_url": {"url": picture}},
    ]
    return {
        "model": model,
        "messages": [{"role": "user", "content": content}],
        "temperature": 0,
    }


def _headers(config: OcrConfig) -> dict[str, str]:
    headers = {"Content-Type": "application/json"}
    if not config.vision_key_file:
        return headers
    try:
        # Read anew each time, so that a key may be changed while the service runs.
        key = Path(config.vision_key_file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise VisionError(
            f"the file that ocr.vision_key_file names cannot be read ({type(error).__name__})"
        ) from error
    if not key.isprintable() or not key.isascii():
        raise VisionError("the file that ocr.vision_key_file names holds no key on one line")
    return headers | {"Authorization": f"Bearer {key}"}


def _text(body: bytes, host: str) -> str:
    try:
        text = _decode(body).choices[0].message.content
    except (msgspec.MsgspecError, LookupError, RecursionError, UnicodeDecodeError) as error:
        raise VisionError(f"{host} answered with no chat completion") from error
    return _unfenced(text or "")


def _unfenced(text: str) -> str:
    """Return an answer without the fence that models like to put around it."""
    lines = text.strip().split("\n")
    if len(lines) > 1 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return text
