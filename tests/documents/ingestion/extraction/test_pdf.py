from __future__ import annotations

import hashlib
import logging
from pathlib import Path

import pypdf
import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.platypus import Paragraph, Table

from documents.ingestion.extracted import ExtractionFailed, FailureCode
from documents.ingestion.extraction import pdf
from documents.ingestion.extraction.pdf import extract_pdf
from tests.fakes.pdf_files import SAMPLES, STYLES, pdf_of_flowables, pdf_of_lines, with_samples


def refused(data: bytes, **limits: int) -> ExtractionFailed:
    with pytest.raises(ExtractionFailed) as caught:
        extract_pdf(data, **limits)
    return caught.value


def test_every_page_is_a_span_of_the_text_in_code_points() -> None:
    extracted = extract_pdf(pdf_of_lines(["First page, € 5"], [], ["Third page"]))

    assert [page.page for page in extracted.pages] == [1, 2, 3]
    texts = [extracted.text[page.start : page.end] for page in extracted.pages]
    assert texts == ["First page, € 5", "", "Third page"]
    assert extracted.text == "First page, € 5\n\n\n\nThird page"
    assert extracted.page_count == 3
    assert extracted.sha256 == hashlib.sha256(extracted.text.encode()).hexdigest()


def test_lines_of_a_page_stay_lines() -> None:
    extracted = extract_pdf(pdf_of_lines(["Annual leave is", "25 days."]))
    assert extracted.text == "Annual leave is\n25 days."


def test_the_cells_of_a_table_row_stay_on_one_line() -> None:
    rows = [["City", "Hotel", "Meals"], ["Brussels", "180 EUR", "55 EUR"], ["Rome", "190 EUR", "–"]]
    extracted = extract_pdf(pdf_of_flowables(Paragraph("Limits", STYLES["Title"]), Table(rows)))
    assert extracted.text.splitlines() == [
        "Limits",
        "City Hotel Meals",
        "Brussels 180 EUR 55 EUR",
        "Rome 190 EUR –",
    ]


def test_a_pdf_with_only_an_owner_password_is_read() -> None:
    restricted = StandardEncryption("", ownerPassword="owner", canPrint=0, canCopy=0)
    assert extract_pdf(pdf_of_lines(["Readable"], encrypt=restricted)).text == "Readable"


def test_a_pdf_that_needs_a_password_is_refused_as_encrypted() -> None:
    failure = refused(pdf_of_lines(["Secret"], encrypt=StandardEncryption("open")))
    assert failure.code is FailureCode.ENCRYPTED
    assert "password" in failure.message


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 a word document", b"%PD", b"<html>%pdf-1.4"])
def test_what_is_no_pdf_by_content_is_refused_as_such(content: bytes) -> None:
    assert refused(content).code is FailureCode.UNSUPPORTED


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_a_torn_pdf_is_refused_as_damaged(share: float) -> None:
    whole = pdf_of_lines(["Whole"])
    torn = b"%PDF-1.4\n" + b"\x00garbage\xff" * 20 + whole[9 : int(len(whole) * share)]
    assert refused(torn).code is FailureCode.DAMAGED


def test_a_pdf_without_pages_is_refused_as_damaged(tmp_path: Path) -> None:
    target = tmp_path / "empty.pdf"
    pypdf.PdfWriter().write(target)
    assert refused(target.read_bytes()).code is FailureCode.DAMAGED


def test_whatever_the_parser_raises_is_a_damaged_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_: object, **__: object) -> str:
        raise RecursionError

    monkeypatch.setattr(pypdf.PageObject, "extract_text", explode)
    assert refused(pdf_of_lines(["Text"])).code is FailureCode.DAMAGED


def test_a_scan_is_refused_with_the_way_out() -> None:
    failure = refused(pdf_of_lines([], []))
    assert failure.code is FailureCode.NO_TEXT
    assert "scan" in failure.message
    assert "OCR" in failure.message


def test_a_file_over_the_limit_is_refused_unopened() -> None:
    data = pdf_of_lines(["Text"])
    assert refused(data, max_bytes=len(data) - 1).code is FailureCode.TOO_LARGE
    assert extract_pdf(data, max_bytes=len(data)).text == "Text"


def test_too_many_pages_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MAX_PAGES", 2)
    failure = refused(pdf_of_lines(["1"], ["2"], ["3"]))
    assert failure.code is FailureCode.TOO_LARGE
    assert "3 pages" in failure.message


def test_a_page_with_absurdly_much_text_is_refused_and_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pdf, "MAX_PAGE_CHARACTERS", 100)
    failure = refused(pdf_of_lines(["short"], ["long " * 30]))
    assert failure.code is FailureCode.TOO_LARGE
    assert "Page 2" in failure.message


@with_samples
@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("minimal-document.pdf", 1),
        ("pdflatex-4-pages.pdf", 4),
        ("multicolumn.pdf", 3),
        ("crazyones-pdfa.pdf", 1),
        ("imagemagick-images.pdf", 6),
    ],
)
def test_ordinary_files_are_read(name: str, pages: int) -> None:
    extracted = extract_pdf((SAMPLES / name).read_bytes())
    assert extracted.page_count == pages == len(extracted.pages)
    assert extracted.text.strip()


@with_samples
def test_ligatures_are_plain_letters() -> None:
    text = extract_pdf((SAMPLES / "crazyones-pdfa.pdf").read_bytes()).text
    assert "misfits" in text
    assert not any("\ufb00" <= character <= "\ufb06" for character in text)


@with_samples
def test_pages_without_text_among_others_are_empty_spans() -> None:
    extracted = extract_pdf((SAMPLES / "imagemagick-images.pdf").read_bytes())
    empty = [page.page for page in extracted.pages if page.start == page.end]
    assert empty == [4, 5]


@with_samples
def test_a_book_keeps_its_page_numbers_and_loses_its_nuls() -> None:
    extracted = extract_pdf((SAMPLES / "GeoTopo-komprimiert.pdf").read_bytes())
    assert extracted.page_count == 117
    assert "\x00" not in extracted.text
    metric_spaces = extracted.pages[9]
    assert metric_spaces.page == 10
    assert "Metrische Räume" in extracted.text[metric_spaces.start : metric_spaces.end]
    assert "Definition" in extracted.text


@with_samples
def test_a_glyph_is_the_character_its_embedded_font_says() -> None:
    """By its number alone the slash of this font would be an equals sign."""
    text = extract_pdf((SAMPLES / "GeoTopo-komprimiert.pdf").read_bytes()).text
    assert "Deck(Y/X)" in text
    assert "Deck(Y=X)" not in text


@with_samples
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("libreoffice-writer-password.pdf", FailureCode.ENCRYPTED),
        ("unreadablemetadata.pdf", FailureCode.DAMAGED),
        ("grayscale-image.pdf", FailureCode.NO_TEXT),
    ],
)
def test_unusable_files_are_refused_with_their_reason(
    name: str, code: FailureCode, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert refused((SAMPLES / name).read_bytes()).code is code
    assert not caplog.records
