"""Small real PDFs with a text layer."""

import io
from collections.abc import Sequence

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

LEFT, TOP, LEADING, WIDTH = 60, 780, 16, 90


def make_pdf(pages: str | Sequence[str]) -> bytes:
    """One page per text; lines are wrapped at spaces."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    for page in [pages] if isinstance(pages, str) else pages:
        y = TOP
        for line in _lines(page):
            canvas.drawString(LEFT, y, line)
            y -= LEADING
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def _lines(text: str):
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            if len(line) + len(word) + 1 > WIDTH:
                yield line
                line = word
            else:
                line = f"{line} {word}" if line else word
        yield line
