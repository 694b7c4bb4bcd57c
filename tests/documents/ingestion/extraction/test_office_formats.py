"""XLSX and PPTX, and what a file is by its content."""

from __future__ import annotations

from datetime import date

import pytest

from documents.ingestion.extracted import BlockKind, ExtractionFailed, FailureCode
from documents.ingestion.extraction.numbers import shown
from documents.ingestion.extraction.sniff import Kind, sniff
from tests.documents.ingestion.extraction.reading import kinds, parts, read_file
from tests.fakes.office_files import docx_of, pptx_of, xlsx_of, zipped
from tests.pdf import make_pdf


@pytest.mark.parametrize(
    ("value", "form", "words"),
    [
        (0.05, "0%", "5%"),
        (0.0525, "0.00%", "5.25%"),
        (1250, "#,##0.00", "1,250.00"),
        (40, '"€" #,##0', "€ 40"),
        (40, "[$€-413] #,##0", "€ 40"),
        (-40, "#,##0;(#,##0)", "(40)"),
        (0.1 + 0.2, "General", "0.3"),
        (25.0, "General", "25"),
        (7, '0" days"', "7 days"),
    ],
)
def test_a_number_is_written_as_the_sheet_shows_it(value, form, words):
    assert shown(value, form) == words


def test_a_cell_is_read_with_its_column_head_and_hidden_ones_are_not():
    def edit(workbook):
        sheet = workbook.active
        sheet.title = "Rates"
        sheet["B2"].number_format = "0.0%"
        sheet["B3"].number_format = "0.0%"
        sheet.row_dimensions[3].hidden = True
        sheet.column_dimensions["D"].hidden = True
        workbook.create_sheet("Draft").append(["unseen"])
        workbook["Draft"].sheet_state = "hidden"

    rows = [
        ["Product", "Rate", "From", "Note"],
        ["Savings", 0.025, date(2025, 3, 1), "secret"],
        ["Old", 0.9, date(2020, 1, 1), ""],
        ["Loan", 4, None, ""],
    ]
    extracted = read_file(xlsx_of(rows, edit))
    assert kinds(extracted) == [
        ("heading", "Rates"),
        ("table_header", "Product | Rate | From"),
        ("table_row", "Product: Savings | Rate: 2.5% | From: 2025-03-01"),
        ("table_row", "Product: Loan | Rate: 4"),
    ]
    assert [page.label for page in extracted.pages] == ["Rates"]
    assert extracted.repairs == ("hidden content left out",)


def test_slides_are_pages_with_their_notes():
    def edit(presentation):
        presentation.slides[0].notes_slide.notes_text_frame.text = "Say it slowly."
        presentation.slides[1].element.set("show", "0")

    extracted = read_file(
        pptx_of(("Leave", ["25 days", "5 more"]), ("Hidden", ["x"]), ("End", ["Bye"]), edit=edit)
    )
    assert parts(extracted, BlockKind.HEADING) == ["Leave", "End"]
    assert parts(extracted, BlockKind.LIST_ITEM) == ["• 25 days", "• 5 more"]
    assert parts(extracted, BlockKind.NOTE) == ["Say it slowly."]
    last = extracted.pages[2]
    assert extracted.page_count == 3
    assert extracted.text[last.start : last.end].startswith("End")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (make_pdf("Words"), Kind.PDF),
        (docx_of(lambda document: document.add_paragraph("Words")), Kind.DOCX),
        (xlsx_of([["Words"]]), Kind.XLSX),
        (pptx_of(("Words", [])), Kind.PPTX),
        (b"<!-- x --><html><body>Words</body></html>", Kind.HTML),
        (b"# Words\n\nand more", Kind.MARKDOWN),
        (b"Just words.", Kind.TEXT),
        ("Überweisung".encode("utf-16"), Kind.TEXT),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
            + b"\x00" * 512
            + "WordDocument".encode("utf-16-le"),
            Kind.DOC,
        ),
    ],
)
def test_a_file_is_what_its_content_says(data, kind):
    assert sniff(data) is kind


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x89PNG\r\n\x1a\n", FailureCode.UNSUPPORTED),
        (b"MZ\x90\x00", FailureCode.UNSUPPORTED),
        (b"{\\rtf1 hello}", FailureCode.UNSUPPORTED),
        (b'<?xml version="1.0"?><data/>', FailureCode.UNSUPPORTED),
        (zipped({"a.txt": "hello"}), FailureCode.UNSUPPORTED),
        (b"PK\x03\x04 %PDF-1.4 both", FailureCode.UNSUPPORTED),
        (b"PK\x03\x04 torn", FailureCode.DAMAGED),
        (bytes(range(256)) * 20, FailureCode.UNSUPPORTED),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            FailureCode.ENCRYPTED,
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_do(data, code):
    with pytest.raises(ExtractionFailed) as caught:
        sniff(data)
    assert caught.value.code is code
    assert caught.value.message.endswith(".")
