"""How much may be asked: exact among threads, never given back by a rollback, said in one sentence."""

import io
import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, local

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client

from answers import services
from answers.generation import Draft, DraftClaim, DraftQuote, GeneratorUnavailable
from answers.generation.base import UnavailableReason
from answers.generation.dialogue import MAX_CLAIMS, MAX_REPLY_TOKENS
from answers.limits import RateLimited, counters
from answers.limits.counters import Counter, counting
from answers.limits.tokens import estimate
from answers.models import Answer, CountedAttempt, Outcome, Purpose, Reason, UsageCounter, UsageKind
from tenants import services as people
from tenants.scope import tenant_scope

QUESTION = "How many days of annual leave do I get?"


@pytest.fixture(autouse=True)
def one_long_window(monkeypatch):
    """No test runs across the end of a minute."""
    monkeypatch.setattr(counters, "WINDOW_SECONDS", dict.fromkeys(UsageKind, 10**10))


@pytest.fixture
def person(bank):
    person = bank.person("asker")
    bank.document("Annual leave", readers=[person])
    return person


@pytest.fixture
def api(bank, person):
    with bank.scope():
        _, token = people.issue_token(user=person)
    client = Client(headers={"authorization": f"Bearer {token}"})

    def ask(request_id=None, question=QUESTION, **headers):
        body = {"requestId": request_id or uuid.uuid4().hex, "question": question}
        return client.post(
            "/v1/answers", json.dumps(body), content_type="application/json", headers=headers
        )

    return ask


class Tokens:
    """A model that says what it has used."""

    name = processor = "counted"

    def __init__(self, tokens: int = 0, failure: UnavailableReason | None = None):
        self.tokens, self.failure, self.calls = tokens, failure, 0

    def generate(self, *, question, language, evidence):
        self.calls += 1
        if self.failure:
            raise GeneratorUnavailable(self.failure, "for this test")
        text = evidence[0].text.splitlines()[-1]
        claims = (DraftClaim(text=text, quotes=(DraftQuote(source=1, quote=text),)),)
        return Draft(claims, self.name, "m", "p", tokens_in=self.tokens, tokens_out=0)


def used(bank, subject, kind=UsageKind.QUESTIONS) -> int:
    with bank.scope():
        row = UsageCounter.objects.filter(subject=subject.id, kind=kind).first()
    return row.used if row else 0


def in_threads(bank, count, work):
    """The results of `work()` in `count` threads, each with a connection of its own."""

    def one(_):
        try:
            with tenant_scope(bank.tenant.id):
                return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def started(person) -> bool:
    try:
        services.start_answer(user=person, request_id=uuid.uuid4().hex, question=QUESTION)
    except RateLimited:
        return False
    return True


@pytest.mark.parametrize(
    "limit",
    [
        "PERSON_QUESTIONS_PER_MINUTE",
        "TENANT_QUESTIONS_PER_MINUTE",
        "PERSON_CONCURRENT_ANSWERS",
        "TENANT_CONCURRENT_ANSWERS",
    ],
)
def test_of_twenty_threads_exactly_ten_get_through_a_limit_of_ten(bank, person, settings, limit):
    setattr(settings, limit, 10)
    assert sum(in_threads(bank, 20, lambda: started(person))) == 10
    assert used(bank, person) == used(bank, bank.tenant) == 10
    with bank.scope():
        assert Answer.objects.count() == CountedAttempt.objects.count() == 10


def test_of_twenty_threads_exactly_ten_reserve_a_tenth_of_the_tokens_each(bank, person):
    def reserve() -> bool:
        with counting() as cursor:
            return bool(Counter(UsageKind.TOKENS, person.id, 1009).add(cursor, 100))

    assert sum(in_threads(bank, 20, reserve)) == 10
    assert used(bank, person, UsageKind.TOKENS) == 1000


def test_a_rolled_back_transaction_gives_nothing_back(bank, person, settings):
    settings.PERSON_QUESTIONS_PER_MINUTE = 2
    for _ in range(2):
        with bank.scope(), pytest.raises(ZeroDivisionError), transaction.atomic():
            assert started(person)
            raise ZeroDivisionError
    with bank.scope():
        assert Answer.objects.count() == 0
        assert not started(person)
    assert used(bank, person) == 2


def test_one_persons_limit_is_not_anothers_and_one_tenants_not_anothers(
    bank, other_bank, person, settings
):
    settings.PERSON_QUESTIONS_PER_MINUTE = 1
    settings.TENANT_QUESTIONS_PER_MINUTE = 2
    with bank.scope():
        assert started(person)
        assert not started(person)
        assert started(bank.person("second"))
        assert not started(bank.person("third"))  # the tenant's two
    stranger = other_bank.person("stranger")
    with other_bank.scope():
        assert started(stranger)
        assert UsageCounter.objects.count() == 2


def test_what_was_refused_counts_for_nobody(bank, person, settings):
    settings.PERSON_QUESTIONS_PER_MINUTE = 3
    settings.TENANT_QUESTIONS_PER_MINUTE = 1
    with bank.scope():
        assert [started(person) for _ in range(3)] == [True, False, False]
    assert used(bank, person) == 1


def test_a_new_window_starts_at_zero_and_never_moves_back(bank, person, monkeypatch):
    counter = Counter(UsageKind.QUESTIONS, person.id, 1)
    with bank.scope(), counting() as cursor:
        assert counter.add(cursor, 1)
        assert not counter.add(cursor, 1)
        cursor.execute(
            "UPDATE answers_usagecounter SET window_start = window_start - interval '1 day'"
        )
        assert counter.add(cursor, 1)
        cursor.execute(
            "UPDATE answers_usagecounter SET window_start = window_start + interval '1 day'"
        )
        assert not counter.add(cursor, 1)


def test_over_http_the_limit_is_a_429_with_a_sentence_and_the_time_to_wait(api, settings):
    settings.PERSON_QUESTIONS_PER_MINUTE = 1
    assert api().status_code == 200
    refused = api()
    assert refused.status_code == 429
    assert refused["Content-Type"] == "application/problem+json"
    assert int(refused["Retry-After"]) >= 1
    problem = refused.json()
    assert (problem["code"], problem["status"]) == ("rate_limited", 429)
    assert problem["detail"].startswith("You have asked 1 questions within a minute")


def test_a_stream_is_refused_before_it_begins(api, settings):
    settings.PERSON_QUESTIONS_PER_MINUTE = 1
    api()
    refused = api(accept="text/event-stream")
    assert (refused.status_code, refused.streaming) == (429, False)


def test_the_repeat_of_a_known_request_is_neither_counted_nor_refused(api, bank, person, settings):
    settings.PERSON_QUESTIONS_PER_MINUTE = 1
    first = api("the-one")
    again = api("the-one")
    assert again.status_code == 200
    assert again.json() == first.json()
    assert api("the-one", question="Another question?").status_code == 409
    assert used(bank, person) == 1


def test_a_refused_request_id_can_be_used_once_there_is_room(api, settings):
    settings.PERSON_QUESTIONS_PER_MINUTE = 1
    api()
    assert api("later").status_code == 429
    settings.PERSON_QUESTIONS_PER_MINUTE = 2
    assert api("later").status_code == 200


def test_the_same_request_sent_twice_at_once_counts_once(bank, person, monkeypatch):
    look, both_have_looked, this_thread = services._seen, Barrier(2), local()

    def look_and_meet(*request):
        found = look(*request)
        if not hasattr(this_thread, "has_looked"):
            this_thread.has_looked = True
            both_have_looked.wait(timeout=20)
        return found

    def ask():
        return services.start_answer(user=person, request_id="twin", question=QUESTION).is_new

    monkeypatch.setattr(services, "_seen", look_and_meet)
    assert sum(in_threads(bank, 2, ask)) == 1
    assert used(bank, person) == used(bank, bank.tenant) == 1
    with bank.scope():
        assert CountedAttempt.objects.count() == 1


def test_the_page_says_it_in_its_form_and_keeps_the_question(bank, person, settings):
    settings.PERSON_QUESTIONS_PER_MINUTE = 1
    client = Client()
    with bank.scope():
        client.force_login(person, backend="tenants.authentication.EmailBackend")
    assert client.post("/", {"question": QUESTION}).status_code == 302
    page = client.post("/", {"question": "And how many <b>weeks</b>?"})
    assert page.status_code == 429
    assert int(page["Retry-After"]) >= 1
    html = page.content.decode()
    assert "You have asked 1 questions within a minute, as many as you may." in html
    assert "And how many &lt;b&gt;weeks&lt;/b&gt;?</textarea>" in html


def test_a_finished_or_abandoned_answer_frees_its_place(bank, person, settings):
    settings.PERSON_CONCURRENT_ANSWERS = 1
    view = bank.ask(person, QUESTION)
    assert view.answer.outcome == Outcome.ANSWERED
    crashed = bank.start(person, QUESTION)
    with bank.scope():
        assert not started(person)
        # As the sweep ends what a dead process left running.
        services.end_answer(answer=crashed.answer, outcome=Outcome.INTERRUPTED)
        assert started(person)


def test_a_place_is_free_after_a_while_also_when_nothing_ends_its_answer(bank, person, settings):
    settings.PERSON_CONCURRENT_ANSWERS = 1
    bank.start(person, QUESTION)
    with bank.scope():
        assert not started(person)
        row = CountedAttempt.objects.get()
        CountedAttempt.objects.update(taken_at=row.taken_at - timedelta(hours=1))
        assert started(person)


def test_a_place_whose_answer_was_never_made_is_free_soon(bank, person, settings):
    settings.PERSON_CONCURRENT_ANSWERS = 1
    bank.start(person, QUESTION)
    with bank.scope():
        row = CountedAttempt.objects.get()
        # As a process leaves it that dies between taking a place and making the answer.
        CountedAttempt.objects.update(
            answer_id_counted=uuid.uuid4(), taken_at=row.taken_at - timedelta(minutes=1)
        )
        assert started(person)


def test_evaluations_and_operators_are_neither_counted_nor_refused(bank, person, settings):
    settings.PERSON_QUESTIONS_PER_MINUTE = settings.PERSON_CONCURRENT_ANSWERS = 1
    settings.PERSON_TOKENS_PER_DAY = 1
    with bank.scope():
        for number in range(3):
            services.start_answer(
                user=person,
                request_id=f"evaluation-{number}",
                question=QUESTION,
                purpose=Purpose.EVALUATION,
            )
    for _ in range(2):
        out = io.StringIO()
        call_command("ask", QUESTION, "--user", person.email, "--json", stdout=out)
        assert json.loads(out.getvalue())["outcome"] == "answered"
    assert used(bank, person) == used(bank, person, UsageKind.TOKENS) == 0


def test_tokens_are_counted_as_the_model_used_them(bank, person):
    for tokens in (700, 5):
        bank.ask(person, QUESTION, Tokens(tokens))
    assert used(bank, person, UsageKind.TOKENS) == 705
    assert used(bank, bank.tenant, UsageKind.TOKENS) == 705


@pytest.mark.parametrize("whose", ["PERSON", "TENANT"])
def test_an_attempt_that_needs_more_tokens_than_are_left_ends_before_the_model_is_called(
    bank, person, settings, whose
):
    setattr(settings, f"{whose}_TOKENS_PER_DAY", 100)
    model = Tokens(1)
    view = bank.ask(person, QUESTION, model)
    assert (view.outcome, view.reason) == (Outcome.UNAVAILABLE, Reason.BUDGET_EXCEEDED)
    assert model.calls == 0
    assert used(bank, person, UsageKind.TOKENS) == used(bank, bank.tenant, UsageKind.TOKENS) == 0


def test_who_has_used_up_the_tokens_is_refused_before_an_attempt_is_made(
    bank, person, api, settings
):
    bank.ask(person, QUESTION, Tokens(50_000))
    settings.PERSON_TOKENS_PER_DAY = 50_000
    refused = api()
    assert refused.status_code == 429
    assert refused.json()["detail"].startswith("Your allowance for today is used up.")
    with bank.scope():
        assert Answer.objects.count() == 1


@pytest.mark.parametrize(
    ("failure", "is_counted"),
    [(UnavailableReason.UNREACHABLE, False), (UnavailableReason.TIMEOUT, True)],
)
def test_a_call_that_failed_costs_what_was_reserved_unless_it_reached_no_model(
    bank, person, failure, is_counted
):
    bank.ask(person, QUESTION, Tokens(failure=failure))
    assert (used(bank, person, UsageKind.TOKENS) > 2000) is is_counted


def test_the_reservation_grows_with_the_text_and_not_with_its_alphabet_only():
    assert estimate("é" * 500, []) - estimate("e" * 500, []) == 200


def test_what_the_checks_of_claims_may_take_is_reserved_too(settings):
    with_checks = estimate("Leave?", [])
    settings.ENTAILMENT = False
    assert with_checks - estimate("Leave?", []) >= MAX_CLAIMS * MAX_REPLY_TOKENS
