from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import Paragraph, Table

from documents.ingestion.extraction.pdf import extract_pdf
from documents.ingestion.sentences import sentences
from documents.sources.page_image import PageImage, PageImageFailed, PageNotFound, render_page
from tests.fakes.pdf_files import SAMPLES, STYLES, pdf_of_flowables, pdf_of_lines, with_samples

LINES = ["Annual leave allowance is", "25 days for every full-time em-", "ployee of Meridian Bank."]
SCALE = 2.0


def marked(image: PageImage) -> tuple[int, int, int, int] | None:
    """The box around all yellow pixels: left, top, right, bottom."""
    picture = Image.open(io.BytesIO(image.png)).convert("RGB")
    assert picture.size == (image.width, image.height)
    red, _, blue = picture.split()
    yellow = Image.eval(blue, lambda value: 255 if value < 160 else 0)
    paper = Image.eval(red, lambda value: 255 if value > 240 else 0)
    both = Image.new("L", picture.size, 0)
    both.paste(yellow, mask=paper)
    return both.getbbox()


def place(row: int, before: str, words: str) -> tuple[float, float, float, float]:
    """Where words stand on a page of `pdf_of_lines`, in pixels at SCALE."""
    left = 72 + stringWidth(before, "Helvetica", 12)
    baseline = 100 + 20 * row
    right = left + stringWidth(words, "Helvetica", 12)
    return left * SCALE, (baseline - 10) * SCALE, right * SCALE, baseline * SCALE


def render(quote: str | None, *, page: int = 1, data: bytes | None = None) -> PageImage:
    return render_page(data=data or pdf_of_lines(LINES), page=page, quote=quote, scale=SCALE)


def test_a_page_without_a_quote_is_drawn_plain() -> None:
    image = render(None)
    assert image.png.startswith(b"\x89PNG")
    assert (image.width, image.height) == pytest.approx((A4[0] * SCALE, A4[1] * SCALE), abs=2)
    assert not image.highlighted
    assert marked(image) is None


@pytest.mark.parametrize("quote", ["leave allowance", "LEAVE  Allow-ance", "leave\nallowance"])
def test_the_mark_is_where_the_words_are(quote: str) -> None:
    image = render(quote)
    assert image.highlighted
    assert marked(image) == pytest.approx(place(0, "Annual ", "leave allowance"), abs=8)


def test_the_ink_under_the_mark_stays() -> None:
    box = [round(edge) for edge in place(0, "Annual ", "leave allowance")]
    picture = Image.open(io.BytesIO(render("leave allowance").png)).convert("L").crop(box)
    assert picture.getextrema()[0] < 60


def test_a_quote_over_lines_and_a_hyphenated_word_is_marked_on_each_line() -> None:
    image = render("allowance is 25 days for every full-time employee of Meridian")
    left, top, right, bottom = marked(image)
    assert top == pytest.approx(place(0, "", "")[1], abs=8)
    assert bottom == pytest.approx(place(2, "", "")[3], abs=10)
    assert left == pytest.approx(72 * SCALE, abs=8)
    assert right == pytest.approx(place(1, "", LINES[1])[2], abs=8)


@pytest.mark.parametrize("quote", ["sick leave", "25 days of", "€", "", " \n"])
def test_a_quote_that_is_not_there_leaves_the_page_unmarked(quote: str) -> None:
    image = render(quote)
    assert not image.highlighted
    assert marked(image) is None


def test_table_rows_are_marked_across_cells() -> None:
    rows = [["City", "Hotel"], ["Brussels", "180 EUR"], ["Antwerp", "170 EUR"], ["Rome", "90 EUR"]]
    data = pdf_of_flowables(Paragraph("Limits", STYLES["Title"]), Table(rows, colWidths=120))
    one = marked(render("Antwerp 170 EUR", data=data))
    two = marked(render("Brussels 180 EUR\nAntwerp 170 EUR", data=data))
    assert one[2] - one[0] > 120 * SCALE
    assert two[3] == pytest.approx(one[3], abs=2)
    assert two[1] < one[1]


def test_every_sentence_of_the_extracted_text_is_found_on_its_page() -> None:
    data = pdf_of_lines(LINES, ["Carry-over ends on 31 March,", "no exceptions."])
    extracted = extract_pdf(data)
    for page in extracted.pages:
        assert render(extracted.text[page.start : page.end], data=data, page=page.page).highlighted


@with_samples
@pytest.mark.parametrize("name", ["crazyones-pdfa.pdf", "multicolumn.pdf", "minimal-document.pdf"])
def test_sentences_of_real_files_are_found_ligatures_included(name: str) -> None:
    data = (SAMPLES / name).read_bytes()
    extracted = extract_pdf(data)
    for page in extracted.pages:
        for sentence in sentences(extracted.text[page.start : page.end])[::4]:
            image = render_page(data=data, page=page.page, quote=sentence.text, scale=0.3)
            assert image.highlighted, sentence.text


def test_lines_in_another_order_than_the_page_are_found_one_by_one() -> None:
    assert render("ployee of Meridian Bank.\nAnnual leave").highlighted
    assert not render("ployee of Meridian Bank.\nSick leave").highlighted


@pytest.mark.parametrize("page", [0, -1, 2])
def test_a_page_out_of_range_is_not_found(page: int) -> None:
    with pytest.raises(PageNotFound, match="the PDF has 1"):
        render(None, page=page)


def test_a_file_that_cannot_be_opened_is_reported() -> None:
    with pytest.raises(PageImageFailed):
        render(None, data=b"%PDF-1.4 torn")
    with pytest.raises(PageImageFailed):
        render(None, data=pdf_of_lines(["x"], encrypt=StandardEncryption("secret")))


def test_an_enormous_scale_is_capped() -> None:
    image = render_page(data=pdf_of_lines(["x"]), page=1, quote=None, scale=1000)
    assert max(image.width, image.height) <= 4001


def test_threads_may_draw_at_once() -> None:
    data = pdf_of_lines(LINES)
    with ThreadPoolExecutor(4) as pool:
        images = list(pool.map(lambda _: render("25 days", data=data), range(8)))
    assert len({image.png for image in images}) == 1
