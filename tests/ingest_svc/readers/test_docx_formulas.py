"""Formulas of Word documents as lines that can be read."""

from __future__ import annotations

import pytest
from made_documents import docx, paragraph, run

from ingest_svc.readers import read_file


def r(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def e(content: str, name: str = "e") -> str:
    return f"<m:{name}>{content}</m:{name}>"


def of(name: str, *parts: str, **properties: str) -> str:
    stated = "".join(f'<m:{key} m:val="{text}"/>' for key, text in properties.items())
    return f"<m:{name}><m:{name}Pr>{stated}<m:ctrlPr/></m:{name}Pr>{''.join(parts)}</m:{name}>"


def read(formula: str) -> str:
    return read_file(docx(paragraph(f"<m:oMath>{formula}</m:oMath>")), "a.docx").blocks[0].text


SQUARE = of("sSup", e(r("b")), e(r("2"), "sup"))


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (r("A=π") + of("sSup", e(r("r")), e(r("2"), "sup")), "A=πr²"),
        (r("\U0001d465+\U0001d6fc"), "x+α"),
        (
            r("x=")
            + of(
                "f",
                e(r("-b±") + of("rad", e("", "deg"), e(SQUARE + r("-4ac"))), "num"),
                e(r("2a"), "den"),
            ),
            "x=(-b±√(b²-4ac))/2a",
        ),
        (of("f", e(r("n"), "num"), e(r("k"), "den"), type="noBar"), "n ¦ k"),
        (of("sSub", e(r("x")), e(r("i+k"), "sub")), "x_(i+k)"),
        (of("sSubSup", e(r("x")), e(r("1"), "sub"), e(r("2"), "sup")), "x₁²"),
        (of("sSup", e(r("x")), e(r("k"), "sup")) + r("a"), "x^k a"),
        (of("rad", e(r("3"), "deg"), e(r("x"))), "³√x"),
        (
            of("nary", e(r("i=1"), "sub"), e(r("n"), "sup"), e(r("i")), chr="∑"),
            "∑_(i=1)ⁿ i",
        ),
        (of("nary", e("", "sub"), e("", "sup"), e(r("f(x)dx"))), "∫ f(x)dx"),
        (of("d", e(r("a")), e(r("b")), begChr="[", endChr="]", sepChr=","), "[a,b]"),
        (of("d", e(r("x")), begChr="|", endChr="|"), "|x|"),
        (of("d", e(r("x")), endChr=""), "(x"),
        (
            of(
                "d",
                of("m", *[e(e(r(a)) + e(r(b)), "mr") for a, b in ("ab", "cd")]).join(
                    ("<m:e>", "</m:e>")
                ),
            ),
            "(a, b; c, d)",
        ),
        (of("eqArr", e(r("x=1")), e(r("y=2"))), "x=1; y=2"),
        (r("2") + of("func", e(r("sin"), "fName"), e(r("x"))), "2 sin x"),
        (of("acc", e(r("x")), chr="\u0304"), "x\u0304"),
        (
            of("func", e(of("limLow", e(r("lim")), e(r("n→∞"), "lim")), "fName"), e(r("a"))),
            "lim_(n→∞) a",
        ),
        (of("sPre", e(r("2"), "sub"), e(r("4"), "sup"), e(r("He"))), "₂⁴He"),
    ],
)
def test_a_formula_is_a_line_of_text(formula, text):
    assert read(formula) == text


def test_a_formula_stands_in_its_sentence():
    body = paragraph(f"{run('The area ')}<m:oMath>{r('A')}</m:oMath>{run(' is small.')}")
    assert read_file(docx(body), "a.docx").blocks[0].text == "The area A is small."


def test_formulas_between_paragraphs_are_paragraphs():
    body = f"<m:oMathPara><m:oMath>{r('a=b')}</m:oMath></m:oMathPara>"
    assert read_file(docx(body), "a.docx").blocks[0].text == "a=b"


def test_deleted_parts_of_a_formula_are_out():
    assert read(r("a") + f"<w:del>{r('b')}</w:del><w:ins>{r('c')}</w:ins>") == "ac"
