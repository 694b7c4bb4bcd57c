"""The words of answers go with their document or when they are old; the chain behind them stays."""

import io
import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError
from django.utils import timezone

from answers.models import Answer, AnswerState, Citation, Claim, Feedback, ReviewItem
from answers.present import message_for
from answers.selectors import present_answer, present_review
from answers.services import block_draft, give_feedback
from audit.models import AuditRecord
from audit.selectors import verify_chain
from documents import services as documents
from documents.models import Document
from documents.retention import purge_due
from evaluation.cases import create_case
from evaluation.models import CaseState, EvalCase
from tenants.models import Tenant
from tests.admin_pages import signed_in

QUESTION = "How many days of annual leave do I have?"


@pytest.fixture
def reader(bank):
    return bank.person("reader")


@pytest.fixture
def document(bank, reader):
    return bank.document("Leave", readers=[reader])


@pytest.fixture
def answer(bank, reader, document) -> Answer:
    view = bank.ask(reader, QUESTION)
    assert view.outcome == "answered"
    with bank.scope():
        give_feedback(user=reader, answer=view.answer, helpful=False, comment="25 days is wrong")
        block_draft(answer=view.answer, reason="Blocked: number: 25 days", draft=[])
    return view.answer


def delete_long_ago(bank, document):
    with bank.scope():
        documents.delete_document(actor=None, document=document)
        Document.objects.filter(pk=document.pk).update(
            deleted_at=timezone.now() - timedelta(days=31)
        )


def keep_answers(bank, days):
    with bank.scope():
        Tenant.objects.filter(pk=bank.tenant.pk).update(keep_answers_days=days)


def words_of(answer) -> list[str]:
    answer.refresh_from_db()
    items = ReviewItem.objects.filter(answer=answer, kind="blocked_draft")
    return [
        answer.question,
        *Claim.objects.filter(answer=answer).values_list("text", flat=True),
        *Citation.objects.filter(claim__answer=answer).values_list("quote", flat=True),
        *Feedback.objects.filter(answer=answer).values_list("comment", flat=True),
        *(item.reason.partition("number: ")[2] for item in items),
    ]


def test_an_answer_drawn_from_a_purged_document_is_forgotten_and_another_is_not(
    bank, reader, document, answer
):
    bank.document("Cards", "Corporate cards are kept in the safe.", readers=[reader])
    other = bank.ask(reader, "Where are corporate cards kept?").answer
    with bank.scope():
        given = {
            key
            for permit in other.permits.filter(step="generate")
            for key in permit.document_versions
        }
    assert str(document.id) not in given
    delete_long_ago(bank, document)
    with bank.scope():
        assert all(words_of(answer))
        assert purge_due()["answers"] == 1
        assert not any(words_of(answer))
        assert other.question
        assert present_answer(user=reader, answer=other).outcome == "answered"
        assert AuditRecord.objects.get(action="document.purged").facts["quotes"] == 1
        assert verify_chain()[1] == []


def test_the_chain_behind_a_forgotten_answer_is_still_explained(bank, document, answer):
    delete_long_ago(bank, document)
    with bank.scope():
        purge_due()
    out, words = io.StringIO(), io.StringIO()
    call_command("explain_answer", str(answer.pk), "--json", stdout=out)
    call_command("explain_answer", str(answer.pk), stdout=words)
    explained = json.loads(out.getvalue())
    assert explained["release"]["storedAnswerMatches"] is None
    assert explained["sourcesNow"][0]["now"] == "deleted"
    assert explained["sourcesNow"][0]["cited"]
    assert "text no longer kept since" in words.getvalue()


def test_old_answers_are_forgotten_without_any_deletion(bank, reader, answer):
    keep_answers(bank, 0)
    with bank.scope():
        assert purge_due()["claims"] == 1
        assert not any(words_of(answer))
        view = present_answer(user=reader, answer=answer)
        assert (view.outcome, view.reason, view.claims) == ("unavailable", "no_longer_kept", ())
        assert "no longer kept" in message_for(view)
        facts = AuditRecord.objects.get(action="answers.purged").facts
        assert (facts["answers"], facts["quotes"]) == (1, 1)
        assert purge_due() == {}


@pytest.mark.parametrize("days", [None, 1])
def test_answers_that_are_to_be_kept_stay(bank, answer, days):
    keep_answers(bank, days)
    with bank.scope():
        assert purge_due() == {}
        assert all(words_of(answer))


def test_the_database_lets_no_words_go_before_their_time(bank, answer):
    with bank.scope():
        with pytest.raises(IntegrityError, match="not past its retention"):
            Answer.objects.filter(pk=answer.pk).update(purged_at=timezone.now())
        with pytest.raises(IntegrityError, match="question"):
            Answer.objects.filter(pk=answer.pk).update(question="")
        with pytest.raises(IntegrityError, match="never changes"):
            Claim.objects.filter(answer=answer).update(text="")
        with pytest.raises(IntegrityError, match="never changes"):
            Citation.objects.filter(claim__answer=answer).update(quote="")
        for rows in (
            Citation.objects.filter(claim__answer=answer),
            Claim.objects.filter(answer=answer),
        ):
            with pytest.raises(DatabaseError, match="permission denied"):
                rows._raw_delete(rows.db)
        assert all(words_of(answer))


def test_of_a_forgotten_answer_words_can_be_emptied_and_nothing_else_changed(bank, answer):
    keep_answers(bank, 0)
    with bank.scope():
        purge_due()
        for change in ({"text": "Another claim."}, {"ordinal": 7}):
            with pytest.raises(IntegrityError):
                Claim.objects.filter(answer=answer).update(**change)
        with pytest.raises(IntegrityError):
            Citation.objects.filter(claim__answer=answer).update(page=7)
        with pytest.raises(IntegrityError):
            Answer.objects.filter(pk=answer.pk).update(purged_at=None)


def test_a_document_whose_answer_is_being_written_is_purged_later(bank, reader, document, answer):
    running = bank.start(reader, QUESTION).answer
    delete_long_ago(bank, document)
    with bank.scope():
        permit = answer.permits.first()
        permit.pk, permit.answer = None, running
        permit.id = running.id
        permit.save(force_insert=True)
        assert purge_due() == {"documentsPostponed": 1}
        assert all(words_of(answer))
        Answer.objects.filter(pk=running.pk).update(
            state=AnswerState.FINISHED, outcome="interrupted", finished_at=timezone.now()
        )
        assert purge_due()["documents"] == 1


def test_pages_of_a_forgotten_answer_say_so(bank, reader, answer):
    keep_answers(bank, 0)
    with bank.scope():
        purge_due()
        item = ReviewItem.objects.filter(answer=answer).first()
        assert "no longer kept" in present_review(reviewer=reader, item=item).reason
    client = signed_in(bank, reader)
    assert "no longer kept" in client.get("/history/").content.decode()
    assert "no longer kept" in client.get(f"/answers/{answer.pk}/").content.decode()


def test_a_case_about_a_purged_document_waits_for_somebody_to_look(bank, reader, document):
    with bank.scope():
        create_case(
            key="leave",
            question=QUESTION,
            as_user=reader,
            expected_outcome="answered",
            kind="fact",
            required_text=["25 days"],
            required_documents=[document.id],
            state=CaseState.ACTIVE,
        )
    delete_long_ago(bank, document)
    with bank.scope():
        assert purge_due()["cases"] == 1
        case = EvalCase.objects.get()
        assert (case.state, case.question, case.required_text) == ("needs_review", "", [])
