"""The persona diff on paper: what the viewer may see of it, and who looked when."""

from django.utils import timezone

from evaluation.models import PersonaDiff
from evaluation.personas import Cell, side_by_side
from tenants.models import User

from .pdf import build, gap, heading, table, words


def persona_pdf(*, viewer: User, diff: PersonaDiff) -> bytes:
    seen = side_by_side(viewer=viewer, diff=diff)
    asked = timezone.localtime(diff.finished_at or diff.created_at)
    content = [
        heading(diff.title),
        words(
            f"Questions: {len(diff.questions)}, asked as {len(seen.people)} people with the rights that "
            f"each had on {asked:%d %B %Y at %H:%M}. Shown to {viewer.get_full_name()} on "
            f"{timezone.localtime():%d %B %Y at %H:%M}: words of documents that this person may not "
            "read are withheld."
        ),
        gap(),
        table(
            [
                [
                    "Question",
                    *(f"{person.get_full_name()} ({person.email})" for person in seen.people),
                ],
                *(
                    [question, *(_paragraphs(cell) for cell in cells)]
                    for question, cells in seen.rows
                ),
            ],
        ),
    ]
    return build(diff.title, content, wide=True)


def _paragraphs(cell: Cell | None) -> list:
    if cell is None:
        return [words("Not asked yet", quiet=True)]
    parts = [words(cell.outcome)]
    for claim in cell.claims:
        parts.append(words(claim.text or "[sentence withheld]"))
        parts += [words(f"– {quote.document}", quiet=True) for quote in claim.quotes]
    return parts
