"""RTF: the walk over groups, control words and bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest_svc.readers import filetypes
from ingest_svc.readers.block import Block, BlockKind, ParsedFile, Value, Warning
from ingest_svc.readers.limits import check, too_large
from ingest_svc.readers.prose.finish import finished
from ingest_svc.readers.prose.pieces import Piece
from ingest_svc.readers.prose.symbol_fonts import sign
from ingest_svc.readers.room import Room
from ingest_svc.readers.rtf.charsets import BY_WORD, Fonts, codec_of_page, decoded, paired
from ingest_svc.readers.rtf.flow import Flow
from ingest_svc.readers.rtf.grid import Rows
from ingest_svc.readers.rtf.state import Place, State
from ingest_svc.readers.rtf.styles import Styles
from ingest_svc.readers.rtf.tokens import Kind, tokens
from ingest_svc.readers.rtf.words import (
    FACTS,
    INNER,
    KNOWN,
    NEVER_READ,
    PLACES,
    PROPERTIES,
    SIGNS,
    SYMBOLS,
    TRANSPARENT,
)
from treespan.errors import DamagedFile

if TYPE_CHECKING:
    from ingest_svc.readers.source import Source

_MOST_GROUPS = 100_000
"""Open at the same time; no program comes near."""
_TEXT_PLACES = (Place.BODY, Place.MARKER)
_ALT = "wzDescription"
_LONGEST_FACT = 10_000
_LONGEST_MARKER = 1_000
_ENDS = (b"par", b"sect", b"cell", b"nestcell", b"row")


def read_rtf(source: Source) -> ParsedFile:
    """Return what an RTF document says.

    Raises:
        DamagedFile: it is no RTF.
        TooLarge: it has too many groups in one another, cells or pieces.
    """
    reader = _Reader(source)
    reader.over(source.data)
    return reader.parsed()


@dataclass(slots=True)
class _Inner:
    """A note or a text box that is being read, and the group that it is."""

    flow: Flow
    groups: int


@dataclass(slots=True)
class _Reader:
    source: Source
    state: State = field(default_factory=State)
    styles: Styles = field(default_factory=Styles)
    fonts: Fonts = field(default_factory=Fonts)
    rows: Rows = field(default_factory=Rows)
    codec: str = "cp1252"
    facts: dict[str, str] = field(default_factory=dict)
    warnings: list[Warning] = field(default_factory=list)
    pictures: int = 0
    comments: int = 0
    hidden: int = 0
    objects: int = 0
    flow: Flow = field(init=False)
    room: Room = field(init=False)
    _above: list[State] = field(default_factory=list)
    _inner: list[_Inner] = field(default_factory=list)
    _bytes: bytearray = field(default_factory=bytearray)
    """Bytes of text that wait to be decoded together."""
    _characters: list[str] = field(default_factory=list)
    """Characters that wait to be written together."""
    _skip: int = 0
    """Characters to be passed over, since what they stand for was read."""
    _may_skip: bool = False
    """The last symbol said that the next word may be passed over where it is not known."""
    _ended: int = 0
    """Paragraphs, cells and rows."""
    _name: str = ""
    """Of a shape's property."""

    def __post_init__(self) -> None:
        self.room = Room(self.source)
        self.flow = Flow(self.styles, self.room)

    def over(self, data: bytes) -> None:
        """Read the file."""
        if not data.lstrip().startswith(b"{\\rtf"):
            raise DamagedFile("the file does not begin as RTF does, with {\\rtf")
        for kind, text, number in tokens(data.lstrip()):
            if kind is Kind.OPEN:
                self._open_group()
            elif kind is Kind.CLOSE:
                self._close_group()
                if not self._above:
                    return
            elif kind is Kind.WORD:
                self._word(text, number)
            elif kind is Kind.SYMBOL:
                self._symbol(text)
            else:
                self._text(text)
        self.warnings.append(Warning("DAMAGED", "the file ends before its last group does"))
        while self._above:
            self._close_group()

    def parsed(self) -> ParsedFile:
        """Return the file."""
        title, blocks = finished(self.flow.pieces)
        facts = {name: _on_a_line(fact) for name, fact in self.facts.items()}
        metadata: dict[str, Value] = {
            name: fact for name, fact in facts.items() if name != "title" and fact
        }
        for count, what in (
            (self.hidden, "hidden pieces of text are left out"),
            (self.comments, "comments are left out"),
            (self.objects, "embedded objects are not read"),
        ):
            if count:
                self.warnings.append(Warning("SKIPPED_PART", f"{count} {what}"))
        return ParsedFile(
            blocks=blocks,
            media_type=filetypes.RTF.media_type,
            title=title or facts.get("title", ""),
            metadata=metadata,
            warnings=self.warnings,
            counts={
                "images": self.pictures,
                "skipped": self.hidden + self.comments + self.objects,
            },
        )

    def _open_group(self) -> None:
        self._flush()
        self._skip = 0
        self._above.append(self.state)
        if len(self._above) > _MOST_GROUPS:
            raise too_large(self.source.limits, "max_nesting", f"more than {_MOST_GROUPS} groups")
        self._may_skip = False

    def _close_group(self) -> None:
        self._flush()
        self._skip = 0
        if not self._above:
            return
        if self._inner and self._inner[-1].groups == len(self._above):
            self._end_inner()
        if self.state.place is Place.STYLES:
            self.styles.end_of_one()
        self.state = self._above.pop()
        if not self._above:
            self.flow.end(self.state)

    def _end_inner(self) -> None:
        inner = self.flow
        inner.end(self.state)
        self.flow = self._inner.pop().flow
        self.flow.aside += inner.pieces
        check(self.source.limits, "max_nodes", len(self.flow.aside))

    def _begin_inner(self, *, is_note: bool) -> None:
        self._inner.append(_Inner(self.flow, len(self._above)))
        is_note = is_note or self.flow.is_note
        self.flow = Flow(self.styles, self.room, is_note, self.flow.is_aside or not is_note)
        self.state = State(Place.BODY, font=self.state.font)

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._may_skip = True
        elif symbol in (b"\\", b"{", b"}"):
            self._text(symbol)
        elif symbol in SYMBOLS:
            self._sign(SYMBOLS[symbol])
        elif symbol in (b"\n", b"\r"):
            self._word(b"par", None)

    def _text(self, text: bytes) -> None:
        if self._skip:
            skipped = min(self._skip, len(text))
            self._skip -= skipped
            text = text[skipped:]
        if text and self.state.place not in (Place.SKIP, Place.PASS, Place.ROW, Place.INFO):
            self._bytes += text

    def _sign(self, character: str) -> None:
        if self._skip:
            self._skip -= 1
            return
        self._decode()
        self._characters.append(character)

    def _decode(self) -> None:
        """Decode the bytes that wait, all of one font."""
        if not self._bytes:
            return
        data, self._bytes = bytes(self._bytes), bytearray()
        font = self.fonts.of(self.state.font) if self.state.place in _TEXT_PLACES else None
        if font is not None and font.is_symbol:
            self._characters += [_of_symbols(byte, font.name) for byte in data]
        else:
            self._characters.append(decoded(data, font, self.codec))

    def _flush(self) -> None:
        """Write what waits, all of one state."""
        self._decode()
        if self._characters:
            text, self._characters = "".join(self._characters), []
            self._write(text)

    def _write(self, text: str) -> None:
        state = self.state
        match state.place:
            case Place.BODY:
                if state.deleted or (state.hidden and not self.source.options.include_hidden):
                    self.hidden += not state.deleted and not text.isspace()
                else:
                    self.flow.write(text, state)
            case Place.MARKER:
                self.flow.marker = (self.flow.marker + text)[:_LONGEST_MARKER]
            case Place.FONTS:
                self.fonts.named(text)
            case Place.STYLES:
                self.styles.named(text)
            case Place.FACT:
                known = self.facts.get(state.fact, "")
                self.facts[state.fact] = (known + text)[:_LONGEST_FACT]
            case Place.NAME:
                self._name += text.strip()
            case Place.VALUE:
                self._value(text)
            case _:
                return

    def _value(self, text: str) -> None:
        if self._name == _ALT and text.strip():
            self.flow.aside.append(Piece(Block(BlockKind.IMAGE, " ".join(text.split()))))
            self._name = ""

    def _word(self, word: bytes, number: int | None) -> None:
        if word == b"u":
            self._unicode(number or 0)
            return
        if self._skip and word not in (b"par", b"cell", b"row"):
            self._skip -= 1
            return
        may_skip, self._may_skip = self._may_skip, False
        if self.state.place is Place.SKIP and word != b"ud":
            return
        if word in SIGNS:
            self._sign(SIGNS[word])
            return
        if word not in KNOWN and not may_skip:
            return
        self._flush()
        known = self._destination(word) or self._acts(word, number)
        if may_skip and not known:
            self.state = self.state._replace(place=Place.SKIP)

    def _unicode(self, number: int) -> None:
        self._may_skip = False
        if self.state.place is not Place.SKIP:
            self._decode()
            code = number & 0xFFFF if number < 0 else number
            font = self.fonts.of(self.state.font)
            if 0xF020 <= code <= 0xF0FF and font is not None:
                self._characters.append(sign(code, font.name))
            elif code <= 0x10FFFF:
                self._characters.append(chr(code))
        self._skip = self.state.skipped_per_unicode

    def _destination(self, word: bytes) -> bool:
        """Take a word that says where the text of its group goes."""
        state = self.state
        if word in INNER:
            self._begin_inner(is_note=word == b"footnote")
        elif word in NEVER_READ:
            self.comments += word == b"annotation"
            self.objects += word == b"objdata"
            self.state = state._replace(place=Place.SKIP)
        elif word in PLACES:
            if word == b"pict":
                self.pictures += 1
            if word == b"sn":
                self._name = ""
            self.state = state._replace(place=PLACES[word])
        elif word in FACTS and (state.place is Place.INFO or word == b"generator"):
            self.facts[FACTS[word]] = ""
            self.state = state._replace(place=Place.FACT, fact=FACTS[word])
        elif word == b"upr":
            self.state = state._replace(place=Place.SKIP, outside=state.place, fact=state.fact)
        elif word == b"ud":
            self.state = state._replace(place=state.outside)
        else:
            return word in TRANSPARENT
        return True

    def _acts(self, word: bytes, number: int | None) -> bool:
        """Do what a word says; return False where it is not known."""
        place = self.state.place
        if place is Place.FONTS and self.fonts.word(word, number):
            return True
        if place is Place.STYLES and self.styles.word(word, number):
            return True
        if word in PROPERTIES:
            self.state = PROPERTIES[word](self.state, number)
        elif word in BY_WORD:
            self.codec = BY_WORD[word]
        elif word == b"ansicpg":
            self.codec = codec_of_page(number or 0) or self.codec
        elif word == b"deff":
            self.fonts.default = number or 0
        elif place is Place.BODY and word in _ENDS:
            self._end(word)
        else:
            return self._row_word(word, number)
        return True

    def _row_word(self, word: bytes, number: int | None) -> bool:
        place = self.state.place
        if place is Place.ROW and word == b"nestrow":
            self.flow.end_row(self.rows.layout(in_cell=True), max(self.state.depth, 2))
            return True
        if place not in (Place.BODY, Place.ROW):
            return False
        return self.rows.word(word, number or 0, in_cell=place is Place.ROW)

    def _end(self, word: bytes) -> None:
        self._ended += 1
        check(self.source.limits, "max_nodes", self._ended)
        if word == b"cell":
            self.flow.end_cell(self.state, 1)
        elif word == b"nestcell":
            self.flow.end_cell(self.state, max(self.state.depth, 2))
        elif word == b"row":
            self.flow.end_row(self.rows.layout(in_cell=False), 1)
        else:
            self.flow.end_paragraph(self.state)


def _on_a_line(fact: str) -> str:
    return " ".join(paired(fact).split()).rstrip(";")


def _of_symbols(byte: int, font: str) -> str:
    return sign(0xF000 + byte, font) if byte >= 0x20 else ""
