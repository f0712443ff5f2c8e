"""A folder of mixed files, some of them broken, for runs over many files; always the same.

    python tests/mixed_files.py FOLDER [--files 2000] [--data FOLDER]

Every good file holds a word of its own, so that a search can tell whether it is there; `write`
says of each what must come of it. With `--data` (or TREESPAN_DATA) difficult public files stand
beside the generated ones.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from xml.sax.saxutils import escape

import pymupdf

BROKEN_SHARE = 50
"""One file in so many is broken."""

_WORDS = (
    *("valve", "pressure", "report", "invoice", "quarter", "budget", "archive", "harbour"),
    *("meadow", "signal", "copper", "lantern", "walnut", "ledger", "canyon", "orchard"),
)
_CHINESE = ("本季度营业收入增长了百分之十五。", "检索服务把文档变成树。", "请按规定设置阀门。")
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


@dataclass(frozen=True, slots=True)
class Mixed:
    """One file of the folder."""

    path: Path
    word: str
    """A word that only this file holds; empty for a broken one."""
    reason: str = ""
    """Why it cannot be ingested; empty for a good one."""


def write(folder: Path, files: int) -> list[Mixed]:
    """Write files below a folder, in subfolders by the hundred; return what each is."""
    chance = random.Random(4)
    written = []
    for number in range(files):
        below = folder / f"part {number // 100}"
        below.mkdir(parents=True, exist_ok=True)
        if number % BROKEN_SHARE == BROKEN_SHARE - 1:
            written.append(_broken(below, number))
            continue
        suffix, make = _MAKERS[number % len(_MAKERS)]
        word = f"zq{number:05}x"
        path = below / f"file {number}.{suffix}"
        path.write_bytes(make(_paragraphs(word, chance), word))
        written.append(Mixed(path, word))
    return written


def _paragraphs(word: str, chance: random.Random) -> list[str]:
    found = [f"The file of {word} speaks of the {chance.choice(_WORDS)}."]
    for _ in range(chance.randrange(1, 6)):
        words = " ".join(chance.choice(_WORDS) for _ in range(chance.randrange(8, 30)))
        found.append(f"{words.capitalize()}.")
    found.append(chance.choice(_CHINESE))
    return found


def _text(paragraphs: list[str], word: str) -> bytes:
    return "\n\n".join(paragraphs).encode()


def _chinese_text(paragraphs: list[str], word: str) -> bytes:
    return "\n\n".join(paragraphs * 3).encode("gb18030")


def _markdown(paragraphs: list[str], word: str) -> bytes:
    table = "| item | count |\n|---|---|\n" + "\n".join(f"| {word} | {n} |" for n in range(3))
    return f"---\nauthor: {word}\n---\n# Title\n\n{paragraphs[0]}\n\n## Rest\n\n{table}\n".encode()


def _html(paragraphs: list[str], word: str) -> bytes:
    body = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs)
    return f"<!doctype html><title>Page</title><h1>Head</h1>{body}".encode()


def _csv(paragraphs: list[str], word: str) -> bytes:
    rows = [f'{word},{n},"{paragraph}"' for n, paragraph in enumerate(paragraphs)]
    return "\n".join(["key,number,text", *rows]).encode()


def _json(paragraphs: list[str], word: str) -> bytes:
    return json.dumps({"title": word, "texts": paragraphs}, ensure_ascii=False).encode()


def _json_lines(paragraphs: list[str], word: str) -> bytes:
    return "\n".join(json.dumps({"id": word, "text": text}) for text in paragraphs).encode()


def _mail(paragraphs: list[str], word: str) -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = "ann@example.org", "bo@example.org"
    message["Subject"] = f"About {word}"
    message["Date"] = "Mon, 01 Jan 2024 10:00:00 +0000"
    message.set_content("\n\n".join(paragraphs))
    message.add_attachment("attached words", filename="notes.txt")
    return message.as_bytes()


def _pdf(paragraphs: list[str], word: str) -> bytes:
    document = pymupdf.open()
    for paragraph in paragraphs[:3]:
        page = document.new_page()
        page.insert_text((72, 72), f"Chapter of {word}", fontsize=18)
        page.insert_textbox(pymupdf.Rect(72, 100, 500, 700), paragraph)
    return bytes(document.tobytes(deflate=True))


def _zipped(parts: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part.encode(), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _office(main: str, content_type: str, parts: dict[str, str]) -> dict[str, str]:
    kind = f"{_R}/officeDocument"
    types = (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
        f'ContentType="application/xml"/><Override PartName="/{main}" '
        f'ContentType="application/vnd.openxmlformats-officedocument.{content_type}.main+xml"/>'
        "</Types>"
    )
    relations = (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" Type="{kind}" '
        f'Target="{main}"/></Relationships>'
    )
    return {"[Content_Types].xml": types, "_rels/.rels": relations, **parts}


def _docx(paragraphs: list[str], word: str) -> bytes:
    body = "".join(
        f"<w:p><w:r><w:t>{escape(paragraph)}</w:t></w:r></w:p>" for paragraph in paragraphs
    )
    document = f'<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>'
    parts = {"word/document.xml": document}
    return _zipped(_office("word/document.xml", "wordprocessingml.document", parts))


def _xlsx(paragraphs: list[str], word: str) -> bytes:
    texts = [("key", "text"), *((word, paragraph) for paragraph in paragraphs)]
    rows = "".join(
        f'<row r="{n}">'
        + "".join(
            f'<c r="{column}{n}" t="inlineStr"><is><t>{escape(text)}</t></is></c>'
            for column, text in zip("AB", row, strict=True)
        )
        + "</row>"
        for n, row in enumerate(texts, 1)
    )
    book = (
        f'<workbook xmlns="{_S}" xmlns:r="{_R}"><sheets><sheet name="Data" sheetId="1" '
        'r:id="r1"/></sheets></workbook>'
    )
    relations = (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_R}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
    )
    sheet = f'<worksheet xmlns="{_S}"><sheetData>{rows}</sheetData></worksheet>'
    parts = {
        "xl/workbook.xml": book,
        "xl/_rels/workbook.xml.rels": relations,
        "xl/worksheets/sheet1.xml": sheet,
    }
    return _zipped(_office("xl/workbook.xml", "spreadsheetml.sheet", parts))


def _pptx(paragraphs: list[str], word: str) -> bytes:
    shapes = "".join(
        f'<p:sp><p:nvSpPr><p:cNvPr id="{n}" name="t{n}"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr>'
        f'<p:spPr><a:xfrm><a:off x="0" y="{n * 900000}"/><a:ext cx="900" cy="900"/></a:xfrm>'
        f"</p:spPr><p:txBody><a:bodyPr/><a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p>"
        "</p:txBody></p:sp>"
        for n, text in enumerate(paragraphs, 2)
    )
    slide = (
        f'<p:sld xmlns:p="{_P}" xmlns:a="{_A}"><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" '
        f'name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>{shapes}</p:spTree>'
        "</p:cSld></p:sld>"
    )
    show = (
        f'<p:presentation xmlns:p="{_P}" xmlns:r="{_R}"><p:sldIdLst><p:sldId id="256" '
        'r:id="r1"/></p:sldIdLst></p:presentation>'
    )
    relations = (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_R}/slide" Target="slides/slide1.xml"/></Relationships>'
    )
    parts = {
        "ppt/presentation.xml": show,
        "ppt/_rels/presentation.xml.rels": relations,
        "ppt/slides/slide1.xml": slide,
    }
    return _zipped(_office("ppt/presentation.xml", "presentationml.presentation", parts))


def _zip(paragraphs: list[str], word: str) -> bytes:
    return _zipped({"a.md": f"# {word}\n\n{paragraphs[0]}", "b/c.txt": paragraphs[1]})


def _program(paragraphs: list[str], word: str) -> bytes:
    return f'"""{paragraphs[0]}"""\n\n\ndef {word}(value):\n    return value + 1\n'.encode()


_MAKERS: tuple[tuple[str, Callable[[list[str], str], bytes]], ...] = (
    ("txt", _text),
    ("md", _markdown),
    ("html", _html),
    ("csv", _csv),
    ("json", _json),
    ("jsonl", _json_lines),
    ("eml", _mail),
    ("pdf", _pdf),
    ("docx", _docx),
    ("xlsx", _xlsx),
    ("pptx", _pptx),
    ("zip", _zip),
    ("py", _program),
    ("txt", _chinese_text),
)


def _broken(folder: Path, number: int) -> Mixed:
    """Write one of the ways in which files are broken."""
    kinds: tuple[tuple[str, bytes, str], ...] = (
        ("empty.txt", b"", "EMPTY"),
        ("half.docx", _docx(["a"], "a")[:200], "DAMAGED"),
        ("picture.dat", b"\x7fELF" + bytes(range(256)) * 4, "UNSUPPORTED"),
        ("blank.pdf", _scan(), "NO_TEXT_LAYER"),
        ("spaces.md", b" \n\t\n", "EMPTY"),
        ("locked.pdf", _locked(), "ENCRYPTED"),
        ("noise.pdf", b"%PDF-1.7\n" + random.Random(number).randbytes(500), "DAMAGED"),
    )
    name, data, reason = kinds[number // BROKEN_SHARE % len(kinds)]
    path = folder / f"broken {number} {name}"
    path.write_bytes(data)
    return Mixed(path, "", reason)


def _scan() -> bytes:
    """Return a PDF whose only page is a picture, without any text in it."""
    document = pymupdf.open()
    page = document.new_page()
    grey = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 60, 80))
    grey.clear_with(128)
    page.insert_image(page.rect, pixmap=grey)
    return bytes(document.tobytes())


def _locked() -> bytes:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "secret")
    return bytes(
        document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="open", owner_pw="owner")
    )


def public(data: Path) -> Iterator[Path]:
    """Yield the difficult public files that are quick to read."""
    kinds = ("docx", "eml", "html", "md", "pptx", "txt", "rtf", "csv", "org", "ipynb")
    for path in sorted((data / "nasty").rglob("*")):
        if path.is_file() and path.parent.name in kinds and path.stat().st_size < 300_000:
            yield path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--data", type=Path, default=os.environ.get("TREESPAN_DATA"))
    options = parser.parse_args()
    written = write(options.folder, options.files)
    if options.data:
        below = options.folder / "public"
        below.mkdir(exist_ok=True)
        for path in public(Path(options.data)):
            (below / f"{path.parent.name} {path.name}").write_bytes(path.read_bytes())
    broken = [mixed for mixed in written if mixed.reason]
    sys.stdout.write(f"{len(written)} files, {len(broken)} of them broken\n")


if __name__ == "__main__":
    main()
