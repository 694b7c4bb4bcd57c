"""Nothing begins to serve without a green run or two people's word, whoever makes it begin."""

import io
import json
import threading
import uuid
from datetime import timedelta

import psycopg
import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, connection
from django.utils import timezone

from audit.models import AuditRecord
from documents import reindexing
from documents.building import start_generation
from documents.generations import serving_generation
from documents.models import IndexGeneration
from documents.reindexing import promote, roll_back
from documents.retrieval.ranking import Ranking
from documents.serving import PromotionRefused
from documents.tasks import build_generation
from evaluation.cases import create_case
from evaluation.gates import approve_override, ask_override, set_least_pass_rate, standing_of
from evaluation.models import CaseState, EvalCase, EvalResult, GateOverride, GatePass
from evaluation.runs import run_evaluation
from tenants.models import Role

QUESTION = "How many days of annual leave do I have?"
REASON = "The cases about leave are being rewritten this week."


@pytest.fixture
def candidate(bank):
    """A built generation beside the serving one, and one active case that it passes."""
    reader = bank.person("reader")
    bank.document("Annual leave", readers=[reader])
    with bank.scope():
        _case(reader)
        generation = start_generation(name="second", chunking="sections-1")
    build_generation(str(bank.tenant.id), str(generation.pk))
    with bank.scope():
        generation.refresh_from_db()
    generation.reader = reader
    return generation


def _case(reader, **fields):
    defaults = {
        "key": f"case-{uuid.uuid4().hex[:6]}",
        "question": QUESTION,
        "as_user": reader,
        "expected_outcome": "answered",
        "kind": "number",
        "required_text": ["25 days"],
        "state": CaseState.ACTIVE,
    }
    return create_case(**(defaults | fields))


def codes(generation) -> list[str]:
    return [str(blocker.code) for blocker in standing_of(generation).blockers]


def refused(generation) -> str:
    with pytest.raises(PromotionRefused) as error:
        promote(generation=generation)
    assert serving_generation().name == "first"
    return str(error.value)


def passes() -> list[GatePass]:
    return list(GatePass.objects.exclude(generation=None))


def overriders(bank):
    return [bank.person(name, roles=[Role.TENANT_ADMIN]) for name in ("one", "two")]


# --- A green run ----------------------------------------------------------------------------------


def test_a_green_run_of_all_active_cases_lets_it_serve_and_the_pass_says_so(bank, candidate):
    with bank.scope():
        assert "no_run" in refused(candidate)
        run = run_evaluation(generation=candidate)
        assert codes(candidate) == []
        promote(generation=candidate)
        assert serving_generation().pk == candidate.pk
        assert [(p.generation.name, p.passed_by) for p in passes()] == [
            ("second", "run"),
            ("first", "first"),
        ]
        assert passes()[0].run_id == run.pk


def test_a_run_through_what_serves_says_nothing_about_the_candidate(bank, candidate):
    with bank.scope():
        run_evaluation()
        assert "no_run" in refused(candidate)


def test_a_run_of_some_cases_is_not_enough(bank, candidate):
    with bank.scope():
        other = _case(candidate.reader)
        run_evaluation(generation=candidate, keys=[other.key])
        assert "no_run" in refused(candidate)


def test_a_run_that_did_not_finish_is_not_enough(bank, candidate):
    with bank.scope():
        run = run_evaluation(generation=candidate)
        type(run).objects.update(state="cancelled")
        assert "no_run" in refused(candidate)


def test_a_run_before_it_was_built_says_nothing(bank, candidate):
    with bank.scope():
        run = run_evaluation(generation=candidate)
        before = candidate.validated_at - timedelta(seconds=1)
        type(run).objects.update(started_at=before)
        assert "no_run" in refused(candidate)


def test_a_violation_in_a_run_of_one_case_counts_too(bank, candidate):
    with bank.scope():
        run_evaluation(generation=candidate)
        key = EvalCase.objects.get().key
        partial = run_evaluation(generation=candidate, keys=[key])
        type(partial).objects.filter(pk=partial.pk).update(state="cancelled")
        EvalResult.objects.filter(run=partial).update(violations=["document X"])
        assert "violations" in refused(candidate)


def test_fewer_passed_cases_than_the_tenant_demands_block(bank, candidate):
    with bank.scope():
        _case(candidate.reader, required_text=["30 days"])
        run_evaluation(generation=candidate)
        assert "too_few_passed" in refused(candidate)
        set_least_pass_rate(rate=0.5, reason="A pilot with few cases.")
        promote(generation=candidate)
        [changed] = AuditRecord.objects.filter(action="gate.policy_changed")
        assert changed.facts["former"] == 0.9


def test_a_candidate_that_does_no_worse_than_what_serves_is_not_held_to_more(bank, candidate):
    """Else an index in need of improvement could never be improved."""
    with bank.scope():
        _case(candidate.reader, required_text=["30 days"])
        run_evaluation(generation=candidate)
        assert codes(candidate) == ["too_few_passed"]
        run_evaluation()
        assert codes(candidate) == []
        promote(generation=candidate)


def test_a_candidate_that_passes_less_than_what_serves_is_blocked(bank, candidate):
    with bank.scope():
        set_least_pass_rate(rate=0.5, reason="A pilot with few cases.")
        _case(candidate.reader)
        run_evaluation()
        run = run_evaluation(generation=candidate)
        EvalResult.objects.filter(pk=run.results.first().pk).update(passed=False)
        assert "worse_than_serving" in refused(candidate)


def test_without_an_active_case_there_is_nothing_to_hold_it_to(bank, candidate):
    with bank.scope():
        EvalCase.objects.update(state=CaseState.DRAFT)
        run_evaluation(generation=candidate)
        assert "no_cases" in refused(candidate)


def test_a_quote_that_no_source_has_blocks(bank, candidate):
    with bank.scope():
        run = run_evaluation(generation=candidate)
        EvalResult.objects.filter(run=run).update(not_verbatim=1)
        assert "quotes" in refused(candidate)


# --- Cases that move ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE evaluation_evalcase SET question = 'What?' WHERE tenant_id = %s",
        "UPDATE evaluation_evalcase SET state = 'draft' WHERE tenant_id = %s AND key = 'extra'",
        "UPDATE evaluation_evalcase SET question = 'What?', changed_at = '2001-01-01'"
        " WHERE tenant_id = %s",
    ],
)
def test_a_case_that_changed_after_the_run_takes_its_worth_also_by_raw_sql(
    bank, candidate, raw_sql, change
):
    with bank.scope():
        if "extra" in change:
            _case(candidate.reader, key="extra")
        run_evaluation(generation=candidate)
    raw_sql.execute(change, [bank.tenant.id])
    with bank.scope():
        if "extra" in change:
            assert codes(candidate) == ["cases_changed"] or "cases_changed" in codes(candidate)
        assert "cases_changed" in refused(candidate)
        run_evaluation(generation=candidate)
        assert "cases_changed" not in codes(candidate)


def test_a_case_that_needs_review_at_the_last_moment_stops_the_switch(
    bank, candidate, raw_sql, monkeypatch
):
    """Everything was green when it was looked at; the database looks again."""
    switch = reindexing._switch

    def meanwhile(generation, action):
        raw_sql.execute(
            "UPDATE evaluation_evalcase SET state = 'needs_review' WHERE tenant_id = %s",
            [bank.tenant.id],
        )
        return switch(generation, action)

    with bank.scope():
        run_evaluation(generation=candidate)
        assert codes(candidate) == []
        monkeypatch.setattr(reindexing, "_switch", meanwhile)
        assert "cases_need_review" in refused(candidate)


# --- Raw SQL --------------------------------------------------------------------------------------


@pytest.fixture
def as_application(bank, database):
    """The application's role, in the tenant's scope, with no help from Python."""
    with psycopg.connect(database["DATABASE_URL"], autocommit=True) as raw:
        raw.execute("SELECT set_config('precept.tenant', %s, false)", [str(bank.tenant.id)])
        yield raw


RETIRE = "UPDATE documents_indexgeneration SET status = 'retired' WHERE status = 'serving'"
SERVE = "UPDATE documents_indexgeneration SET status = 'serving' WHERE name = 'second'"


@pytest.mark.parametrize(
    "statements",
    [
        [RETIRE, SERVE],
        # Pretending that it served before, or that nothing did.
        [
            "UPDATE documents_indexgeneration SET status = 'retired', retired_at = now()"
            " WHERE name = 'second'",
            RETIRE,
            SERVE,
        ],
        [
            "UPDATE documents_indexgeneration SET took_over_from_id ="
            " (SELECT id FROM documents_indexgeneration WHERE name = 'second')"
            " WHERE name = 'first'",
            RETIRE,
            SERVE,
        ],
        [RETIRE, "UPDATE documents_indexgeneration SET retired_at = NULL", SERVE],
        [RETIRE, "DELETE FROM documents_indexgeneration WHERE name = 'first'", SERVE],
        # Making the serving one into another.
        ["UPDATE documents_indexgeneration SET ranking = '{}' WHERE name = 'first'"],
        ["UPDATE documents_indexgeneration SET chunking = 'sections-1' WHERE name = 'first'"],
        # A new row that serves at once.
        [
            RETIRE,
            "INSERT INTO documents_indexgeneration (id, tenant_id, name, chunking, tokeniser,"
            " embedder, embedder_version, dims, ranking, status, created_at, attempts,"
            " failure_reason, progress_done, progress_total, passages_embedded, seconds_spent)"
            " SELECT gen_random_uuid(), tenant_id, 'third', chunking, tokeniser, embedder,"
            " embedder_version, dims, ranking, 'serving', now(), 0, '', 0, 0, 0, 0"
            " FROM documents_indexgeneration WHERE name = 'second'",
        ],
    ],
)
def test_raw_sql_of_the_application_does_not_go_round_the_gate(
    bank, candidate, as_application, statements
):
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation), as_application.transaction():
        for statement in statements:
            as_application.execute(statement)
    with bank.scope():
        assert serving_generation().name == "first"


def test_an_override_in_one_statement_or_by_one_person_is_refused_by_the_database(
    bank, candidate, as_application
):
    one, two = overriders(bank)
    insert = (
        "INSERT INTO evaluation_gateoverride (id, tenant_id, generation_id, waives, reason,"
        " asked_by_id, asked_at, approved_by_id, approved_at)"
        " VALUES (%s, %s, %s, '{no_run}', %s, %s, now(), %s, %s)"
    )
    key, now = uuid.uuid4(), timezone.now()
    head = [key, bank.tenant.id, candidate.pk, REASON, one.pk]
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
        as_application.execute(insert, [*head, two.pk, now])
    with pytest.raises(psycopg.errors.CheckViolation):
        as_application.execute(insert, [*head[:3], "short", one.pk, None, None])
    as_application.execute(insert, [*head, None, None])
    approve = "UPDATE evaluation_gateoverride SET approved_by_id = %s WHERE id = %s"
    with pytest.raises(psycopg.errors.CheckViolation):
        as_application.execute(approve, [one.pk, key])
    for change in (
        "UPDATE evaluation_gateoverride SET asked_by_id = %s WHERE id = %s",
        "UPDATE evaluation_gateoverride SET waives = '{violations}', approved_by_id = %s"
        " WHERE id = %s",
    ):
        with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
            as_application.execute(change, [two.pk, key])
    as_application.execute(approve, [two.pk, key])
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
        as_application.execute(approve, [two.pk, key])
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
        as_application.execute("DELETE FROM evaluation_gateoverride WHERE id = %s", [key])


# --- Two people -----------------------------------------------------------------------------------


def test_two_people_let_it_serve_and_both_are_on_record(bank, candidate):
    one, two = overriders(bank)
    with bank.scope():
        override = ask_override(actor=one, candidate=candidate, reason=REASON)
        assert "no_run" in refused(candidate)
        with pytest.raises(ValidationError, match="somebody else"):
            approve_override(actor=one, override=override)
        approve_override(actor=two, override=override)
        assert standing_of(candidate).override == override
        promote(generation=candidate)
        records = AuditRecord.objects.filter(action__startswith="gate.").order_by("seq")
        assert list(records.values_list("action", "actor")) == [
            ("gate.override_asked", one.pk),
            ("gate.override_approved", two.pk),
        ]
        assert passes()[0].override_id == override.pk


def test_one_person_who_approves_twice_at_once_stays_one_person(bank, candidate):
    """Also past the service's own question: the constraint is what holds."""
    one, _ = overriders(bank)
    failures = []
    with bank.scope():
        overrides = [ask_override(actor=one, candidate=candidate, reason=REASON) for _ in "ab"]
    barrier = threading.Barrier(2)

    def approve(override):
        try:
            with bank.scope():
                barrier.wait()
                GateOverride.objects.filter(pk=override.pk).update(approved_by=one)
        except IntegrityError as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=approve, args=(one_of,)) for one_of in overrides]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(failures) == 2
    with bank.scope():
        assert "no_run" in refused(candidate)


def test_two_who_approve_at_once_are_one_approval(bank, candidate):
    one, two = overriders(bank)
    three = bank.person("three", roles=[Role.REVIEWER])
    with bank.scope():
        override = ask_override(actor=one, candidate=candidate, reason=REASON)
    said, barrier = [], threading.Barrier(2)

    def approve(actor):
        try:
            with bank.scope():
                barrier.wait()
                approve_override(actor=actor, override=GateOverride.objects.get(pk=override.pk))
        except ValidationError as error:
            said.extend(error.messages)
        finally:
            connection.close()

    threads = [threading.Thread(target=approve, args=(person,)) for person in (two, three)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == ["Somebody else has approved this already."]
    with bank.scope():
        assert AuditRecord.objects.filter(action="gate.override_approved").count() == 1


def test_an_override_covers_what_stood_there_and_nothing_that_turns_up_later(bank, candidate):
    one, two = overriders(bank)
    with bank.scope():
        override = ask_override(actor=one, candidate=candidate, reason=REASON)
        approve_override(actor=two, override=override)
        EvalCase.objects.update(state=CaseState.NEEDS_REVIEW)
        assert "cases_need_review" in refused(candidate)


def test_a_leak_is_overridden_by_nobody(bank, candidate):
    one, two = overriders(bank)
    with bank.scope():
        override = ask_override(actor=one, candidate=candidate, reason=REASON)
        approve_override(actor=two, override=override)
        run_evaluation(generation=candidate)
        EvalResult.objects.update(violations=["document X was not permitted"], passed=False)
        with pytest.raises(ValidationError, match="Nobody"):
            ask_override(actor=one, candidate=candidate, reason=REASON)
        assert "violations" in refused(candidate)
        GateOverride.objects.bulk_create(
            [
                GateOverride(
                    generation=candidate,
                    waives=["violations", "too_few_passed"],
                    reason=REASON,
                    asked_by=one,
                )
            ]
        )
        GateOverride.objects.filter(approved_at=None).update(approved_by=two)
        assert "violations" in refused(candidate)


def test_an_override_is_good_for_a_week(bank, candidate, raw_sql):
    one, two = overriders(bank)
    with bank.scope():
        approve_override(
            actor=two, override=ask_override(actor=one, candidate=candidate, reason=REASON)
        )
    raw_sql.execute("SET session_replication_role = replica")  # as time would, past the triggers
    raw_sql.execute(
        "UPDATE evaluation_gateoverride SET approved_at = now() - interval '8 days'"
        " WHERE tenant_id = %s",
        [bank.tenant.id],
    )
    with bank.scope():
        assert "no_run" in refused(candidate)


def test_employees_and_auditors_override_nothing(bank, candidate):
    with bank.scope():
        for person in (candidate.reader, bank.person("auditor", roles=[Role.AUDITOR])):
            with pytest.raises(PermissionDenied):
                ask_override(actor=person, candidate=candidate, reason=REASON)


# --- Rolling back, and the first ------------------------------------------------------------------


def test_rolling_back_asks_nobody_and_the_one_taken_back_starts_afresh(bank, candidate):
    with bank.scope():
        run_evaluation(generation=candidate)
        promote(generation=candidate)
        EvalCase.objects.update(state=CaseState.NEEDS_REVIEW)
        former = standing_of(IndexGeneration.objects.get(name="first"))
        assert (former.may_return, former.may_serve) == (True, True)
        assert roll_back().name == "first"
        assert not standing_of(candidate).may_return
        EvalCase.objects.update(state=CaseState.ACTIVE)
        assert "no_run" in refused(candidate)
        assert [p.passed_by for p in passes()] == ["return", "run", "first"]


def test_rolling_back_goes_past_a_generation_that_was_reclaimed(bank, candidate):
    with bank.scope():
        run_evaluation(generation=candidate)
        promote(generation=candidate)
        third = start_generation(name="third")
        build_generation(str(bank.tenant.id), str(third.pk))
        run_evaluation(generation=third)
        promote(generation=third)
        reindexing.retire(generation=candidate)
        assert roll_back().name == "first"


def test_the_first_generation_of_a_tenant_needs_nothing(bank):
    with bank.scope():
        assert serving_generation().status == "serving"
        [passed] = passes()
        assert passed.passed_by == "first"


def test_reindexing_a_tenant_that_nothing_serves_yet_needs_nothing(bank):
    with bank.scope():
        generation = reindexing.build_beside(name="own")
        promote(generation=generation)
        assert IndexGeneration.objects.get().name == "own"


# --- Commands -------------------------------------------------------------------------------------


def call(bank, command, *arguments) -> dict:
    out = io.StringIO()
    call_command(
        command,
        *arguments,
        "--tenant",
        bank.tenant.slug,
        "--json",
        stdout=out,
        stderr=io.StringIO(),
    )
    return json.loads(out.getvalue())


def test_reindexing_builds_runs_the_cases_and_serves_in_one_command(bank, candidate, monkeypatch):
    with bank.scope():
        _case(candidate.reader, required_text=["30 days"])
    done = call(bank, "reindex", "--generation", "third")
    assert (done["generation"], done["status"]) == ("third", "serving")
    real = reindexing.create_generation
    poor = Ranking(rerank={"threshold": 2.0})
    monkeypatch.setattr(reindexing, "create_generation", lambda **some: real(**some, ranking=poor))
    with pytest.raises(CommandError, match="too_few_passed, worse_than_serving"):
        call(bank, "reindex", "--generation", "fourth")


def test_the_command_says_what_stands_against_a_candidate_and_what_to_do(bank, candidate):
    shown = call(bank, "gates")
    assert [one["name"] for one in shown["candidates"]] == ["second"]
    [blocker] = shown["candidates"][0]["blockers"]
    assert blocker["code"] == "no_run"
    assert 'run_evaluation --generation "second"' in blocker["next"]
    with pytest.raises(SystemExit):
        call(bank, "gates", "second")
    changed = call(bank, "gates", "--pass-rate", "0.8", "--reason", "Agreed with compliance.")
    assert changed["passRate"] == 0.8
    for wrong in (["--pass-rate", "0.8"], ["--pass-rate", "0.4", "--reason", "x"]):
        with pytest.raises(CommandError):
            call(bank, "gates", *wrong)
