"""Reviewers judge answers beside what they rest on, within what they may read, and make cases of them."""

import threading

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection, transaction
from django.urls import reverse

from answers.models import Feedback, ReviewItem, ReviewState
from answers.sampling import sample_week, week_of
from answers.services import give_feedback
from documents import services as documents
from evaluation.cases import may_see_words
from evaluation.judgements import judge_item, open_desk
from evaluation.models import Cause, EvalCase, SpotCheck, Verdict
from tenants.models import Role
from tenants.selectors import NotFound
from tests.admin_pages import filled, list_of, page_of, signed_in

SECRET = "cormorant"
QUESTION = "What is the access code of the vault?"


@pytest.fixture
def reviewer(bank):
    return bank.person("reviewer", roles=[Role.REVIEWER])


@pytest.fixture
def complaint(bank):
    """An answer with a secret in it, which its asker calls outdated."""
    asker = bank.person("asker")
    text = f"The access code of the vault is {SECRET}."
    document = bank.document("Vault procedure", text, readers=[asker])
    view = bank.ask(asker, QUESTION)
    assert view.outcome == "answered"
    with bank.scope():
        give_feedback(user=asker, answer=view.answer, helpful=False, category="outdated")
        item = ReviewItem.objects.get()
    item.document = document
    return item


def desk_of(item) -> str:
    return reverse("admin:evaluation_desk", args=[item.pk])


def let_read(bank, item, person):
    with bank.scope():
        documents.grant_access(actor=None, document=item.document, subject=person)


def test_feedback_keeps_versions_and_model_and_no_passage(bank, complaint):
    with bank.scope():
        said = Feedback.objects.get()
    assert said.source_versions == {str(complaint.document.pk): 1}
    assert said.model
    assert said.generation_id_used
    assert SECRET not in str(said.__dict__)


def test_a_reviewer_judges_each_citation_and_makes_a_case_in_one_step(bank, complaint, reviewer):
    let_read(bank, complaint, reviewer)
    client = signed_in(bank, reviewer)
    page = client.get(desk_of(complaint))
    assert SECRET in page.content.decode()
    assert "outdated" in page.content.decode()
    sent = filled(
        page,
        verdict_1="supports",
        outcome_right="yes",
        cause="document_outdated",
        makes_case="on",
        key="vault",
        documents=[str(complaint.document.pk)],
        correct_answer="It changed.",
    )
    answer = client.post(desk_of(complaint), sent, follow=True)
    assert "the case “vault” was made" in answer.content.decode()
    with bank.scope():
        check, case = SpotCheck.objects.get(), EvalCase.objects.get()
        verdict = check.verdicts.get()
        complaint.refresh_from_db()
        asker = complaint.answer.user_id
    assert (check.cause, check.outcome_right, check.case_id) == ("document_outdated", True, case.pk)
    assert (verdict.number, verdict.version_cited, verdict.verdict) == (1, 1, "supports")
    assert case.required_text == [f"The access code of the vault is {SECRET}."]
    assert (case.from_answer, case.as_user_id) == (complaint.answer_id, asker)
    assert complaint.state == ReviewState.DONE


def test_a_reviewer_without_access_sees_no_word_of_the_document_anywhere(bank, complaint, reviewer):
    client = signed_in(bank, reviewer)
    for address in (
        desk_of(complaint),
        list_of("answers_reviewitem"),
        page_of(complaint),
        list_of("evaluation_spotcheck"),
        list_of("answers_feedback"),
        reverse("admin:index"),
    ):
        page = client.get(address)
        assert page.status_code == 200
        assert SECRET not in page.content.decode()
        assert "Vault procedure" not in page.content.decode()
    assert "Withheld" in client.get(desk_of(complaint)).content.decode()


def test_what_may_not_be_read_may_not_be_judged(bank, complaint, reviewer):
    with bank.scope():
        assert open_desk(reviewer=reviewer, item_id=complaint.pk).judgeable == []
        with pytest.raises(ValidationError, match="you may read"):
            judge_item(
                reviewer=reviewer,
                item=complaint,
                outcome_right=True,
                cause=Cause.NONE,
                verdicts={1: Verdict.SUPPORTS},
            )
        check = judge_item(
            reviewer=reviewer, item=complaint, outcome_right=False, cause=Cause.PERMISSION
        )
    assert check.cause == Cause.PERMISSION


def test_an_item_is_judged_once(bank, complaint, reviewer):
    with bank.scope():
        judge_item(reviewer=reviewer, item=complaint, outcome_right=True, cause=Cause.NONE)
        complaint.refresh_from_db()
        with pytest.raises(ValidationError, match="closed this item already"):
            judge_item(reviewer=reviewer, item=complaint, outcome_right=True, cause=Cause.NONE)


@pytest.mark.parametrize("role", [Role.TENANT_ADMIN, Role.AUDITOR])
def test_other_roles_have_no_desk(bank, complaint, role):
    somebody = bank.person("somebody", roles=[role])
    with bank.scope():
        with pytest.raises(NotFound):
            open_desk(reviewer=somebody, item_id=complaint.pk)
        with pytest.raises(PermissionDenied):
            judge_item(reviewer=somebody, item=complaint, outcome_right=True, cause=Cause.NONE)


def test_a_spot_check_shows_the_answer_as_it_was_released(bank, complaint, reviewer):
    let_read(bank, complaint, reviewer)
    with bank.scope():
        sample_week(monday=week_of(complaint.answer.created_at.date()))
        item = ReviewItem.objects.get(kind="sample")
        desk = open_desk(reviewer=reviewer, item_id=item.pk)
    assert desk.review.is_whole
    assert desk.judgeable == [1]
    assert SECRET in desk.passages[0].text


def test_feedback_that_changes_has_the_item_judged_again(bank, complaint, reviewer):
    """As often as it changes; saying the same twice asks for nothing."""
    with bank.scope():
        asker = complaint.answer.user
    with bank.scope():
        judge_item(reviewer=reviewer, item=complaint, outcome_right=True, cause=Cause.NONE)
        give_feedback(user=asker, answer=complaint.answer, helpful=False, category="outdated")
        complaint.refresh_from_db()
        assert complaint.state == ReviewState.DONE
        give_feedback(user=asker, answer=complaint.answer, helpful=False, category="wrong")
        complaint.refresh_from_db()
        assert complaint.state == ReviewState.OPEN
        judge_item(reviewer=reviewer, item=complaint, outcome_right=False, cause=Cause.WORDING)
        desk = open_desk(reviewer=reviewer, item_id=complaint.pk)
    assert desk.spot_check.cause == Cause.WORDING


def test_of_two_reviewers_at_once_the_second_is_told(bank, complaint, reviewer):
    """Both have the desk open; each sends a judgement, and neither sees an error page."""
    other = bank.person("other", roles=[Role.REVIEWER])
    gate, said = threading.Barrier(2), []

    def judged(person):
        with bank.scope():
            try:
                with transaction.atomic():
                    gate.wait()
                    judge_item(
                        reviewer=person, item=complaint, outcome_right=True, cause=Cause.NONE
                    )
                said.append("judged")
            except ValidationError as error:
                said.append(error.messages[0])
            finally:
                connection.close()

    threads = [threading.Thread(target=judged, args=[person]) for person in (reviewer, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said) == ["Somebody else has closed this item already.", "judged"]


def test_a_case_keeps_words_from_who_may_not_read_each_document_they_came_from(bank, reviewer):
    """Also when one of the documents it was filled in from is not required of it in the end."""
    asker, other = bank.person("asker"), bank.person("other", roles=[Role.REVIEWER])
    readers = [asker, reviewer]
    first = bank.document(
        "Vault procedure", f"The access code of the vault is {SECRET}.", readers=readers
    )
    second = bank.document(
        "Vault hours",
        "The access code of the vault is changed by the treasurer each Monday.",
        readers=[*readers, other],
    )
    view = bank.ask(asker, "What is the access code of the vault, and who changes the access code?")
    with bank.scope():
        give_feedback(user=asker, answer=view.answer, helpful=False, category="outdated")
        item = ReviewItem.objects.get()
    client = signed_in(bank, reviewer)
    page = client.get(desk_of(item))
    given = page.context["form"].initial["documents"]
    assert set(given) == {first.pk, second.pk}
    sent = filled(
        page,
        outcome_right="yes",
        cause="document_outdated",
        makes_case="on",
        key="vault",
        documents=[str(second.pk)],
    )
    client.post(desk_of(item), sent)
    with bank.scope():
        case = EvalCase.objects.get()
        assert SECRET in str(case.required_text)
        assert may_see_words(viewer=reviewer, case=case)
        assert not may_see_words(viewer=other, case=case)
    for address in (page_of(case), list_of("evaluation_evalcase")):
        assert SECRET not in signed_in(bank, other).get(address).content.decode()


def test_an_earlier_version_is_called_that_to_who_may_read_the_document(bank, complaint, reviewer):
    let_read(bank, complaint, reviewer)
    bank.new_version(complaint.document, "The access code of the vault is changed.")
    page = signed_in(bank, reviewer).get(desk_of(complaint)).content.decode()
    assert "Vault procedure, in a version that is not in force" in page
    assert SECRET not in page
    assert "A document you may not read" not in page
