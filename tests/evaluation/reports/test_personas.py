"""Who gets what: the same questions as several people, shown within what the viewer may read."""

import io

import pypdf
import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.urls import reverse

from answers.selectors import own_answers
from documents import services as documents
from evaluation.models import PersonaDiff, RunState
from evaluation.personas import ask_all, side_by_side, start_persona_diff
from evaluation.reports.persona_pdf import persona_pdf
from evaluation.tasks import ask_personas
from tenants.models import Role
from tests.admin_pages import add_to, filled, page_of, signed_in

SECRET = "cormorant"
QUESTION = "What is the access code of the vault?"


@pytest.fixture
def auditor(bank):
    return bank.person("auditor", roles=[Role.AUDITOR])


@pytest.fixture
def diff(bank, auditor):
    """A keeper, who may read the code, and a teller, who may not."""
    keeper, teller = bank.person("keeper"), bank.person("teller")
    text = f"The access code of the vault is {SECRET}."
    document = bank.document("Vault procedure", text, readers=[keeper])
    with bank.scope():
        diff = start_persona_diff(
            actor=auditor, title="Vault", questions=[QUESTION, " "], people=[keeper, teller]
        )
        diff = ask_all(diff.pk)
    diff.document = document
    return diff


def text_of(pdf: bytes) -> str:
    return " ".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(pdf)).pages)


def outcomes(seen) -> list[str]:
    return [cell.outcome for cell in seen.rows[0][1]]


def test_each_gets_what_their_own_rights_give(bank, diff, auditor):
    with bank.scope():
        documents.grant_access(actor=None, document=diff.document, subject=auditor)
        seen = side_by_side(viewer=auditor, diff=diff)
    assert diff.state == RunState.FINISHED
    assert outcomes(seen) == ["Answered", "Not enough evidence"]
    assert SECRET in seen.rows[0][1][0].claims[0].text


def test_what_the_viewer_may_not_read_is_withheld_on_the_page_and_on_paper(bank, diff, auditor):
    client = signed_in(bank, auditor)
    page = client.get(page_of(diff)).content.decode()
    paper = client.get(reverse("admin:evaluation_personadiff_pdf", args=[diff.pk]))
    for words in (page, text_of(paper.content)):
        assert "withheld" in words
        assert SECRET not in words
        assert "Vault procedure" not in words
    assert "Answered" in page


def test_the_pdf_holds_the_words_for_who_may_read_them(bank, diff, auditor):
    with bank.scope():
        documents.grant_access(actor=None, document=diff.document, subject=auditor)
        pdf = persona_pdf(viewer=auditor, diff=diff)
    words = " ".join(text_of(pdf).split())
    assert f"The access code of the vault is {SECRET}." in words
    assert "Not enough evidence" in words


def test_nobody_finds_these_answers_among_their_own(bank, diff):
    with bank.scope():
        for person in side_by_side(viewer=diff.requested_by, diff=diff).people:
            assert not own_answers(user=person).exists()


def test_what_died_half_way_goes_on_and_asks_nothing_twice(bank, diff):
    with bank.scope():
        last = diff.answers.last()
        last.delete()
        PersonaDiff.objects.update(state=RunState.RUNNING, alive_at=None, finished_at=None)
    assert ask_personas(str(bank.tenant.id), str(diff.pk)) == RunState.FINISHED
    with bank.scope():
        assert diff.answers.get(user=last.user).answer_id_given == last.answer_id_given


def test_it_is_asked_for_in_the_administration_by_those_with_the_role(bank, diff, auditor):
    client = signed_in(bank, auditor)
    with bank.scope():
        people = [str(person.pk) for person in side_by_side(viewer=auditor, diff=diff).people]
    form = client.get(add_to("evaluation_personadiff"))
    sent = filled(form, title="Again", asked=QUESTION, compared=people)
    answer = client.post(add_to("evaluation_personadiff"), sent, follow=True)
    assert "asked in the background" in answer.content.decode()
    somebody = bank.person("somebody", roles=[(Role.DEPARTMENT_ADMIN, "Human Resources")])
    with bank.scope():
        with pytest.raises(PermissionDenied):
            start_persona_diff(
                actor=somebody, title="", questions=["?"], people=[somebody, auditor]
            )
        with pytest.raises(ValidationError, match="2 to 8 people"):
            start_persona_diff(actor=auditor, title="", questions=["?"], people=[auditor])
