"""A policy is replaced while people ask: from the switch on, nobody is given the old words."""

import threading

import pytest
from django.db import connection

from answers.models import Outcome
from answers.transport import answer_to_the_end
from documents import services
from documents.ingestion import job
from documents.models import Document
from tenants.models import SupersedePolicy
from tests.bank import Bank

QUESTION = "How many days of annual leave do I have?"
OLD, NEW = "Annual leave allowance is 25 days.", "Annual leave allowance is 27 days."
# Somebody asks before and after each of these, outside of the change's own transactions.
STEPS = ["extract", "accept", "make_passages", "publish"]


@pytest.mark.parametrize("policy", list(SupersedePolicy))
def test_during_a_whole_change_the_old_version_is_never_cited_after_the_switch(monkeypatch, policy):
    bank = Bank.create(supersede_policy=policy)
    asker = bank.person("reader")
    document = bank.document("Annual leave", OLD, readers=[asker])
    version = bank.new_version(document, NEW, ingest=False)
    seen: list[tuple[int, int | None]] = []

    def ask() -> None:
        """(the version in force before the question, the one cited), as others see them."""
        try:
            with bank.scope():
                before = Document.objects.get(pk=document.pk).current_version.number
            view = bank.ask(asker, QUESTION)
            assert view.outcome in (Outcome.ANSWERED, Outcome.ABSTAINED)
            seen.append((before, view.citations[0].version if view.citations else None))
        finally:
            connection.close()

    def ask_elsewhere() -> None:
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join(timeout=20)
        assert not thread.is_alive()

    def asked_around(function):
        def step(*args, **kwargs):
            ask_elsewhere()
            done = function(*args, **kwargs)
            ask_elsewhere()
            return done

        return step

    for name in STEPS:
        monkeypatch.setattr(job, name, asked_around(getattr(job, name)))
    bank.ingest(version)
    ask_elsewhere()

    cited = [number for _, number in seen]
    assert all(number in (None, before) for before, number in seen), seen
    assert (cited[0], cited[-1]) == (1, 2)
    switched = [before for before, _ in seen].index(2)
    assert 1 not in cited[switched:]
    if policy == SupersedePolicy.WHEN_SEARCHABLE:
        assert None not in cited, "no gap"
    else:
        assert None in cited[switched:], "the gap shows as missing evidence"


def test_a_question_that_began_before_the_switch_is_not_released_with_the_old_words(bank):
    """The whole pipeline was under way; see also the stages in test_versions."""
    asker = bank.person("reader")
    document = bank.document("Annual leave", OLD, readers=[asker])
    started = bank.start(asker, QUESTION)
    bank.new_version(document, NEW)
    with bank.scope():
        view = answer_to_the_end(user=asker, started=started)
    assert view.citations[0].version == 2


def test_an_archived_document_is_cited_with_the_day_of_its_withdrawal(bank, client):
    asker = bank.person("reader")
    document = bank.document("Annual leave", OLD, readers=[asker])
    with bank.scope():
        services.set_life_cycle(actor=None, document=document, life_cycle="archived")
        document.refresh_from_db()
        client.force_login(asker, backend="tenants.authentication.EmailBackend")
    view = bank.ask(asker, QUESTION)
    assert view.citations
    assert {one.withdrawn_date for one in view.citations} == {document.withdrawn_date}
    told = client.get(f"/v1/answers/{view.answer.pk}").json()
    assert {one["withdrawnDate"] for one in told["citations"]} == {str(document.withdrawn_date)}
    page = client.get(f"/answers/{view.answer.pk}/").content.decode()
    assert page.count("Withdrawn on") >= len(view.citations)
