"""PDFs for tests: made with reportlab as a word processor would, and real samples if at hand."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, SimpleDocTemplate

CHECKOUT = Path(__file__).resolve().parents[2]
SAMPLES = Path(os.environ.get("PRECEPT_TEST_DATA", CHECKOUT.parent / "shared" / "data")) / "pdfs"

with_samples = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason=f"no sample PDFs at {SAMPLES}; set PRECEPT_TEST_DATA"
)
STYLES = getSampleStyleSheet()


def pdf_of_lines(*pages: Sequence[str], encrypt: StandardEncryption | None = None) -> bytes:
    """One page for each sequence of lines, 20 points apart from 100 points below the top."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1, encrypt=encrypt)
    for lines in pages:
        canvas.setFont("Helvetica", 12)
        for row, line in enumerate(lines):
            canvas.drawString(72, A4[1] - 100 - 20 * row, line)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def pdf_of_flowables(*flowables: Flowable) -> bytes:
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer, pagesize=A4, invariant=1).build(list(flowables))
    return buffer.getvalue()
