"""The review queue and what the administration knows of answers."""

import pytest

from answers import services
from answers.models import ContextPermit, Outcome, PermitStep, ReviewItem, ReviewState
from audit.models import AuditRecord
from tenants.models import Role
from tests.admin_pages import filled, list_of, page_of, said, signed_in

SECRET, OPEN = "The vault code is blue.", "The canteen opens at noon."


@pytest.fixture
def reviewer(bank):
    return bank.person("reviewer", roles=[Role.REVIEWER])


@pytest.fixture
def browser(bank, reviewer):
    return signed_in(bank, reviewer)


def blocked(bank, documents: dict[str, object]) -> ReviewItem:
    """An answer whose draft quoted these sentences of these documents and failed its checks."""
    asker = bank.person("asker")
    answer = bank.start(asker, "What is the vault code?").answer
    with bank.scope():
        ContextPermit.objects.create(
            answer=answer,
            attempt=1,
            step=PermitStep.GENERATE,
            processor="test",
            caller=asker.id,
            chunks=[],
            document_versions={str(d.id): str(d.current_version_id) for d in documents.values()},
            access_revisions={},
            rejected=0,
        )
        item = services.block_draft(
            answer=answer,
            reason="Claim 1: number_changed: the claim says blue",
            draft=[
                {"text": text, "quotes": [{"document": str(document.id), "quote": text}]}
                for text, document in documents.items()
            ],
        )
        services.end_answer(answer=answer, outcome=Outcome.ABSTAINED, reason="no_evidence")
    return item


def test_a_reviewer_sees_a_draft_whole_when_they_may_read_all_of_it(bank, reviewer, browser):
    item = blocked(bank, {SECRET: bank.document("Vault", SECRET, readers=[reviewer])})
    page = browser.get(page_of(item)).content.decode()
    assert "What is the vault code?" in page
    assert SECRET in page
    assert "says blue" in page
    assert "withheld" not in page.lower()


def test_what_the_reviewer_may_not_read_is_withheld(bank, reviewer, browser):
    item = blocked(
        bank,
        {
            SECRET: bank.document("Vault procedure", SECRET),
            OPEN: bank.document("Canteen", OPEN, readers=[reviewer]),
        },
    )
    page = browser.get(page_of(item)).content.decode()
    assert page.count(OPEN) == 1  # the quote; the sentence may mix in what is not readable
    for hidden in (SECRET, "blue", "Vault procedure"):
        assert hidden not in page
    assert page.count("Quote withheld") == 1
    assert page.count("Sentence withheld") == 2
    assert "says blue" not in browser.get(list_of("answers_reviewitem")).content.decode()


def test_taking_the_right_away_withholds_it_at_the_next_look(bank, reviewer, browser):
    document = bank.document("Vault", SECRET, readers=[reviewer])
    item = blocked(bank, {SECRET: document})
    assert SECRET in browser.get(page_of(item)).content.decode()
    bank.revoke(document, reviewer)
    assert SECRET not in browser.get(page_of(item)).content.decode()


def test_an_unhelpful_answer_shows_what_was_answered_to_reviewers_who_may_read_it(
    bank, reviewer, browser
):
    asker = bank.person("asker")
    text = "Employees receive 25 days of annual leave per year."
    document = bank.document("Annual leave", text, readers=[asker])
    view = bank.ask(asker, "How many days of annual leave do employees receive per year?")
    assert view.outcome == Outcome.ANSWERED
    with bank.scope():
        services.give_feedback(user=asker, answer=view.answer, helpful=False, comment="Too short")
        item = ReviewItem.objects.get(answer=view.answer)
    page = browser.get(page_of(item)).content.decode()
    assert "Too short" in page
    assert "Sentence withheld" in page
    assert text not in page
    bank.grant(document, reviewer)
    assert text in browser.get(page_of(item)).content.decode()


def test_closing_keeps_the_note_and_is_recorded(bank, reviewer, browser):
    item = blocked(bank, {OPEN: bank.document("Canteen", OPEN)})
    form = filled(browser.get(page_of(item)), note="Checked; nothing to do.")
    assert "The item was closed." in said(browser.post(page_of(item), form, follow=True))
    with bank.scope():
        item.refresh_from_db()
        assert (item.state, item.closed_by, item.note) == (
            ReviewState.DONE,
            reviewer,
            "Checked; nothing to do.",
        )
        assert AuditRecord.objects.filter(action="review.closed", actor=reviewer.id).exists()
    assert browser.post(page_of(item), form).status_code == 403  # closed once


def test_two_reviewers_close_an_item_once(bank, reviewer):
    item = blocked(bank, {OPEN: bank.document("Canteen", OPEN)})
    with bank.scope():
        services.close_review_item(item=item, reviewer=reviewer)
        with pytest.raises(services.ValidationError, match="closed this item already"):
            services.close_review_item(item=item, reviewer=reviewer)


@pytest.mark.parametrize(("role", "sees"), [(Role.AUDITOR, False), (Role.REVIEWER, True)])
def test_the_question_is_for_reviewers_only(bank, role, sees):
    item = blocked(bank, {OPEN: bank.document("Canteen", OPEN)})
    client = signed_in(bank, bank.person(roles=[role]))
    with bank.scope():
        answer = item.answer
    page = client.get(page_of(answer)).content.decode()
    assert "Not enough evidence" in page
    assert ("What is the vault code?" in page) is sees
    assert OPEN not in page


def test_another_tenants_items_are_not_there(bank, other_bank, browser):
    item = blocked(other_bank, {OPEN: other_bank.document("Canteen", OPEN)})
    assert browser.get(page_of(item)).status_code == 404
    assert browser.post(page_of(item), {"note": "x"}).status_code == 404
    with other_bank.scope():
        item.refresh_from_db()
        assert item.state == ReviewState.OPEN


def test_an_empty_queue_says_how_it_fills(browser):
    assert "appear by themselves" in browser.get(list_of("answers_reviewitem")).content.decode()


def test_words_of_a_version_that_is_no_longer_in_force_are_withheld(bank, reviewer, browser):
    """Who may read the document now may not have been allowed to read what it said before."""
    document = bank.document("Vault", SECRET)
    item = blocked(bank, {SECRET: document})
    bank.new_version(document, OPEN)
    bank.grant(document, reviewer)
    page = browser.get(page_of(item)).content.decode()
    assert SECRET not in page
    assert "says blue" not in page
