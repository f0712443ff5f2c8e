"""Numbers as lists and headings write them, by the names of the formats in OOXML."""

from __future__ import annotations

from collections.abc import Callable

_ROMAN = tuple(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"),
        strict=True,
    )
)
_HAN = "〇一二三四五六七八九"
_HAN_UNITS = ("", "十", "百", "千")
_LEGAL = "零壹贰叁肆伍陆柒捌玖"
_LEGAL_UNITS = ("", "拾", "佰", "仟")
_STEMS = "甲乙丙丁戊己庚辛壬癸"
_BRANCHES = "子丑寅卯辰巳午未申酉戌亥"
_AIUEO = (
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
)
_IROHA = (
    "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス"
)
_GANADA = "가나다라마바사아자차카타파하"
_CHOSUNG = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщыэюя"
_HEBREW = "אבגדהוזחטיכלמנסעפצקרשת"
_ABJAD = "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ"
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_ONES = _SMALL.split()
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_MOST_ROMAN = 32_767
_MOST_LETTERS = 780


def formatted(number: int, style: str) -> str:
    """Return a number as a format writes it.

    Args:
        number: From 0.
        style: Name of the format, for example "lowerRoman"; what is not known is written in digits.
    """
    writer = _WRITERS.get(style)
    return writer(number) if writer is not None and number >= 0 else str(number)


def roman(number: int) -> str:
    """Return a number in capital Roman numerals; in digits where there are none for it."""
    if not 0 < number <= _MOST_ROMAN:
        return str(number)
    text = ""
    for unit, sign in _ROMAN:
        count, number = divmod(number, unit)
        text += sign * count
    return text


def letters(number: int) -> str:
    """Return a number in capital letters: A to Z, then AA, BB and so on."""
    if not 0 < number <= _MOST_LETTERS:
        return str(number)
    times, place = divmod(number - 1, 26)
    return chr(ord("A") + place) * (times + 1)


def han(number: int, digits: str = _HAN, units: tuple[str, ...] = _HAN_UNITS) -> str:
    """Return a number in Chinese, with its units: 二十一."""
    if not 0 < number < 10_000:
        return "".join(digits[int(digit)] for digit in str(number))
    text, is_gap = "", False
    for place, digit in zip(range(len(str(number)) - 1, -1, -1), str(number), strict=True):
        if digit == "0":
            is_gap = True
            continue
        if is_gap and text:
            text += "零"
        is_gap = False
        text += digits[int(digit)] + units[place]
    return text[1:] if 10 <= number < 20 and digits == _HAN else text


def _positional(number: int) -> str:
    return "".join(_HAN[int(digit)] for digit in str(number))


def _full_width(number: int) -> str:
    return "".join(chr(0xFF10 + int(digit)) for digit in str(number))


def _circled(number: int) -> str:
    if number == 0:
        return "⓪"
    for first, last, sign in ((1, 20, 0x2460), (21, 35, 0x3251), (36, 50, 0x32B1)):
        if first <= number <= last:
            return chr(sign + number - first)
    return str(number)


def _ordinal(number: int) -> str:
    is_teen = number // 10 % 10 == 1
    return f"{number}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _cardinal(number: int) -> str:
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        return f"{_ONES[hundreds]} hundred" + (f" {_cardinal(rest)}" if rest else "")
    return str(number)


def _ordinal_text(number: int) -> str:
    words = _cardinal(number)
    if words.isdigit():
        return _ordinal(number)
    cut = max(words.rfind(" "), words.rfind("-")) + 1
    last = words[cut:]
    ordinal = _ORDINALS.get(last) or (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")
    return words[:cut] + ordinal


def _from(signs: str) -> Callable[[int], str]:
    return lambda number: signs[(number - 1) % len(signs)] if number > 0 else str(number)


def _zodiac(number: int) -> str:
    return _from(_STEMS)(number) + _from(_BRANCHES)(number) if number > 0 else str(number)


_WRITERS: dict[str, Callable[[int], str]] = {
    "upperRoman": roman,
    "lowerRoman": lambda number: roman(number).lower(),
    "upperLetter": letters,
    "lowerLetter": lambda number: letters(number).lower(),
    "decimalZero": lambda number: f"{number:02}",
    "ordinal": _ordinal,
    "cardinalText": lambda number: _cardinal(number).capitalize(),
    "ordinalText": lambda number: _ordinal_text(number).capitalize(),
    "decimalFullWidth": _full_width,
    "decimalFullWidth2": _full_width,
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    "decimalEnclosedFullstop": lambda number: f"{number}.",
    "decimalEnclosedParen": lambda number: f"({number})",
    "chineseCounting": han,
    "chineseCountingThousand": han,
    "taiwaneseCounting": han,
    "taiwaneseCountingThousand": han,
    "japaneseCounting": han,
    "ideographDigital": _positional,
    "taiwaneseDigital": _positional,
    "japaneseDigitalTenThousand": _positional,
    "koreanDigital2": _positional,
    "chineseLegalSimplified": lambda number: han(number, _LEGAL, _LEGAL_UNITS),
    "ideographLegalTraditional": lambda number: han(number, _LEGAL, _LEGAL_UNITS),
    "ideographTraditional": _from(_STEMS),
    "ideographZodiac": _from(_BRANCHES),
    "ideographZodiacTraditional": _zodiac,
    "ideographEnclosedCircle": lambda number: (
        chr(0x3280 + number - 1) if 0 < number <= 10 else str(number)
    ),
    "aiueoFullWidth": _from(_AIUEO),
    "aiueo": _from(_AIUEO),
    "irohaFullWidth": _from(_IROHA),
    "iroha": _from(_IROHA),
    "ganada": _from(_GANADA),
    "chosung": _from(_CHOSUNG),
    "russianLower": _from(_RUSSIAN),
    "russianUpper": lambda number: _from(_RUSSIAN)(number).upper(),
    "hebrew2": _from(_HEBREW),
    "arabicAbjad": _from(_ABJAD),
}
