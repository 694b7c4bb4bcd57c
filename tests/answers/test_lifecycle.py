"""One attempt per request id, one outcome and one record per attempt, whoever waits for it."""

import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection
from django.test import Client

from answers import authority, pipeline, services, transport
from answers.generation import Draft, GeneratorUnavailable, get_generator
from answers.models import Answer, Outcome, Reason
from answers.transport import Place, event_stream
from audit.models import AuditRecord
from documents.retrieval.search import SearchUnavailable
from tenants import services as people
from tests.fakes.ollama_server import FakeOllama

QUESTION = "How many days of annual leave do I have?"


class Held:
    """The extractive generator, which waits until the test lets it go on."""

    name = processor = "extractive-3"

    def __init__(self):
        self.reached, self.go_on = threading.Event(), threading.Event()

    def generate(self, **given):
        self.reached.set()
        assert self.go_on.wait(30)
        return get_generator("extractive").generate(**given)


@pytest.fixture
def asker(bank):
    user = bank.person("asker")
    bank.document("Annual leave", "Annual leave allowance is 25 days.", readers=[bank.everyone])
    return user


@pytest.fixture
def held(monkeypatch):
    """Whatever is asked waits in its generator."""
    generator = Held()
    monkeypatch.setattr(pipeline, "default_generator", lambda *_: generator)
    yield generator
    generator.go_on.set()


@pytest.fixture
def keep_alive_at_once(settings):
    settings.STREAM_KEEPALIVE_SECONDS = 0


def api(bank, user) -> Client:
    with bank.scope():
        _, token = people.issue_token(user=user)
    return Client(headers={"authorization": f"Bearer {token}"})


def ask(client: Client, request_id: str, question: str = QUESTION, **headers):
    return client.post(
        "/v1/answers",
        json.dumps({"requestId": request_id, "question": question}),
        content_type="application/json",
        headers=headers,
    )


def stream(bank, user, started, **more):
    with bank.scope():
        return event_stream(user=user, started=started, tenant_id=bank.tenant.id, **more)


def again(bank, started) -> services.Started:
    """The same request, once more."""
    with bank.scope():
        return services.start_answer(
            user=started.answer.user, request_id=started.answer.request_id, question=QUESTION
        )


def ended(bank, answer) -> Answer:
    """The attempt, after checking that it ended with exactly one record."""
    with bank.scope():
        answer = Answer.objects.get(pk=answer.pk)
        records = AuditRecord.objects.filter(
            action="answer.attempted", object_ids__answer=str(answer.pk)
        )
        assert [record.facts["outcome"] for record in records] == [answer.outcome]
    return answer


def stages_of(chunks) -> list[tuple[str, str]]:
    """(id, stage) of the status events."""
    found = []
    for chunk in chunks:
        fields = dict(line.split(": ", 1) for line in chunk.decode().strip().split("\n"))
        if fields.get("event") == "status":
            found.append((fields["id"], json.loads(fields["data"])["stage"]))
    return found


@contextmanager
def elsewhere():
    """Threads that leave no connection behind."""
    with ThreadPoolExecutor(max_workers=8) as pool:

        def submit(function, *arguments, **named):
            def call():
                try:
                    return function(*arguments, **named)
                finally:
                    connection.close()

            return pool.submit(call)

        yield submit


def test_eight_at_once_with_one_request_id_are_one_attempt_with_one_record(bank, asker):
    clients = [api(bank, asker) for _ in range(8)]
    request_id = uuid.uuid4().hex
    barrier = threading.Barrier(8)

    def together(client):
        barrier.wait()
        return ask(client, request_id).json()

    with elsewhere() as submit:
        answers = [one.result() for one in [submit(together, client) for client in clients]]
    assert len({answer["answerId"] for answer in answers}) == 1
    assert {answer["outcome"] for answer in answers} == {"answered"}
    assert len({json.dumps(answer["claims"]) for answer in answers}) == 1
    with bank.scope():
        assert Answer.objects.count() == 1
        assert AuditRecord.objects.filter(action="answer.attempted").count() == 1


def test_eight_at_once_with_two_questions_for_one_request_id_end_with_one_of_them(bank, asker):
    clients = [api(bank, asker) for _ in range(8)]
    request_id = uuid.uuid4().hex
    barrier = threading.Barrier(8)

    def together(client, question):
        barrier.wait()
        return ask(client, request_id, question).status_code

    with elsewhere() as submit:
        running = [
            submit(together, client, f"{QUESTION} {index % 2}")
            for index, client in enumerate(clients)
        ]
        statuses = sorted(one.result() for one in running)
    assert statuses == [200] * 4 + [409] * 4
    with bank.scope():
        assert Answer.objects.count() == 1


def test_who_asks_the_same_while_it_runs_gets_the_events_from_the_first_one_on(bank, asker, held):
    started = bank.start(asker, QUESTION)
    first = stream(bank, asker, started)
    seen = [next(first) for _ in range(4)]
    assert held.reached.wait(30)
    second = stream(bank, asker, again(bank, started))
    followed = [next(second) for _ in range(4)]
    assert stages_of(followed) == stages_of(seen)
    held.go_on.set()
    seen, followed = seen + list(first), followed + list(second)
    assert [identifier for identifier, _ in stages_of(seen)] == [f"1.{n}" for n in range(1, 7)]
    assert followed[-1] == seen[-1]
    assert b'"outcome": "answered"' in seen[-1]
    ended(bank, started.answer)


def test_a_stream_goes_on_after_the_last_event_that_was_seen(bank, asker, held):
    started = bank.start(asker, QUESTION)
    first = stream(bank, asker, started)
    for _ in range(4):
        next(first)
    assert held.reached.wait(30)
    client = api(bank, asker)
    headers = {"accept": "text/event-stream", "last-event-id": "1.3"}
    response = ask(client, started.answer.request_id, **headers)
    resumed = iter(response.streaming_content)
    assert stages_of([next(resumed)]) == [("1.4", "writing")]
    held.go_on.set()
    rest = list(resumed)
    list(first)
    assert "writing" not in [stage for _, stage in stages_of(rest)]
    assert b'"outcome": "answered"' in rest[-1]


@pytest.mark.parametrize("event_id", ["", "x", "0.0", "1", "1.", "9999.1", "1.3\n", "-1.2"])
def test_an_event_id_that_is_none_of_ours_means_from_the_beginning(event_id):
    assert Place.parse(event_id) == Place()


def test_a_second_try_is_told_from_its_start_and_the_void_one_no_further():
    assert list(Place(1, 4).up_to(Place(2, 2))) == [Place(2, 1), Place(2, 2)]
    assert list(Place(1, 2).up_to(Place(1, 4))) == [Place(1, 3), Place(1, 4)]
    assert list(Place(2, 2).up_to(Place(1, 4))) == []


def test_a_long_step_is_bridged_by_comments(bank, asker, held, keep_alive_at_once):
    started = bank.start(asker, QUESTION)
    chunks = stream(bank, asker, started)
    seen = []
    while seen.count(b": keep-alive\n\n") < 6:
        seen.append(next(chunks))
    with bank.scope():
        assert Answer.objects.get(pk=started.answer.pk).alive_at is not None
    held.go_on.set()
    rest = list(chunks)
    assert b'"outcome": "answered"' in rest[-1]
    assert len(stages_of(seen + rest)) == 6


def test_the_headers_keep_proxies_from_holding_events_back(bank, asker):
    response = ask(api(bank, asker), "1", accept="text/event-stream")
    assert response["Content-Type"] == "text/event-stream; charset=utf-8"
    assert response["X-Accel-Buffering"] == "no"
    assert "no-transform" in response["Cache-Control"]
    assert "no-store" in response["Cache-Control"]
    list(response.streaming_content)


def test_cancelling_while_the_model_writes_ends_it_there_and_then(bank, asker, held):
    started = bank.start(asker, QUESTION)
    chunks = stream(bank, asker, started)
    for _ in range(4):
        next(chunks)
    assert held.reached.wait(30)
    response = api(bank, asker).post(f"/v1/answers/{started.answer.pk}/cancel")
    assert response.json()["outcome"] == "cancelled"
    last = list(chunks)[-1]  # ends although the model has not answered yet
    assert b'"outcome": "cancelled"' in last
    assert not held.go_on.is_set()
    answer = ended(bank, started.answer)
    assert answer.stage_timings.keys() >= {"search", "rerank"}
    held.go_on.set()
    for thread in threading.enumerate():
        if thread.name == f"answer-{started.answer.pk}":
            thread.join(30)
    after = ended(bank, started.answer)
    assert (after.outcome, after.digest) == (Outcome.CANCELLED, "")
    with bank.scope():
        assert not after.claims.exists()


def test_cancelling_while_a_model_server_is_asked_reaches_that_server(bank, asker, monkeypatch):
    with FakeOllama(hang=True) as ollama:
        model = get_generator("ollama:llama3.2", ollama_host=ollama.url)
        monkeypatch.setattr(pipeline, "default_generator", lambda *_: model)
        started = bank.start(asker, QUESTION)
        chunks = stream(bank, asker, started)
        for _ in range(4):
            next(chunks)
        assert ollama.asked.wait(30)
        api(bank, asker).post(f"/v1/answers/{started.answer.pk}/cancel")
        assert ollama.left.wait(30)
        assert b'"outcome": "cancelled"' in list(chunks)[-1]
    assert ended(bank, started.answer).outcome == Outcome.CANCELLED


@pytest.mark.parametrize("steps", range(1, 7))
def test_cancelling_at_any_stage_releases_nothing(bank, asker, steps):
    started = bank.start(asker, QUESTION)
    with bank.scope():
        run = pipeline.answer_question(answer=started.answer)
        for _ in range(steps):
            next(run)
        assert services.cancel_answer(answer=started.answer)
        assert not services.cancel_answer(answer=started.answer)
        list(run)
    answer = ended(bank, started.answer)
    assert (answer.outcome, answer.digest) == (Outcome.CANCELLED, "")


def test_cancelling_what_has_ended_changes_nothing(bank, asker):
    view = bank.ask(asker, QUESTION)
    with bank.scope():
        assert not services.cancel_answer(answer=view.answer)
    assert ended(bank, view.answer).outcome == Outcome.ANSWERED


def test_a_dropped_connection_interrupts_and_a_late_answer_is_refused(bank, asker, held):
    started = bank.start(asker, QUESTION)
    chunks = stream(bank, asker, started)
    for _ in range(4):
        next(chunks)
    assert held.reached.wait(30)
    chunks.close()
    answer = ended(bank, started.answer)
    assert (answer.outcome, answer.reason) == (Outcome.INTERRUPTED, Reason.DISCONNECTED)
    held.go_on.set()
    for thread in threading.enumerate():
        if thread.name == f"answer-{started.answer.pk}":
            thread.join(30)
    with bank.scope():
        assert not ended(bank, started.answer).claims.exists()


def test_an_attempt_that_somebody_follows_outlives_the_connection_that_began_it(bank, asker, held):
    started = bank.start(asker, QUESTION)
    first = stream(bank, asker, started)
    for _ in range(4):
        next(first)
    assert held.reached.wait(30)
    second = stream(bank, asker, again(bank, started))
    next(second)
    first.close()
    held.go_on.set()
    assert b'"outcome": "answered"' in list(second)[-1]
    assert ended(bank, started.answer).outcome == Outcome.ANSWERED


def raising(error):
    def fail(*args, **kwargs):
        raise error

    return fail


def no_claims(**given):
    return Draft((), "none", "none", "1", 1, 1)


@pytest.mark.parametrize(
    ("where", "what", "outcome", "reason"),
    [
        ("search", raising(SearchUnavailable("down")), "unavailable", "search"),
        ("search", raising(OperationalError("gone")), "unavailable", "authority"),
        ("admit", raising(authority.AuthorityUnavailable("down")), "unavailable", "authority"),
        ("admit", raising(authority.SourcesChanged), "unavailable", "sources_changed"),
        ("release", raising(authority.AuthorityUnavailable("down")), "unavailable", "authority"),
        ("release", raising(authority.SourcesChanged), "unavailable", "sources_changed"),
        ("consume", raising(OperationalError("gone")), "answered", ""),
        ("generate", raising(GeneratorUnavailable("timeout", "slow")), "excerpts", "model"),
        ("generate", raising(RuntimeError("odd")), "unavailable", "internal"),
        ("generate", no_claims, "abstained", "no_evidence"),
        ("rerank", raising(MemoryError()), "unavailable", "internal"),
    ],
)
def test_each_way_to_fail_has_its_own_reason_and_exactly_one_record(
    bank, asker, monkeypatch, where, what, outcome, reason
):
    generator = get_generator("extractive")
    if where == "generate":
        monkeypatch.setattr(generator, "generate", what)
    elif where in ("admit", "release", "consume"):
        monkeypatch.setattr(authority, where, what)
    else:
        monkeypatch.setattr(pipeline, where, what)
    view = bank.ask(asker, QUESTION, generator)
    assert (view.outcome, view.reason) == (outcome, reason)
    answer = ended(bank, view.answer)
    assert answer.state == "finished"


def test_a_connection_that_the_database_ends_midway_is_an_outage_of_the_authority(
    bank, asker, raw_sql, monkeypatch
):
    real = pipeline.rerank

    def cut(**given):
        raw_sql.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])
        return real(**given)

    monkeypatch.setattr(pipeline, "rerank", cut)
    view = bank.ask(asker, QUESTION)
    assert (view.outcome, view.reason) == (Outcome.UNAVAILABLE, Reason.AUTHORITY)
    ended(bank, view.answer)


def test_a_thread_that_cannot_end_its_attempt_leaves_it_to_the_sweep(bank, asker, monkeypatch):
    """The database is gone at the end, too: the stream closes without an answer, nothing else."""
    monkeypatch.setattr(transport, "answer_question", raising(OperationalError("gone")))
    started = bank.start(asker, QUESTION)
    chunks = stream(bank, asker, started)
    assert stages_of(list(chunks)) == []
    with bank.scope():
        assert Answer.objects.get(pk=started.answer.pk).alive_at is not None
