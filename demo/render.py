"""Render the demo policies to PDF.

    python demo/render.py            writes demo/pdfs/<tenant>/<slug>-v<version>.pdf
    python demo/render.py --check    writes nothing; fails when a committed PDF differs

The output depends on the Markdown alone: no clock, no random ids, no font files.
"""

from __future__ import annotations

import argparse
import datetime as dt
import html
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import reportlab.rl_config
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from policy import PDFS, Policy, PolicyInvalid, read_policies
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    HRFlowable,
    PageTemplate,
    Paragraph,
    Spacer,
)

MAX_BYTES = 60_000
MARGIN = 22 * mm
# Every reader carries these two, so a file stays below ten kilobytes.
FONT, BOLD = "Helvetica", "Helvetica-Bold"
CELL_SIZES, CELL_LEADING = (9, 8.5, 8), 12
INK, ACCENT, RULE, SHADE = (HexColor(c) for c in ("#1d2733", "#123f63", "#b8c4cf", "#eef2f6"))
TENANT_NAMES = {"meridian": "Meridian Bank", "harbour": "Harbour Mutual"}
STATUS = {
    "draft": {"en": "Draft for consultation", "nl": "Ontwerp ter consultatie", "fr": "Projet"},
    "duplicate": {"en": "Copy", "nl": "Kopie", "fr": "Copie"},
    "archived": {"en": "Withdrawn", "nl": "Ingetrokken", "fr": "Retiré"},
}
LABELS = {
    "en": ("Reference", "Version", "Effective from", "Withdrawn on", "Owner department", "Status"),
    "nl": ("Referentie", "Versie", "Geldig vanaf", "Ingetrokken op", "Afdeling", "Status"),
    "fr": ("Référence", "Version", "En vigueur le", "Retiré le", "Département", "Statut"),
}
PAGE_OF = {"en": "Page {} of {}", "nl": "Pagina {} van {}", "fr": "Page {} sur {}"}
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
}

_STYLE = {"fontName": FONT, "textColor": INK}
BODY = ParagraphStyle("body", fontSize=10, leading=14, spaceAfter=6, **_STYLE)
ITEM = ParagraphStyle("item", parent=BODY, leftIndent=16, bulletIndent=3, spaceAfter=3)
BLOCK = ParagraphStyle("block", parent=BODY, fontSize=9, leading=12.5, spaceAfter=1)
TITLE = ParagraphStyle(
    "title", fontName=BOLD, fontSize=18, leading=22, textColor=ACCENT, spaceAfter=8
)
BRAND = ParagraphStyle("brand", fontName=BOLD, fontSize=9, leading=14, textColor=ACCENT)
HEADINGS = {
    2: ParagraphStyle(
        "h2",
        fontName=BOLD,
        fontSize=12,
        leading=15,
        textColor=ACCENT,
        spaceBefore=10,
        spaceAfter=4,
        keepWithNext=1,
    ),
    3: ParagraphStyle(
        "h3",
        fontName=BOLD,
        fontSize=10,
        leading=13,
        textColor=INK,
        spaceBefore=6,
        spaceAfter=3,
        keepWithNext=1,
    ),
}


class Whole(Paragraph):
    """Text that moves to the next page rather than split: a sentence over two pages could not
    be quoted in one piece."""

    def split(self, width: float, height: float) -> list[Flowable]:
        return []


def inline(node: SyntaxTreeNode) -> str:
    """The inline children of a node in reportlab's paragraph markup."""
    out = []
    for child in node.children:
        if child.type in ("text", "code_inline"):
            out.append(html.escape(child.content, quote=False))
        elif child.type == "softbreak":
            out.append(" ")
        elif child.type == "hardbreak":
            out.append("<br/>")
        elif child.type in ("strong", "em"):
            tag = "b" if child.type == "strong" else "i"
            out.append(f"<{tag}>{inline(child)}</{tag}>")
        elif child.type == "inline":
            out.append(inline(child))
        else:
            raise PolicyInvalid(f"'{child.type}' is not rendered; use text, **bold** or *italic*")
    return "".join(out)


def table(node: SyntaxTreeNode, width: float) -> Iterator[Flowable]:
    """Columns take their natural width when they fit at any of the sizes.

    Otherwise the widest give way and their text wraps.
    """
    rows = [
        (part.type == "thead", [plain(cell) for cell in row.children])
        for part in node.children
        for row in part.children
    ]
    for size in CELL_SIZES:
        natural = [
            max(stringWidth(row[column], BOLD if head else FONT, size) for head, row in rows) + 12
            for column in range(len(rows[0][1]))
        ]
        if sum(natural) <= width:
            break
    spare = width - sum(natural)
    share = width / len(natural)
    if spare >= 0:
        widths = [own + spare / len(natural) for own in natural]
    else:
        narrow = sum(own for own in natural if own <= share)
        wide = sum(own for own in natural if own > share)
        widths = [o if o <= share else o * (width - narrow) / wide for o in natural]
    flow = [Row(cells, widths, size=size, head=head) for head, cells in rows]
    return iter([Spacer(0, 2), *flow, Spacer(0, 8)])


class Row(Flowable):
    """One table row, drawn line by line as one text object.

    reportlab's own table draws each cell by itself, which extractors read as a line per cell;
    here "Lunch €22 Receipt needed" is one line, as a person reads it.
    """

    def __init__(self, cells: list[str], widths: list[float], *, size: float, head: bool) -> None:
        super().__init__()
        self.head = head
        self.keepWithNext = head
        self.font = BOLD if head else FONT
        self.size = size
        self.widths = widths
        self.cells = [
            simpleSplit(cell, self.font, size, own - 10)
            for cell, own in zip(cells, widths, strict=True)
        ]
        self.lines = max(map(len, self.cells))

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        return sum(self.widths), self.lines * CELL_LEADING + 6

    def draw(self) -> None:
        canvas, width = self.canv, sum(self.widths)
        height = self.lines * CELL_LEADING + 6
        canvas.setStrokeColor(RULE)
        canvas.setLineWidth(0.4)
        if self.head:
            canvas.setFillColor(SHADE)
            canvas.rect(0, 0, width, height, stroke=0, fill=1)
            canvas.line(0, height, width, height)
        canvas.line(0, 0, width, 0)
        text = canvas.beginText()
        text.setFont(self.font, self.size)
        text.setFillColor(INK)
        for line in range(self.lines):
            left = 5.0
            for cell, own in zip(self.cells, self.widths, strict=True):
                if line < len(cell):
                    text.setTextOrigin(left, height - 3 - self.size - line * CELL_LEADING)
                    text.textOut(cell[line] + " ")
                left += own
        canvas.drawText(text)


def plain(node: SyntaxTreeNode) -> str:
    """The text of a table cell, which takes its weight from its row."""
    if node.children:
        return "".join(plain(child) for child in node.children)
    return " " if node.type == "softbreak" else node.content


def items(node: SyntaxTreeNode) -> Iterator[Flowable]:
    first = int(node.attrs.get("start", 1))
    for offset, item in enumerate(node.children):
        bullet = f"{first + offset}." if node.type == "ordered_list" else "•"
        for position, part in enumerate(item.children):
            if part.type != "paragraph":
                raise PolicyInvalid("a list item holds something other than text; keep lists flat")
            yield Whole(inline(part), ITEM, bulletText=None if position else bullet)
    yield Spacer(0, 3)


def flowables(policy: Policy, width: float) -> list[Flowable]:
    out: list[Flowable] = list(title_block(policy))
    tree = SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(policy.body))
    for node in tree.children:
        if node.type == "heading":
            level = int(node.tag[1])
            if level not in HEADINGS:
                raise PolicyInvalid("headings start at '##'; the title comes from the front matter")
            out.append(Whole(inline(node), HEADINGS[level]))
        elif node.type == "paragraph":
            out.append(Whole(inline(node), BODY))
        elif node.type in ("bullet_list", "ordered_list"):
            out.extend(items(node))
        elif node.type == "table":
            out.extend(table(node, width))
        else:
            raise PolicyInvalid(f"'{node.type}' is not rendered; use headings, lists, tables, text")
    return out


def written_date(date: dt.date, language: str) -> str:
    return f"{date.day} {MONTHS[language].split()[date.month - 1]} {date.year}"


def title_block(policy: Policy) -> Iterator[Flowable]:
    reference, version, effective, withdrawn, department, status = LABELS[policy.language]
    yield Whole(TENANT_NAMES.get(policy.tenant, policy.tenant), BRAND)
    yield Whole(html.escape(policy.title, quote=False), TITLE)
    lines = [
        (reference, policy.reference),
        (version, str(policy.version)),
        (effective, written_date(policy.effective_date, policy.language)),
    ]
    if policy.withdrawn_date:
        lines.append((withdrawn, written_date(policy.withdrawn_date, policy.language)))
    lines.append((department, policy.department))
    if policy.life_cycle in STATUS:
        lines.append((status, STATUS[policy.life_cycle][policy.language]))
    for label, value in lines:
        yield Whole(f"<b>{label}:</b> {html.escape(value, quote=False)}", BLOCK)
    yield HRFlowable(width="100%", thickness=0.8, color=ACCENT, spaceBefore=6, spaceAfter=8)


def render(policy: Policy) -> bytes:
    """One policy as PDF bytes: the same bytes for the same file. Raises PolicyInvalid."""
    for number, character in enumerate(policy.title + policy.body):
        if character != "\n" and not character.encode("cp1252", "ignore"):
            near = (policy.title + policy.body)[max(0, number - 30) : number + 10]
            raise PolicyInvalid(
                f"{policy.path}: the font has no {character!r} (near {near!r}); write it in words"
            )
    footer = f"{TENANT_NAMES.get(policy.tenant, policy.tenant)}  ·  {policy.reference}"
    footer += f"  ·  {LABELS[policy.language][1]} {policy.version}"
    pages = 0

    def draw_footer(canvas: Canvas, document: BaseDocTemplate) -> None:
        canvas.saveState()
        canvas.setStrokeColor(RULE)
        canvas.setLineWidth(0.4)
        canvas.line(MARGIN, 17 * mm, A4[0] - MARGIN, 17 * mm)
        canvas.setFont(FONT, 7.5)
        canvas.setFillColor(INK)
        canvas.drawString(MARGIN, 12.5 * mm, footer)
        label = PAGE_OF[policy.language].format(document.page, pages)
        canvas.drawRightString(A4[0] - MARGIN, 12.5 * mm, label)
        canvas.restoreState()

    def build() -> tuple[bytes, int]:
        buffer = BytesIO()
        document = BaseDocTemplate(
            buffer,
            pagesize=A4,
            invariant=1,
            title=policy.title,
            author=policy.department,
            subject=policy.reference,
            lang=policy.language,
        )
        frame = Frame(
            MARGIN,
            20 * mm,
            A4[0] - 2 * MARGIN,
            A4[1] - 40 * mm,
            leftPadding=0,
            rightPadding=0,
            topPadding=0,
            bottomPadding=0,
        )
        # The footer is drawn last, so it is also extracted last.
        template = PageTemplate(id="page", frames=[frame], onPageEnd=draw_footer)
        document.addPageTemplates([template])
        document.build(flowables(policy, A4[0] - 2 * MARGIN))
        return buffer.getvalue(), document.page

    try:
        _, pages = build()
        data, _ = build()
    except PolicyInvalid as error:
        raise PolicyInvalid(f"{policy.path}: {error}") from error
    if len(data) > MAX_BYTES:
        raise PolicyInvalid(
            f"{policy.path}: its PDF takes {len(data)} bytes, more than {MAX_BYTES}; shorten it"
        )
    return data


def stale(rendered: dict[Path, bytes]) -> Iterator[str]:
    for path, data in rendered.items():
        if not path.exists():
            yield f"{path}: missing"
        elif path.read_bytes() != data:
            yield f"{path}: differs from its Markdown"
    for path in sorted(PDFS.rglob("*.pdf")):
        if path not in rendered:
            yield f"{path}: no Markdown makes it"


def main() -> int:
    parser = argparse.ArgumentParser(description="Render the demo policies to PDF.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    arguments = parser.parse_args()
    reportlab.rl_config.invariant = 1
    try:
        rendered = {policy.pdf: render(policy) for policy in read_policies()}
    except PolicyInvalid as error:
        print(error, file=sys.stderr)
        return 1
    differences = list(stale(rendered))
    if arguments.check:
        for line in differences:
            print(f"{line}; run python demo/render.py", file=sys.stderr)
        return 1 if differences else 0
    for path, data in rendered.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for path in sorted(PDFS.rglob("*.pdf")):
        if path not in rendered:
            path.unlink()
    print(f"{len(rendered)} PDFs, {sum(map(len, rendered.values())) // 1024} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
