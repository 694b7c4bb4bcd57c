"""A run goes on where it was, stops when told to, takes what people leave, and repeats itself."""

import uuid
from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from answers.generation.base import Draft
from answers.models import Answer
from answers.pipeline import default_generator
from answers.services import end_answer
from documents.building import start_generation
from documents.tasks import build_generation
from evaluation.models import CaseState, EvalCase, EvalResult, EvalRun, RunState
from evaluation.runs import RunRefused, cancel_run, run_evaluation, start_run, work_on
from evaluation.runs import running as carrying_out
from evaluation.runs.comparing import compare, paired_bootstrap, variation
from evaluation.runs.giving_way import wait_for_people
from evaluation.tasks import carry_out_run
from tenants.models import Role


def test_the_worker_carries_out_a_run_that_was_asked_for(bank, case):
    case()
    case(required_text=["30 days"])
    reviewer = bank.person("reviewer", roles=[Role.REVIEWER])
    with bank.scope():
        run = start_run(actor=reviewer)
        assert (run.state, run.total) == (RunState.QUEUED, 2)
    assert carry_out_run(str(bank.tenant.id), str(run.pk)) == RunState.FINISHED
    with bank.scope():
        run.refresh_from_db()
    assert (run.done, run.measures["passed"], run.measures["failed"]) == (2, 1, 1)
    assert run.finished_at
    assert run.requested_by_id == reviewer.pk


def test_what_was_measured_of_a_case_is_kept_with_its_result(bank, case):
    case()
    with bank.scope():
        run_evaluation()
        result = EvalResult.objects.get()
    assert (result.sentences, result.ungrounded, result.not_verbatim) == (1, 0, 0)
    assert (result.citations, result.citations_right) == (1, 1)
    assert (result.required, result.required_found, result.first_rank) == (1, 1, 1)
    assert (result.department, result.language) == ("Human Resources", "en")
    assert 0 <= result.first_status_ms <= result.answer_ms
    assert len(result.digest) == 64


def test_a_run_that_died_goes_on_with_what_is_left(bank, case, monkeypatch):
    for _ in range(3):
        case()

    class Killed(BaseException):
        pass

    real = carrying_out.run_case
    asked = []

    def dies_at_the_second(**what):
        asked.append(what["case"].key)
        if len(asked) == 2:
            raise Killed
        return real(**what)

    monkeypatch.setattr(carrying_out, "run_case", dies_at_the_second)
    with bank.scope():
        run = start_run(queued=False)
        with pytest.raises(Killed):
            work_on(run.pk)
        assert work_on(run.pk).state == RunState.RUNNING  # somebody may still be at it
        EvalRun.objects.filter(pk=run.pk).update(alive_at=timezone.now() - timedelta(hours=2))
        queued = []
        monkeypatch.setattr(carrying_out, "queue_run", queued.append)
    carrying_out.resume_runs_everywhere()
    assert run in queued
    with bank.scope():
        ended = work_on(run.pk)
    assert ended.state == RunState.FINISHED
    assert (ended.done, ended.measures["cases"]) == (3, 3)
    assert asked == ["case-0", "case-1", "case-1", "case-2"]


def test_a_case_whose_question_was_open_when_the_process_died_is_not_asked_twice(bank, case):
    case()
    with bank.scope():
        run = start_run(queued=False)
        work_on(run.pk)
        EvalResult.objects.all().delete()
        EvalRun.objects.filter(pk=run.pk).update(
            state=RunState.RUNNING, finished_at=None, alive_at=None
        )
        assert work_on(run.pk).measures["passed"] == 1
        assert Answer.objects.count() == 1


def test_a_long_run_goes_on_in_another_turn(bank, case, monkeypatch):
    case()
    case()
    queued = []
    monkeypatch.setattr(carrying_out, "queue_run", queued.append)
    with bank.scope():
        run = start_run(queued=False)
        turn = work_on(run.pk, turn_seconds=1e-9)
        assert turn.state == RunState.RUNNING
        assert queued == [run]
        assert work_on(run.pk, turn_seconds=None).done == 2


def test_a_cancelled_run_ends_before_its_next_case(bank, case):
    case()
    case()
    with bank.scope():
        run = start_run(queued=False)

        def cancel_after_the_first(done, total):
            assert cancel_run(run=run)

        ended = work_on(run.pk, progress=cancel_after_the_first)
        assert (ended.state, ended.done) == (RunState.CANCELLED, 1)
        assert not cancel_run(run=run)


@pytest.mark.parametrize("budget", [{"most_tokens": 1}, {"most_minutes": 1}])
def test_a_run_stops_when_its_budget_is_spent(bank, case, budget):
    case()
    case()

    def spend(done, total):
        EvalResult.objects.filter(run=run).update(tokens=5)
        EvalRun.objects.filter(pk=run.pk).update(started_at=timezone.now() - timedelta(minutes=2))
        run.refresh_from_db()

    with bank.scope():
        run = start_run(queued=False, **budget)
        if "most_minutes" in budget:
            EvalRun.objects.filter(pk=run.pk).update(
                started_at=timezone.now() - timedelta(minutes=2)
            )
        ended = work_on(run.pk, progress=spend)
    assert ended.state == RunState.STOPPED
    assert ended.done < 2


def test_cases_that_ask_for_review_are_counted_and_not_run(bank, case):
    case()
    other = case()
    with bank.scope():
        EvalCase.objects.filter(pk=other.pk).update(state=CaseState.NEEDS_REVIEW)
        run = run_evaluation()
    assert (run.not_run, run.measures["cases"], run.measures["notRun"]) == (1, 1, 1)


def test_two_runs_of_an_unchanged_system_give_the_same(bank, case):
    case()
    case(as_user=bank.person("stranger"), expected_outcome="abstained", kind="restricted")
    times = {"firstStatusMs", "answerMsMedian", "answerMsP95"}
    with bank.scope():
        runs = [run_evaluation() for _ in range(2)]
        digests = [
            list(run.results.order_by("case__key").values_list("digest", flat=True)) for run in runs
        ]
    assert digests[0] == digests[1]
    same = [{k: v for k, v in run.measures.items() if k not in times} for run in runs]
    assert same[0] == same[1]


class Fickle:
    """A model that says nothing every second time."""

    def __init__(self, real):
        self.real, self.name, self.processor = real, "fickle", real.processor
        self.asked = 0

    def generate(self, **what) -> Draft:
        self.asked += 1
        draft = self.real.generate(**what)
        if self.asked % 2 == 0:
            return type(draft)(**{**_fields(draft), "claims": type(draft.claims)()})
        return draft


def _fields(draft) -> dict:
    return {name: getattr(draft, name) for name in draft.__dataclass_fields__}


def test_a_model_that_varies_is_told_by_how_much(bank, case):
    case()
    with bank.scope():
        run = run_evaluation(generator=Fickle(default_generator()), repeats=4)
        told = variation(run)
    assert (told.cases, told.other_words, told.other_verdict) == (1, 1, 1)
    assert told.pass_rates == (1.0, 0.0, 1.0, 0.0)


def test_two_generations_are_compared_on_the_same_cases(bank, case):
    case()
    case(key="case-wrong", required_text=["30 days"])
    with bank.scope():
        candidate = start_generation(name="second", embedder="use-multilingual")
        build_generation(str(bank.tenant.id), str(candidate.pk))
        run = run_evaluation(generation=candidate, compared=True)
        comparison = compare(run)
        used = set(run.results.values_list("variant", "generation_used"))
    assert run.total == run.done == 4
    assert comparison.cases == 2
    by_name = {one.measure.name: one for one in comparison.differences}
    assert by_name["passRate"].serving == by_name["passRate"].candidate == 0.5
    assert by_name["passRate"].verdict == "not told apart"
    assert len(used) == 2


def test_the_paired_bootstrap_finds_a_difference_and_none_where_there_is_none():
    better = paired_bootstrap([(0.0, 1.0)] * 18 + [(1.0, 1.0)] * 6)
    assert better.mean == 0.75
    assert 0.5 < better.low < 0.75 < better.high < 1.0
    assert not better.is_worse("higher")
    assert better.is_worse("lower")
    same = paired_bootstrap([(0.0, 1.0), (1.0, 0.0)] * 20)
    assert same.low < 0 < same.high
    assert paired_bootstrap([(0.0, 1.0)] * 5) == paired_bootstrap([(0.0, 1.0)] * 5)
    with pytest.raises(ValueError, match="nothing to compare"):
        paired_bootstrap([])


def test_the_interval_is_about_that_of_the_normal_approximation():
    """Mean ± 1.96 s/√n for 200 pairs; the bootstrap must come close."""
    pairs = [(0.0, float(number % 5)) for number in range(200)]
    interval = paired_bootstrap(pairs)
    half = 1.96 * (2.0 / 199 * 200) ** 0.5 / 200**0.5
    assert interval.mean == 2.0
    assert interval.high - interval.low == pytest.approx(2 * half, rel=0.1)


def test_a_run_waits_while_somebody_is_being_answered_and_not_for_ever(bank, monkeypatch):
    from evaluation.runs import giving_way

    person, waits = bank.person(), []
    monkeypatch.setattr(giving_way, "_MOST_SECONDS", 0.2)
    monkeypatch.setattr(giving_way, "_LOOK_EVERY_SECONDS", 0.01)
    real = giving_way.time.sleep
    monkeypatch.setattr(giving_way.time, "sleep", lambda s: (waits.append(s), real(s)))
    with bank.scope():
        wait_for_people()
        assert waits == []
        bank.ask(person, "How many days of leave?")
        wait_for_people()  # who was answered a moment ago may ask again
        assert waits
        waits.clear()
        Answer.objects.create(
            user=person, request_id=uuid.uuid4().hex, payload_digest="", question="?", language="en"
        )
        wait_for_people()
    assert waits


def test_a_case_waits_at_its_next_step_while_somebody_is_being_answered(bank, case, monkeypatch):
    from evaluation.runs import giving_way

    case()
    person, waited = bank.person(), []
    with bank.scope():
        asked = Answer.objects.create(
            user=person, request_id=uuid.uuid4().hex, payload_digest="", question="?", language="en"
        )

    def answered_meanwhile(seconds):
        waited.append(seconds)
        end_answer(answer=asked, outcome="abstained", reason="no_evidence", fields={})

    monkeypatch.setattr(giving_way.time, "sleep", answered_meanwhile)
    monkeypatch.setattr("evaluation.runs.running.wait_for_people", lambda: None)
    with bank.scope():
        run = start_run(queued=False)
        work_on(run.pk)
        result = EvalResult.objects.get(run=run)
        asked.refresh_from_db()
    assert waited
    assert asked.state == "finished"
    assert result.outcome


def test_only_reviewers_and_administrators_start_and_cancel_runs(bank, case):
    case()
    with bank.scope():
        run = start_run(queued=False)
    for role in (Role.AUDITOR, (Role.DEPARTMENT_ADMIN, "Human Resources")):
        somebody = bank.person("somebody", roles=[role])
        with bank.scope():
            with pytest.raises(PermissionDenied):
                start_run(actor=somebody)
            with pytest.raises(PermissionDenied):
                cancel_run(run=run, actor=somebody)


@pytest.mark.parametrize(
    "wrong", [{"keys": ["no-such-case"]}, {"repeats": 0}, {"repeats": 11}, {"compared": True}]
)
def test_a_run_that_cannot_be_is_refused(bank, case, wrong):
    case()
    with bank.scope(), pytest.raises(RunRefused):
        start_run(queued=False, **wrong)
