"""What is known about a mail: who wrote it to whom, when and on what."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest_svc.readers.block import Block, BlockKind, Value
from ingest_svc.readers.mail.headers import addresses, header, message_ids, point_in_time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from email.message import Message

_MOST_SHOWN = 20
"""Recipients named in the text; the metadata has all of them."""
_LIST_ID = re.compile(r"<([^<>\s]+)>\s*$")


@dataclass(frozen=True, slots=True)
class MailFacts:
    """The headers that people look for."""

    subject: str = ""
    sender: str = ""
    to: Sequence[str] = ()
    cc: Sequence[str] = ()
    reply_to: str = ""
    sent: str = ""
    """As RFC 3339; empty where it is not stated, or no date."""
    message_id: str = ""
    in_reply_to: str = ""
    list_id: str = ""

    def metadata(self) -> dict[str, Value]:
        """Return the facts by the names that metadata have."""
        values: dict[str, Value] = {
            "subject": self.subject,
            "from": self.sender,
            "to": _one_or_all(self.to),
            "cc": _one_or_all(self.cc),
            "reply_to": self.reply_to,
            "message_id": self.message_id,
            "in_reply_to": self.in_reply_to,
            "list_id": self.list_id,
        }
        return {name: value for name, value in values.items() if value}

    def dates(self) -> dict[str, str]:
        """Return the points in time."""
        return {"sent": self.sent} if self.sent else {}

    def block(self) -> list[Block]:
        """Return the facts as people read them above a mail, so that searches find them, too."""
        lines = [
            ("From", self.sender),
            ("To", _shown(self.to)),
            ("Cc", _shown(self.cc)),
            ("Date", self.sent.replace("T", " ", 1)),
            ("Subject", self.subject),
        ]
        text = "\n".join(f"{label}: {value}" for label, value in lines if value)
        return [Block(BlockKind.PARAGRAPH, text)] if text else []


def facts_of(message: Message) -> MailFacts:
    """Return the facts that the headers of a message state."""
    senders = addresses(_all(message, "From")) or addresses(_all(message, "Sender"))
    list_id = header(message, "List-Id")
    within = _LIST_ID.search(list_id)
    return MailFacts(
        subject=header(message, "Subject"),
        sender=", ".join(senders),
        to=addresses(_all(message, "To")),
        cc=addresses(_all(message, "Cc")),
        reply_to=", ".join(addresses(_all(message, "Reply-To"))),
        sent=point_in_time(header(message, "Date")),
        message_id=next(iter(message_ids(header(message, "Message-Id"))), ""),
        in_reply_to=next(iter(message_ids(header(message, "In-Reply-To"))), ""),
        list_id=within[1] if within else list_id,
    )


def _all(message: Message, name: str) -> list[str]:
    return [str(value) for value in message.get_all(name, [])]


def _one_or_all(values: Sequence[str]) -> Value:
    return values[0] if len(values) == 1 else list(values)


def _shown(values: Sequence[str]) -> str:
    rest = len(values) - _MOST_SHOWN
    shown = ", ".join(values[:_MOST_SHOWN])
    return f"{shown} and {rest} more" if rest > 0 else shown
