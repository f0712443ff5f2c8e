"""The golden documents of word processors: one of each with what such documents are made of."""

from __future__ import annotations

from made_documents import (
    cell,
    docx,
    heading_styles,
    in_list,
    level,
    odt,
    paragraph,
    row,
    run,
    table,
)


def report() -> bytes:
    """Return a Word document."""
    styles = heading_styles("Title", "heading 1", "标题 2", "caption", "Source Code", "Quote")
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level(0, "%1.")}{level(1, "%1.%2")}</w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="1">{level(0, "%1)", "lowerLetter")}'
        f"{level(1, 'o', 'bullet')}</w:abstractNum>"
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
        '<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    )
    notes = f'<w:footnote w:id="1">{paragraph("Measured in May.")}</w:footnote>'
    changed = (
        run("It leaks ")
        + f'<w:ins w:id="1">{run("much ")}</w:ins>'
        + '<w:del w:id="2"><w:r><w:delText>little </w:delText></w:r></w:del>'
        + run("water")
        + '<w:r><w:footnoteReference w:id="1"/></w:r>'
        + run(" each day.")
        + run(" To be removed.", "<w:vanish/>")
    )
    picture = (
        '<w:r><w:drawing><wp:inline><wp:docPr id="1" name="p" descr="The pump, from above"/>'
        "<a:graphic><a:graphicData><pic:pic/></a:graphicData></a:graphic></wp:inline></w:drawing>"
        f"<w:pict><v:textbox><w:txbxContent>{paragraph('Do not touch.')}</w:txbxContent>"
        "</v:textbox></w:pict></w:r>"
    )
    area = (
        "<m:oMath><m:r><m:t>A=π</m:t></m:r><m:sSup><m:e><m:r><m:t>r</m:t></m:r></m:e>"
        "<m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>"
    )
    body = (
        paragraph("The pump on the second floor", "H1")
        + paragraph("What is wrong", "H2", in_list(1))
        + paragraph(changed)
        + paragraph("泵的位置", "H3", in_list(1, 1))
        + paragraph(run("See the plan.") + picture)
        + paragraph("Figure 1: The pump", "H4")
        + paragraph("What to do", "H2", in_list(1))
        + paragraph("Call the plumber", "", in_list(2))
        + paragraph("before noon", "", in_list(2, 1))
        + paragraph("Tell Eve", "", in_list(2))
        + paragraph("Table 1: Prices", "H4")
        + table(
            row(
                cell("Part"), cell("Price", '<w:gridSpan w:val="2"/>'), properties="<w:tblHeader/>"
            ),
            row(cell("valve", '<w:vMerge w:val="restart"/>'), cell("net"), cell("10")),
            row(cell("", "<w:vMerge/>"), cell("gross"), cell("12")),
        )
        + paragraph("open(valve)", "H5")
        + paragraph("  wait(5)", "H5")
        + paragraph("Water finds its way.", "H6")
        + paragraph(run("With ") + area + run(" it is small."))
    )
    core = (
        "<dc:creator>E. Keeper</dc:creator>"
        "<dcterms:modified>2024-05-06T07:08:09Z</dcterms:modified>"
    )
    return docx(body, styles=styles, numbering=numbering, footnotes=notes, core=core)


def letter() -> bytes:
    """Return an OpenDocument text."""
    styles = (
        '<style:style style:name="Title" style:family="paragraph"/>'
        '<style:style style:name="Hidden" style:family="text">'
        '<style:text-properties text:display="none"/></style:style>'
        '<text:outline-style><text:outline-level-style text:level="1" style:num-format="1"/>'
        '<text:outline-level-style text:level="2" style:num-format="1"'
        ' text:display-levels="2"/></text:outline-style>'
        '<text:list-style style:name="L"><text:list-level-style-number text:level="1"'
        ' style:num-format="A" style:num-suffix=")"/></text:list-style>'
    )
    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>Measured in May.</text:p></text:note-body></text:note>"
    )
    frame = (
        "<draw:frame><draw:text-box><text:p>Do not touch.</text:p></draw:text-box></draw:frame>"
        '<draw:frame><draw:image xlink:href="x"/><svg:desc>The pump</svg:desc></draw:frame>'
    )
    cells = "".join(
        f"<table:table-cell{more}><text:p>{text}</text:p></table:table-cell>{covered}"
        for text, more, covered in (
            ("Part", "", ""),
            ("Price", ' table:number-columns-spanned="2"', "<table:covered-table-cell/>"),
        )
    )
    body = (
        '<text:p text:style-name="Title">The pump</text:p>'
        '<text:h text:outline-level="1">What is wrong</text:h>'
        f"<text:p>It leaks<text:s/>water{note} each day."
        '<text:span text:style-name="Hidden"> To be removed.</text:span></text:p>'
        '<text:h text:outline-level="2">The place</text:h>'
        f"<text:p>See the plan.{frame}</text:p>"
        '<text:h text:outline-level="1">What to do</text:h>'
        '<text:list text:style-name="L"><text:list-item><text:p>Call the plumber</text:p>'
        "<text:p>before noon</text:p></text:list-item><text:list-item><text:p>Tell Eve</text:p>"
        "</text:list-item></text:list>"
        f"<table:table><table:table-header-rows><table:table-row>{cells}</table:table-row>"
        "</table:table-header-rows><table:table-row><table:table-cell><text:p>valve</text:p>"
        '</table:table-cell><table:table-cell table:number-columns-repeated="2"><text:p>10</text:p>'
        "</table:table-cell></table:table-row></table:table>"
    )
    meta = "<meta:initial-creator>E. Keeper</meta:initial-creator><dc:language>en</dc:language>"
    return odt(body, styles=styles, meta=meta)
