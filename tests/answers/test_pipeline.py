"""The path of an answer: the four cases of the first prototype, and what surrounds them."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from answers.generation import (
    Draft,
    DraftClaim,
    DraftQuote,
    GeneratorUnavailable,
    get_generator,
)
from answers.models import Answer, ContextPermit, Outcome, Reason, ReviewItem
from answers.present import answer_object
from audit.models import AuditRecord
from tenants.models import Role

LEAVE = "Annual leave allowance is 25 days. Unused days lapse at the end of March."
# Of an answer of the bundled generator, sign of life and audit included.
MOST_QUERIES = 80
VAULT = "The vault access code is 7391. Only custodians may open the vault."


class Recording:
    """The extractive generator, with every byte it received kept."""

    name = "extractive-3"
    processor = "extractive-3"

    def __init__(self):
        self.received: list[str] = []

    def generate(self, *, question, language, evidence):
        self.received.append("\n".join(chunk.text for chunk in evidence))
        return get_generator("extractive").generate(
            question=question, language=language, evidence=evidence
        )


class Claiming:
    """A model that claims whatever it is told to."""

    name = processor = "claiming"

    def __init__(self, text: str, quote: str):
        self.claim = DraftClaim(text=text, quotes=(DraftQuote(source=1, quote=quote),))

    def generate(self, *, question, language, evidence):
        return Draft((self.claim,), self.name, self.name, "1", 10, 5)


@pytest.fixture
def two_policies(bank):
    """An employee who may read the leave policy, and an administrator who may read both."""
    employee = bank.person("employee")
    admin = bank.person("admin", roles=[Role.TENANT_ADMIN])
    bank.document("Annual leave", LEAVE, readers=[bank.everyone])
    bank.document("Vault procedure", VAULT, readers=[admin])
    return employee, admin


def test_an_employee_asking_for_the_vault_code_is_refused_without_a_generator_call(
    bank, two_policies
):
    employee, _ = two_policies
    generator = Recording()
    view = bank.ask(employee, "What is the vault access code?", generator)
    assert view.outcome == Outcome.ABSTAINED
    assert generator.received == []
    with bank.scope():
        shown = json.dumps(answer_object(view)) + json.dumps(
            list(ContextPermit.objects.values("chunks", "document_versions")), default=str
        )
        facts = json.dumps(list(AuditRecord.objects.values_list("facts", flat=True)))
    assert "7391" not in shown
    assert "custodian" not in shown
    assert "Vault" not in shown + facts


def test_the_employee_asking_for_annual_leave_gets_the_sentence_quoted_with_its_page(
    bank, two_policies
):
    employee, _ = two_policies
    view = bank.ask(employee, "How many days of annual leave do I have?")
    assert view.outcome == Outcome.ANSWERED
    assert "Annual leave allowance is 25 days." in view.claims[0].text
    assert view.citations[0].quote == "Annual leave allowance is 25 days."
    assert view.citations[0].page == 1
    assert view.citations[0].title == "Annual leave"


def test_an_administrator_with_a_grant_gets_both(bank, two_policies):
    _, admin = two_policies
    assert "7391" in bank.ask(admin, "What is the vault access code?").claims[0].text
    assert "25 days" in bank.ask(admin, "How many days of annual leave?").claims[0].text


def test_an_administrator_without_a_grant_gets_nothing(bank):
    """Administering is not reading."""
    admin = bank.person("admin", roles=[Role.TENANT_ADMIN])
    bank.document("Vault procedure", VAULT, readers=[bank.person("custodian")])
    assert bank.ask(admin, "What is the vault access code?").outcome == Outcome.ABSTAINED


def test_a_mixed_question_sends_only_permitted_text_to_the_generator(bank, two_policies):
    employee, _ = two_policies
    generator = Recording()
    view = bank.ask(employee, "What about vault and leave?", generator)
    assert len(generator.received) == 1
    assert "25 days" in generator.received[0]
    assert "7391" not in generator.received[0]
    assert "custodian" not in generator.received[0]
    assert "25 days" in view.claims[0].text


def test_a_quote_that_is_not_in_the_source_takes_the_whole_answer_down(bank, two_policies):
    employee, _ = two_policies
    lie = Claiming("Annual leave is 30 days.", "Annual leave allowance is 30 days.")
    view = bank.ask(employee, "How many days of annual leave?", lie)
    assert view.outcome == Outcome.ABSTAINED
    assert view.claims == ()
    with bank.scope():
        item = ReviewItem.objects.get()
        assert item.kind == "blocked_draft"
        assert "quote_not_found" in item.reason
        assert "\n" not in item.reason
        assert item.draft[0]["text"] == "Annual leave is 30 days."


def test_a_claim_with_a_changed_number_is_blocked_although_its_quote_is_real(bank, two_policies):
    employee, _ = two_policies
    lie = Claiming("Annual leave is 35 days.", "Annual leave allowance is 25 days.")
    assert bank.ask(employee, "How many days of leave?", lie).outcome == Outcome.ABSTAINED
    with bank.scope():
        assert "number" in ReviewItem.objects.get().reason


def test_every_attempt_leaves_exactly_one_audit_record_also_when_the_generator_raises(
    bank, two_policies
):
    employee, _ = two_policies

    class Exploding(Recording):
        def generate(self, **_):
            raise RuntimeError("boom")

    view = bank.ask(employee, "How many days of annual leave?", Exploding())
    assert (view.outcome, view.reason) == (Outcome.UNAVAILABLE, Reason.INTERNAL)
    with bank.scope():
        records = AuditRecord.objects.filter(action="answer.attempted")
        assert [record.facts["outcome"] for record in records] == ["unavailable"]


def test_with_the_generator_down_the_asker_gets_labelled_excerpts(bank, two_policies):
    employee, _ = two_policies
    down = get_generator("ollama:llama3.2", ollama_host="http://127.0.0.1:9", timeout_seconds=2)
    view = bank.ask(employee, "How many days of annual leave?", down)
    assert view.outcome == Outcome.EXCERPTS
    assert view.reason == Reason.MODEL
    assert "not an answer" in answer_object(view)["message"]
    assert view.citations[0].quote == "Annual leave allowance is 25 days."


def test_excerpts_name_no_model_and_leave_no_trace_in_the_next_attempt(bank, two_policies):
    employee, _ = two_policies
    document = bank.document("Leave carried over", LEAVE, readers=[bank.everyone])
    calls = []

    class DownOnce(Recording):
        """Not there the first time, and meanwhile one of its sources goes away."""

        def generate(self, **given):
            calls.append(1)
            if len(calls) > 1:
                return super().generate(**given)
            bank.revoke(document, bank.everyone)
            raise GeneratorUnavailable("down", "The model is down.")

    view = bank.ask(employee, "How many days of annual leave?", DownOnce())
    assert (view.outcome, view.reason, len(calls)) == (Outcome.ANSWERED, "", 2)
    down = get_generator("ollama:llama3.2", ollama_host="http://127.0.0.1:9", timeout_seconds=2)
    view = bank.ask(employee, "How many days of annual leave?", down)
    assert answer_object(view)["generated_by"] == "excerpts"


def test_the_audit_of_an_answer_holds_no_question_and_no_passage(bank, two_policies):
    employee, _ = two_policies
    bank.ask(employee, "How many days of annual leave?")
    with bank.scope():
        record = AuditRecord.objects.get(action="answer.attempted")
        text = json.dumps([record.object_ids, record.facts])
    assert "annual" not in text.lower()
    assert record.facts["digest"]


def test_closing_the_stream_early_ends_the_attempt_as_interrupted(bank, two_policies):
    from answers.pipeline import answer_question

    employee, _ = two_policies
    started = bank.start(employee, "How many days of annual leave?")
    with bank.scope():
        run = answer_question(answer=started.answer)
        next(run)
        run.close()
        answer = Answer.objects.get(pk=started.answer.pk)
    assert (answer.outcome, answer.reason) == (Outcome.INTERRUPTED, Reason.DISCONNECTED)


def test_a_cancelled_attempt_stops_at_its_next_step(bank, two_policies):
    from answers.pipeline import answer_question
    from answers.services import cancel_answer

    employee, _ = two_policies
    started = bank.start(employee, "How many days of annual leave?")
    with bank.scope():
        run = answer_question(answer=started.answer)
        next(run)
        assert cancel_answer(answer=started.answer)
        list(run)
        assert Answer.objects.get(pk=started.answer.pk).outcome == Outcome.CANCELLED


def test_an_attempt_whose_process_died_is_ended_by_the_sweep_and_recorded(bank, two_policies):
    from datetime import timedelta

    from django.utils import timezone

    from answers.abandoned import end_abandoned_everywhere

    employee, _ = two_policies
    started = bank.start(employee, "How many days of annual leave?")
    end_abandoned_everywhere()
    with bank.scope():
        assert Answer.objects.get(pk=started.answer.pk).state == "running"
        Answer.objects.update(created_at=timezone.now() - timedelta(hours=1))
    end_abandoned_everywhere()
    with bank.scope():
        assert Answer.objects.get(pk=started.answer.pk).outcome == Outcome.INTERRUPTED
        assert AuditRecord.objects.filter(action="answer.attempted").count() == 1


def test_an_answer_takes_a_bounded_number_of_queries(bank):
    """However many passages there are; more would be one for each."""
    reader = bank.person("reader")
    counts = []
    for number in range(24):
        text = f"Branch {number} keeps its visitors' book for {number + 2} years in the archive."
        bank.document(f"Visitors of branch {number}", text, readers=[reader])
        if number in (2, 23):
            bank.ask(reader, "How long does a branch keep its visitors' book?")  # what loads once
            with CaptureQueriesContext(connection) as captured:
                view = bank.ask(reader, "How long does branch 2 keep its visitors' book?")
            assert view.outcome == Outcome.ANSWERED
            counts.append(len(captured))
    assert counts[1] <= counts[0] + 2
    assert max(counts) <= MOST_QUERIES


class ClaimingBoth(Claiming):
    """A true claim, and one that nothing bears out."""

    def generate(self, *, question, language, evidence):
        wrong = DraftClaim("You have 30 days of leave.", self.claim.quotes)
        return Draft((self.claim, wrong), self.name, self.name, "1", 10, 5)


@pytest.mark.parametrize("policy", ["all_or_nothing", "strip"])
def test_what_a_failed_claim_takes_with_it_is_the_policy(bank, settings, policy):
    settings.CLAIM_POLICY = policy
    reader = bank.person("reader")
    bank.document("Annual leave", LEAVE, readers=[reader])
    said = "Annual leave allowance is 25 days."
    view = bank.ask(reader, "How many days of annual leave do I have?", ClaimingBoth(said, said))
    with bank.scope():
        waiting = ReviewItem.objects.count()
    if policy == "strip":
        assert [claim.text for claim in view.claims] == [said]
        assert view.answer.signals["claims_removed"] == ["number"]
        assert waiting == 0
    else:
        assert (view.outcome, waiting) == (Outcome.ABSTAINED, 1)


def test_when_no_claim_is_left_it_is_a_refusal_and_reviewers_have_the_draft(bank, settings):
    settings.CLAIM_POLICY = "strip"
    reader = bank.person("reader")
    bank.document("Annual leave", LEAVE, readers=[reader])
    generator = Claiming("You have 30 days.", "Annual leave allowance is 25 days.")
    view = bank.ask(reader, "How many days of annual leave do I have?", generator)
    with bank.scope():
        waiting = ReviewItem.objects.count()
    assert (view.outcome, waiting) == (Outcome.ABSTAINED, 1)
