"""The words of a paragraph; text boxes, notes and pictures are set aside.

What was deleted is not in the text of an OpenDocument file but in a list of its own, which is never
read; what was inserted is in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers.odt.names import child, name_of, number, stated
from ingest_svc.readers.prose.symbol_fonts import in_unicode
from ingest_svc.readers.prose.white_space import tidy

if TYPE_CHECKING:
    from ingest_svc.readers.odt.styles import Look, Styles
    from ingest_svc.readers.xml_parts import Element

_BREAKS = re.compile("[\t\r\n ]+")
_MOST_SPACES = 1_000
_NEVER_READ = frozenset(
    {
        *("text:note-citation", "text:ruby-text", "text:number", "office:annotation-end"),
        *("text:script", "text:tracked-changes", "office:event-listeners", "svg:title"),
        *("svg:desc", "text:bibliography-mark-source", "text:change", "text:change-start"),
    }
)
_HIDDEN = frozenset({"text:hidden-text", "text:hidden-paragraph"})


@dataclass(slots=True)
class Words:
    """What was read of a paragraph."""

    parts: list[str] = field(default_factory=list)
    aside: list[Element] = field(default_factory=list)
    """What belongs behind the paragraph, in order: notes and drawings."""
    sequence: str = ""
    """The sequence that a number in it counts: "Table" or "Illustration" in captions."""
    characters: int = 0
    bold: int = 0
    sizes: dict[int, int] = field(default_factory=dict)
    is_hidden: bool = False
    """It says of itself that it is not to be shown."""

    @property
    def text(self) -> str:
        """Return the words with sensible white space."""
        return tidy("".join(self.parts))

    @property
    def verbatim(self) -> str:
        """Return the words as they are, for code."""
        return "".join(self.parts).replace("\xa0", " ").rstrip()

    @property
    def size(self) -> int:
        """Return the size of most characters, 0 where there are none."""
        return max(self.sizes, key=lambda size: self.sizes[size], default=0)


@dataclass(slots=True)
class Inline:
    """Reads paragraphs one after the other."""

    styles: Styles
    object_text: Callable[[str], str]
    """Returns the words of an object in the file, a formula's; empty where it is none."""
    hidden_too: bool = False
    hidden: int = 0
    """Pieces that were left out since they are hidden."""
    comments: int = 0

    def read(self, element: Element, words: Words, look: Look) -> None:
        """Add the words of a paragraph, or of an element in one, as they look."""
        self._text(element.text, words, look)
        for part in element:
            self._part(part, words, look)
            self._text(part.tail, words, look)

    def _part(self, part: Element, words: Words, look: Look) -> None:
        name = name_of(part)
        if name == "text:s":
            count = min(number(part, "text:c", 1), _MOST_SPACES)
            words.parts.append(" " * count)
        elif name == "text:tab":
            words.parts.append("\t")
        elif name == "text:line-break":
            words.parts.append("\n")
        elif name == "draw:frame" and (formula := self._formula(part)):
            words.parts.append(f" {formula} ")
        elif name == "text:note" or name.startswith("draw:"):
            words.aside.append(part)
        elif name == "office:annotation":
            self.comments += 1
        elif name in _HIDDEN:
            self._hidden(part, name, words, look)
        elif name and name not in _NEVER_READ:
            if name == "text:sequence":
                words.sequence = stated(part, "text:name") or words.sequence
            style = stated(part, "text:style-name") if name == "text:span" else None
            self.read(part, words, look if style is None else self.styles.words(style, look))

    def _formula(self, frame: Element) -> str:
        """Return the formula in a frame; empty where it is no such frame."""
        held = child(frame, "draw:object")
        return self.object_text(stated(held, "xlink:href") or "") if held is not None else ""

    def _hidden(self, part: Element, name: str, words: Words, look: Look) -> None:
        if name == "text:hidden-paragraph":
            words.is_hidden |= stated(part, "text:is-hidden") == "true"
            self.read(part, words, look)
        elif self.hidden_too:
            words.parts.append(stated(part, "text:string-value") or "")
        else:
            self.hidden += 1

    def _text(self, text: str | None, words: Words, look: Look) -> None:
        if not text:
            return
        if look.hidden and not self.hidden_too:
            self.hidden += not text.isspace()
            return
        text = in_unicode(_BREAKS.sub(" ", text), look.font)
        if text[0] == " " and words.parts and words.parts[-1].endswith(" "):
            text = text[1:]
        words.parts.append(text)
        count = len(text) - text.count(" ")
        words.characters += count
        words.bold += count if look.bold else 0
        words.sizes[look.size] = words.sizes.get(look.size, 0) + count
