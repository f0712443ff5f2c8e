"""The words of a paragraph: runs, fields, formulas; text boxes, notes and pictures are set aside.

Of tracked changes what was inserted or moved here is in, what was deleted or moved away is out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ingest_svc.readers.docx.drawings import Found, found_in
from ingest_svc.readers.docx.formulas import formula_text
from ingest_svc.readers.docx.names import child, choice, name_of, number, value
from ingest_svc.readers.docx.styles import Look, Styles, look_of
from ingest_svc.readers.prose.symbol_fonts import in_unicode, sign
from ingest_svc.readers.prose.white_space import tidy

if TYPE_CHECKING:
    from ingest_svc.readers.xml_parts import Element

_WRAPPERS = "ins moveTo hyperlink smartTag sdt sdtContent customXml fldSimple dir bdo rubyBase"
WRAPPERS = frozenset(_WRAPPERS.split())
"""Elements in a paragraph that only wrap what is shown."""
_SIGNS = {
    "tab": "\t",
    "ptab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "\u2011",
}
_BREAKS = re.compile("[\t\r\n]+")
_SEQUENCE = re.compile(r"\s*SEQ\s+([^\s\\]+)", re.IGNORECASE)
_LONGEST_INSTRUCTION = 1_000


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote or endnote that is referred to."""

    kind: Literal["footnote", "endnote"]
    id: str


@dataclass(slots=True)
class Words:
    """What was read of a paragraph."""

    parts: list[str] = field(default_factory=list)
    aside: list[Note | Found] = field(default_factory=list)
    """What belongs behind the paragraph, in order."""
    sequence: str = ""
    """The sequence that a number in it counts: "Table" or "Figure" in captions."""
    characters: int = 0
    bold: int = 0
    """Characters that are bold."""
    sizes: dict[int, int] = field(default_factory=dict)
    """Characters by their size in half points."""

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
class _Field:
    """A field that is open; its instruction is not shown, its result is."""

    in_instruction: bool = True
    instruction: str = ""
    chosen: str = ""


@dataclass(slots=True)
class Inline:
    """Reads paragraphs one after the other; fields may go over several."""

    styles: Styles
    hidden_too: bool = False
    hidden: int = 0
    """Runs that were left out since they are hidden."""
    comments: int = 0
    unread: int = 0
    """Objects that are not read."""
    _fields: list[_Field] = field(default_factory=list)

    def read(self, paragraph: Element, words: Words, look: Look) -> None:
        """Add the words of a paragraph.

        Args:
            paragraph: The element.
            words: What to add to.
            look: How the paragraph's style makes characters look.
        """
        self._inside(paragraph, words, look)
        for opened in self._fields:  # an instruction never takes the next paragraph with it
            opened.in_instruction = False

    def read_part(self, part: Element, words: Words, look: Look) -> None:
        """Add the words of one part of a paragraph: a run, a formula, what wraps them."""
        name = name_of(part)
        if name == "r":
            self._run(part, words, look)
        elif name in WRAPPERS:
            if name == "fldSimple":
                words.sequence = _sequence(value(part, "instr") or "") or words.sequence
            self._inside(part, words, look)
        elif name == "mc:AlternateContent":
            chosen = choice(part)
            if chosen is not None:
                self._inside(chosen, words, look)
        elif name in ("m:oMath", "m:oMathPara"):
            self._formula(part, words)

    def _inside(self, element: Element, words: Words, look: Look) -> None:
        for part in element:
            self.read_part(part, words, look)

    def _formula(self, element: Element, words: Words) -> None:
        if not self._is_shown():
            return
        text = formula_text(element)
        is_stuck = words.parts and words.parts[-1][-1:].isalnum() and text[:1].isalnum()
        words.parts.append(f" {text}" if is_stuck else text)

    def _run(self, run: Element, words: Words, look: Look) -> None:
        properties = child(run, "rPr")
        if properties is not None:
            look = self._look(properties, look)
        if look.hidden and not self.hidden_too:
            self.hidden += any(name_of(part) == "t" for part in run)
            self._hidden_marks(run)
            return
        for part in run:
            self._part(part, words, look)

    def _look(self, properties: Element, look: Look) -> Look:
        style = child(properties, "rStyle")
        if style is not None:
            look = self.styles.character(value(style) or "").over(look)
        return look_of(properties).over(look)

    def _hidden_marks(self, run: Element) -> None:
        """Follow fields through hidden text, which often holds their instructions."""
        for part in run:
            if name_of(part) == "fldChar":
                self._field_mark(part, Words())

    def _part(self, part: Element, words: Words, look: Look) -> None:
        name = name_of(part)
        if name == "fldChar":
            self._field_mark(part, words)
        elif name == "instrText":
            self._instruction(part.text or "", words)
        elif name == "commentReference":
            self.comments += 1
        elif not self._is_shown():
            return
        elif name == "t":
            self._text(part.text or "", words, look)
        elif name in _SIGNS:
            words.parts.append(_SIGNS[name])
        else:
            self._rare_part(name, part, words, look)

    def _rare_part(self, name: str, part: Element, words: Words, look: Look) -> None:
        if name == "sym":
            self._sign(part, words)
        elif name == "footnoteReference":
            words.aside.append(Note("footnote", value(part, "id") or ""))
        elif name == "endnoteReference":
            words.aside.append(Note("endnote", value(part, "id") or ""))
        elif name in ("drawing", "pict", "object"):
            words.aside += found_in(part)
        elif name == "mc:AlternateContent":
            chosen = choice(part)
            for inner in chosen if chosen is not None else ():
                self._part(inner, words, look)
        elif name == "ruby":
            base = child(part, "rubyBase")
            if base is not None:
                self._inside(base, words, look)

    def _text(self, text: str, words: Words, look: Look) -> None:
        if not text.isprintable():
            text = in_unicode(_BREAKS.sub(" ", text), look.font or "")
        words.parts.append(text)
        count = len(text) - text.count(" ")
        words.characters += count
        words.bold += count if look.bold else 0
        if look.size:
            words.sizes[look.size] = words.sizes.get(look.size, 0) + count

    def _sign(self, element: Element, words: Words) -> None:
        code = (value(element, "char") or "").strip()
        try:
            words.parts.append(sign(int(code[:8], 16), value(element, "font") or ""))
        except ValueError:
            return

    def _is_shown(self) -> bool:
        return not any(opened.in_instruction for opened in self._fields)

    def _instruction(self, text: str, words: Words) -> None:
        if self._fields and len(self._fields[-1].instruction) < _LONGEST_INSTRUCTION:
            opened = self._fields[-1]
            opened.instruction += text
            words.sequence = _sequence(opened.instruction) or words.sequence

    def _field_mark(self, element: Element, words: Words) -> None:
        kind = value(element, "fldCharType")
        if kind == "begin":
            self._fields.append(_Field(chosen=_chosen(element)))
        elif kind == "separate" and self._fields:
            self._fields[-1].in_instruction = False
        elif kind == "end" and self._fields:
            chosen = self._fields.pop().chosen
            if self._is_shown():
                words.parts.append(chosen)


def _chosen(begin: Element) -> str:
    """Return the entry that is chosen in a form's list, which has no words of its own."""
    listed = child(child(begin, "ffData"), "ddList")
    entries = (
        [part for part in listed if name_of(part) == "listEntry"] if listed is not None else []
    )
    result = child(listed, "result")
    at = number(result) if result is not None else 0
    return (value(entries[at]) or "") if at is not None and 0 <= at < len(entries) else ""


def _sequence(instruction: str) -> str:
    found = _SEQUENCE.match(instruction)
    return found[1] if found else ""
