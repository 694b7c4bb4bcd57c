"""Text recognition: pages without words are read by tesseract, and marked."""

from __future__ import annotations

import io
import shutil

import pytest
from django.conf import settings
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from documents.ingestion.extract import extract
from documents.ingestion.extracted import ExtractionFailed, FailureCode
from documents.ingestion.extraction.glyphs import is_language

needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="tesseract is not installed"
)
RULE = "Annual leave allowance is 25 days."
SHIFTED = "".join(
    chr(ord(c) - 29) if ord(c) > 61 else c for c in f"{RULE} Ask your manager early. " * 5
)


def scan(words: str, *, typed: str = "") -> bytes:
    """A page that is a picture of words, and before it one of typed words, if any."""
    picture = Image.new("L", (1600, 300), 255)
    ImageDraw.Draw(picture).text((40, 100), words, fill=0, font=ImageFont.load_default(size=64))
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    if typed:
        canvas.drawString(60, 700, typed)
        canvas.showPage()
    canvas.drawImage(ImageReader(picture), 40, 600, width=520, height=97)
    canvas.save()
    return buffer.getvalue()


@needs_tesseract
def test_a_scanned_page_is_recognised_and_marked_and_typed_ones_are_not():
    extracted = extract(scan(RULE, typed="Typed words."), languages=["en", "nl"], ocr=True)
    assert "Typed words." in extracted.text
    assert "leave allowance is 25 days" in extracted.text
    assert [page.recognised for page in extracted.pages] == [False, True]
    assert extracted.repairs == ("recognised",)


def test_without_recognition_a_scan_is_refused_clearly():
    with pytest.raises(ExtractionFailed) as caught:
        extract(scan(RULE), ocr=False)
    assert caught.value.code is FailureCode.NO_TEXT


@needs_tesseract
def test_a_citation_of_recognised_words_says_so(bank, monkeypatch):
    monkeypatch.setattr(settings, "OCR", True)
    monkeypatch.setattr("tests.bank.make_pdf", lambda text: scan(text))
    reader = bank.person()
    bank.document("Leave", RULE, readers=[reader])
    view = bank.ask(reader, "How many days of annual leave?")
    assert [citation.recognised for citation in view.citations] == [True]


def test_shifted_glyphs_are_no_language_and_ordinary_pages_are():
    assert not is_language(SHIFTED)
    assert is_language(f"{RULE} " * 10)
    assert is_language("De cliënt toont twee bewijzen van zijn identiteit aan de balie. " * 4)
    assert is_language("1.250,00 2.500,00 3.750,00 " * 20)
    assert is_language("")


def test_a_text_layer_of_shifted_glyphs_is_refused_with_its_reason():
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    for row in range(6):
        canvas.drawString(40, 700 - 20 * row, SHIFTED[row * 50 : row * 50 + 60])
    canvas.save()
    with pytest.raises(ExtractionFailed) as caught:
        extract(buffer.getvalue())
    assert caught.value.code is FailureCode.NO_TEXT
    assert "no language" in caught.value.message
