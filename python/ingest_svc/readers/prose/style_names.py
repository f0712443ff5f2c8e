"""What a paragraph style is for, told by its name in the languages of word processors.

Word keeps the names of its own styles in English whatever language it speaks; other programs, and
files that went through them, have "Überschrift 1", "标题 1" or "Titre 1".
"""

from __future__ import annotations

import re
from enum import Enum

_HEADING_WORDS = (
    # without digits some of these are the title of a document
    "heading|überschrift|titre|título|titulo|titolo|rubrik|overskrift|otsikko|kop|nagłówek|nadpis"
    "|заголовок|заголовки|标题|標題|见出し|見出し|제목|개요|címsor|başlık|επικεφαλίδα|כותרת|عنوان|titlu"
    "|заглавие|наслов|naslov|pealkiri|virsraksts|antraštė|tiêu đề|u đề|หัวเรื่อง|judul|heading level"
    "|encabezado|cabeçalho|capçalera|berschrift|ttulo|balk|nagwek|cmsor|section heading|h"
)
_HEADING = re.compile(rf"(?:{_HEADING_WORDS})[\s_-]*([1-9])(?:[\s_(,;].*)?", re.DOTALL)
_LATER_HEADING = re.compile(r"heading[\s_-]*(1[0-9])")
_TITLES_WORDS = (
    "title|titel|titre|título|titulo|titolo|rubrik|tittel|otsikko|tytuł|název|názov|название|标题"
    "|標題|表題|제목|cím|konu başlığı|τίτλος|כותר|العنوان|titlu|заглавие|naslov|document title"
    "|doctitle|konubal|puesto|文档标题"
)
_TITLES = frozenset(_TITLES_WORDS.split("|"))
_CAPTIONS_WORDS = (
    "caption|beschriftung|légende|lgende|leyenda|epígrafe|epgrafe|didascalia|legenda|bildtext"
    "|billedtekst|bijschrift|podpis|titulek|название объекта|подпись|题注|標號|図表番号|캡션"
    "|table caption|figure caption|image caption|table|figure|illustration|drawing|abbildung"
    "|tabelle|tabella|tabla|tableau|figura|table title|figure title|captioned figure"
)
_CAPTIONS = frozenset(_CAPTIONS_WORDS.split("|"))
_QUOTES_WORDS = (
    "quote|intense quote|block text|block quote|blockquote|quotations|quotation|zitat"
    "|intensives zitat|citation|citation intense|cita|cita destacada|citazione|citat|citaat"
    "|引用|明显引用|引用文|인용|цитата|cytat|alıntı"
)
_QUOTES = frozenset(_QUOTES_WORDS.split("|"))
_CODE = re.compile(
    r"(?:source|program|sample|html|block|preformatted)?[\s_-]?"
    r"(?:code|preformatted|listing|text preformatted|quelltext|代码|コード)"
    r"[\s_-]?(?:text|block|example|sample|listing|\d*)"
)
_PREFORMATTED = frozenset({"preformatted text", "html preformatted", "macro text", "macro"})


class Role(Enum):
    """What a style is for."""

    BODY = "body"
    TITLE = "title"
    CAPTION = "caption"
    QUOTE = "quote"
    CODE = "code"


def heading_level(name: str) -> int:
    """Return the level that a style's name says, from 1; 0 where it is no heading's name."""
    plain = _plain(name)
    found = _HEADING.fullmatch(plain) or _LATER_HEADING.fullmatch(plain)
    return int(found[1]) if found else 0


def role_of(name: str) -> Role:
    """Return what a style is for, by its name alone."""
    plain = _plain(name)
    if plain in _TITLES:
        return Role.TITLE
    if plain in _CAPTIONS:
        return Role.CAPTION
    if plain in _QUOTES:
        return Role.QUOTE
    if plain in _PREFORMATTED or _CODE.fullmatch(plain):
        return Role.CODE
    return Role.BODY


def _plain(name: str) -> str:
    return " ".join(name.lower().split())
