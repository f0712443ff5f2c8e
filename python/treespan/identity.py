"""Names and ids: what may be a name, and how contents, documents and nodes are identified.

    sha256 of the file ─┐
                        ├─ content_id ─┐
    pipeline fingerprint┘              ├─ doc_id ─ node id "<doc_id>-<position>"
    tenant, collection, artifact ──────┘

All of it is a pure function of what it names: the same bytes, ingested again into the same artifact
by the same pipeline, get the same node ids.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING, Final

from treespan.errors import InvalidField, InvalidName
from treespan.store.records import ContentId

if TYPE_CHECKING:
    from treespan.store.records import Tenant

NAME_CHARACTERS: Final = 255
MAX_POSITION: Final = 2**32 - 1

_DOC_ID_DIGITS = 16
_SHOWN_CHARACTERS = 40
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_DOC_ID = re.compile(rf"[0-9a-f]{{{_DOC_ID_DIGITS}}}", re.ASCII)
_NODE_ID = re.compile(rf"([0-9a-f]{{{_DOC_ID_DIGITS}}})-(0|[1-9][0-9]{{0,9}})", re.ASCII)


def check_name(field: str, value: str) -> None:
    """Check the name of a tenant, a collection or an artifact.

    A name has 1 to 255 characters (Unicode code points), none of them "/", a control character or
    half of a surrogate pair, and is neither "." nor "..". Names are compared code point by code
    point: no case folding, no normalisation.

    Args:
        field: Path of the field that holds the name, for the error.
        value: The name.

    Raises:
        InvalidName: it is none; the message shows it, shortened.
    """
    if not value:
        raise InvalidName(field, f"is empty; a name has 1 to {NAME_CHARACTERS} characters")
    if len(value) > NAME_CHARACTERS:
        raise InvalidName(
            field,
            f"{_shown(value)} has {len(value)} characters; a name has at most {NAME_CHARACTERS}",
        )
    if value in {".", ".."}:
        raise InvalidName(field, f'{_shown(value)} is not allowed; "." and ".." are no names')
    for at, character in enumerate(value):
        if problem := _problem(character):
            raise InvalidName(
                field,
                f"{_shown(value)} holds {problem} (U+{ord(character):04X}) at character {at + 1}; "
                'names hold no "/", no control characters and no lone surrogates',
            )


def content_id(sha256: str, pipeline_fingerprint: str) -> ContentId:
    """Return the id of a file's content: of its bytes and of everything that turned them into it.

    Args:
        sha256: SHA-256 of the file's bytes, 64 lower-case hexadecimal digits.
        pipeline_fingerprint: Names the readers, the chunk size, the embedding model and whatever
            else decides what comes of a file; not empty.

    Raises:
        ValueError: an argument is not of that form.
    """
    if not _SHA256.fullmatch(sha256):
        raise ValueError(f"{_shown(sha256)} is no SHA-256; that has 64 lower-case hex digits")
    if not pipeline_fingerprint:
        raise ValueError("the pipeline's fingerprint is empty")
    return ContentId(_digest("content", sha256, pipeline_fingerprint))


def doc_id(tenant: Tenant, collection: str, artifact: str, content: ContentId) -> str:
    """Return the id of one version of an artifact, 16 hexadecimal digits.

    The tenant is part of it, so that no two tenants ever have a node id in common.
    """
    return _digest("document", tenant, collection, artifact, content)[:_DOC_ID_DIGITS]


def node_id(doc_id: str, position: int) -> str:
    """Return the id of the node at a position (document order, from 0) of a document.

    Raises:
        ValueError: the position is not in 0..2^32-1, or the document's id is none.
    """
    if not _DOC_ID.fullmatch(doc_id):
        raise ValueError(f"{_shown(doc_id)} is no document id: {_DOC_ID_DIGITS} hex digits")
    if not 0 <= position <= MAX_POSITION:
        raise ValueError(f"position is {position}; positions are 0 to {MAX_POSITION}")
    return f"{doc_id}-{position}"


def parse_node_id(field: str, value: str) -> tuple[str, int]:
    """Return the document's id and the position in a node id.

    Only the one form that `node_id` writes is accepted, so that equal nodes have equal ids.

    Args:
        field: Path of the field that holds the id, for the error.
        value: The node id.

    Raises:
        InvalidField: it is none; the message shows it, shortened.
    """
    match = _NODE_ID.fullmatch(value)
    if match is None or int(match[2]) > MAX_POSITION:
        raise InvalidField(
            field,
            f"{_shown(value)} is no node id; one is {_DOC_ID_DIGITS} lower-case hexadecimal "
            f'digits, "-" and a position from 0 to {MAX_POSITION}, as in "0123456789abcdef-7"',
        )
    return match[1], int(match[2])


def _digest(label: str, *parts: str) -> str:
    """Return the hex SHA-256 of a label and parts, each with its length, so that none can run over.

    The label keeps ids of different kinds apart.
    """
    digest = hashlib.sha256()
    for part in (f"treespan {label} 1", *parts):
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.hexdigest()


def _problem(character: str) -> str:
    """Return what is wrong with a character in a name; empty where nothing is."""
    if character == "/":
        return 'a "/"'
    return {"Cc": "a control character", "Cs": "a lone surrogate"}.get(
        unicodedata.category(character), ""
    )


def _shown(value: str) -> str:
    """Return a value for a message: quoted, short, and with nothing in it that cannot be sent."""
    if len(value) > _SHOWN_CHARACTERS:
        value = value[:_SHOWN_CHARACTERS] + "…"
    return repr(value)
