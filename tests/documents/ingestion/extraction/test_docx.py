from __future__ import annotations

from documents.ingestion.extracted import BlockKind
from tests.documents.ingestion.extraction.reading import kinds, parts, read_file
from tests.fakes.office_files import docx_of, docx_of_xml, paragraph, with_parts


def test_headings_lists_and_paragraphs_are_told_apart():
    def write(document):
        document.add_heading("Leave", 0)
        document.add_heading("Carry-over", 2)
        document.add_paragraph("Five days may be carried over.")
        document.add_paragraph("Ask your manager.", style="List Bullet")

    extracted = read_file(docx_of(write))
    assert kinds(extracted) == [
        ("heading", "Leave"),
        ("heading", "Carry-over"),
        ("paragraph", "Five days may be carried over."),
        ("list_item", "• Ask your manager."),
    ]
    assert [block.level for block in extracted.blocks][:2] == [1, 2]


def test_the_cells_of_a_row_keep_the_heads_of_their_columns_also_under_a_merged_head():
    def write(document):
        table = document.add_table(rows=3, cols=3)
        for row, cells in enumerate(
            [["City", "Limit", ""], ["", "MIN", "MAX"], ["Rome", "90", "190"]]
        ):
            for column, words in enumerate(cells):
                table.cell(row, column).text = words
        table.cell(0, 1).merge(table.cell(0, 2))
        table.cell(0, 0).merge(table.cell(1, 0))

    extracted = read_file(docx_of(write))
    assert parts(extracted, BlockKind.TABLE_HEADER) == ["City | Limit | Limit", "City | MIN | MAX"]
    assert parts(extracted, BlockKind.TABLE_ROW) == ["City: Rome | Limit MIN: 90 | Limit MAX: 190"]


def test_words_in_content_controls_smart_tags_and_text_boxes_are_kept_and_read_once():
    box = paragraph("In a box.")
    extracted = read_file(
        docx_of_xml(
            f"<w:sdt><w:sdtContent>{paragraph('In a control.')}</w:sdtContent></w:sdt>"
            "<w:p><w:r><w:t xml:space='preserve'>Paid in </w:t></w:r><w:smartTag><w:r><w:t>Brussels"
            "</w:t></w:r></w:smartTag><w:r><mc:AlternateContent><mc:Choice><wps:txbx><w:txbxContent>"
            f"{box}</w:txbxContent></wps:txbx></mc:Choice><mc:Fallback><v:textbox><w:txbxContent>{box}"
            "</w:txbxContent></v:textbox></mc:Fallback></mc:AlternateContent></w:r></w:p>"
        )
    )
    assert parts(extracted) == ["In a control.", "Paid in Brussels", "In a box."]


def test_tracked_changes_are_read_as_accepted_and_that_is_said():
    extracted = read_file(
        docx_of_xml(
            "<w:p><w:r><w:t xml:space='preserve'>The limit is </w:t></w:r>"
            "<w:del><w:r><w:delText>€ 40</w:delText></w:r></w:del>"
            "<w:ins><w:r><w:t>€ 60</w:t></w:r></w:ins></w:p>"
        )
    )
    assert extracted.text == "The limit is € 60"
    assert extracted.repairs == ("tracked changes taken as accepted",)


def test_a_footnote_stands_after_the_table_that_refers_to_it():
    cell = "<w:tc>{}</w:tc>"
    noted = "<w:p><w:r><w:t>€ 50</w:t></w:r><w:r><w:footnoteReference w:id='2'/></w:r></w:p>"
    rows = [("Country", "Limit"), ("Belgium", None), ("France", "€ 60")]
    table = "".join(
        "<w:tr>"
        + "".join(cell.format(noted if c is None else paragraph(c)) for c in row)
        + "</w:tr>"
        for row in rows
    )
    extracted = read_file(
        docx_of_xml(
            f"<w:tbl>{table}</w:tbl>{paragraph('After.')}",
            footnotes=f"<w:footnote w:id='2'>{paragraph('Not at weekends.')}</w:footnote>",
        )
    )
    assert parts(extracted) == [
        "Country | Limit",
        "Country: Belgium | Limit: € 50[2]",
        "Country: France | Limit: € 60",
        "[2] Not at weekends.",
        "After.",
    ]
    assert extracted.blocks[3].kind is BlockKind.NOTE


def test_headers_and_footers_run_and_pages_are_those_word_laid_out():
    def write(document):
        document.sections[0].header.paragraphs[0].text = "Meridian Bank"
        document.sections[0].footer.paragraphs[0].text = "Internal"
        document.add_paragraph("First page.")
        document.add_page_break()
        document.add_paragraph("Second page.")

    extracted = read_file(docx_of(write))
    assert parts(extracted, BlockKind.RUNNING) == ["Meridian Bank", "Internal"]
    first, second = (extracted.text[p.start : p.end] for p in extracted.pages)
    assert "First page." in first
    assert "Second page." in second


def test_numbers_that_word_draws_are_written_out():
    level = "<w:lvl w:ilvl='{}'><w:start w:val='1'/><w:numFmt w:val='{}'/><w:lvlText w:val='{}'/></w:lvl>"
    numbering = (
        "<w:abstractNum w:abstractNumId='0'>"
        + level.format(0, "decimal", "Article %1")
        + level.format(1, "lowerLetter", "%1.%2)")
        + "</w:abstractNum><w:num w:numId='7'><w:abstractNumId w:val='0'/></w:num>"
    )

    def item(depth, words):
        return (
            f"<w:p><w:pPr><w:numPr><w:ilvl w:val='{depth}'/><w:numId w:val='7'/></w:numPr></w:pPr>"
            f"<w:r><w:t>{words}</w:t></w:r></w:p>"
        )

    body = item(0, "Scope") + item(1, "Staff") + item(1, "Visitors") + item(0, "Limits")
    assert parts(read_file(docx_of_xml(body, numbering=numbering))) == [
        "Article 1 Scope",
        "1.a) Staff",
        "1.b) Visitors",
        "Article 2 Limits",
    ]


def test_hidden_words_stay_out_and_macros_are_named():
    data = docx_of_xml(
        "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>Secret.</w:t></w:r><w:r><w:t>Seen.</w:t></w:r></w:p>"
    )
    extracted = read_file(with_parts(data, {"word/vbaProject.bin": b"macro"}))
    assert extracted.text == "Seen."
    assert set(extracted.repairs) == {"macros left out", "hidden content left out"}
