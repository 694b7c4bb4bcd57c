"""The few shapes that reports have, as PDF. The same content gives the same bytes."""

import io
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

import reportlab
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

_INK, _QUIET, _LINE, _HEAD = "#1b2327", "#5a6569", "#c9d2d5", "#eef3f4"


@cache
def _fonts() -> None:
    folder = Path(reportlab.__file__).parent / "fonts"
    for name, file in (("Report", "Vera.ttf"), ("Report-Bold", "VeraBd.ttf")):
        pdfmetrics.registerFont(TTFont(name, str(folder / file)))


def _style(name: str, **more) -> ParagraphStyle:
    _fonts()
    base = {"fontName": "Report", "fontSize": 8.5, "leading": 12, "textColor": _INK}
    return ParagraphStyle(name, **(base | more))


def heading(text: str) -> Paragraph:
    style = _style("title", fontName="Report-Bold", fontSize=15, leading=20, spaceAfter=6)
    return Paragraph(escape(text), style)


def subheading(text: str) -> Paragraph:
    style = _style("sub", fontName="Report-Bold", fontSize=10.5, leading=14, spaceBefore=8)
    return Paragraph(escape(text), style)


def words(text: str, *, quiet: bool = False) -> Paragraph:
    style = _style("quiet", textColor=_QUIET, fontSize=7.5, leading=10) if quiet else _style("body")
    return Paragraph(escape(text).replace("\n", "<br/>"), style)


def gap() -> Spacer:
    return Spacer(1, 4 * mm)


def table(rows: Sequence[Sequence[object]], *, widths: Sequence[float] | None = None) -> Table:
    """The first row is the head; cells are text or flowables."""
    head = _style("head", fontName="Report-Bold", fontSize=8)
    body = [
        [
            cell
            if isinstance(cell, Flowable | list)
            else Paragraph(escape(str(cell)), head if place == 0 else _style("cell", fontSize=8))
            for cell in row
        ]
        for place, row in enumerate(rows)
    ]
    made = Table(body, colWidths=widths, repeatRows=1, splitInRow=1)
    made.setStyle(
        TableStyle(
            [
                ("GRID", (0, 0), (-1, -1), 0.4, colors.HexColor(_LINE)),
                ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor(_HEAD)),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ]
        )
    )
    return made


def build(title: str, content: list[Flowable], *, wide: bool = False) -> bytes:
    target = io.BytesIO()

    def foot(canvas, document) -> None:
        canvas.setFont("Report", 7)
        canvas.setFillColor(colors.HexColor(_QUIET))
        canvas.drawString(15 * mm, 8 * mm, title)
        canvas.drawRightString(document.pagesize[0] - 15 * mm, 8 * mm, f"Page {document.page}")

    _fonts()
    SimpleDocTemplate(
        target,
        pagesize=landscape(A4) if wide else A4,
        title=title,
        author="Precept",
        invariant=1,
        leftMargin=15 * mm,
        rightMargin=15 * mm,
        topMargin=15 * mm,
        bottomMargin=15 * mm,
    ).build(content, onFirstPage=foot, onLaterPages=foot)
    return target.getvalue()
