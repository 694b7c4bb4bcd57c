"""Another generator, prompt or reranker writes nobody's answers before it passed the gate."""

import io
import json

import psycopg
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from answers import checks, configurations
from answers.configurations import (
    is_available,
    propose,
    roll_back_configuration,
    serving_configuration,
)
from answers.generation import get_generator
from answers.models import Answer, AnswerConfiguration
from audit.models import AuditRecord
from documents.building import start_generation
from documents.serving import PromotionConflict, PromotionRefused
from documents.tasks import build_generation
from evaluation.gates import Code, adopt, approve_override, ask_override, standing_of
from evaluation.models import EvalRun, GatePass
from evaluation.runs import run_evaluation
from tenants.models import Role
from tests.admin_pages import add_to, filled, list_of, signed_in
from tests.evaluation.conftest import QUESTION

REASON = "Tried by hand for a week in the pilot group."


class Model:
    """Stands for a model behind a server: writes what the bundled one does, or nothing."""

    name = processor = "ollama:another"

    def __init__(self, *, says_nothing=False):
        self.says_nothing, self.asked = says_nothing, []

    def generate(self, *, question, language, evidence):
        self.asked.append(question)
        kept = [] if self.says_nothing else evidence
        return get_generator("extractive").generate(
            question=question, language=language, evidence=kept
        )


@pytest.fixture
def model(monkeypatch, settings):
    """Behind the name `ollama:another`, which the settings say once `settings.GENERATOR` is set."""
    one = Model()

    def found(name, **options):
        return one if name == "ollama:another" else get_generator(name, **options)

    monkeypatch.setattr(configurations, "get_generator", found)
    return one


def test_a_changed_setting_writes_nobodys_answers_until_it_passed_the_gate(
    bank, case, settings, model
):
    case()
    assert bank.ask(case.reader, QUESTION).outcome == "answered"
    settings.GENERATOR = "ollama:another"
    view = bank.ask(case.reader, QUESTION)
    assert (view.answer.generator, model.asked) == ("extractive-3", [])
    with bank.scope():
        first = serving_configuration()
        assert view.answer.configuration_id_used == first.pk
        adopted = adopt()
        assert serving_configuration() == adopted != first
    view = bank.ask(case.reader, QUESTION)
    assert (view.outcome, view.answer.configuration_id_used) == ("answered", adopted.pk)
    assert model.asked[-1] == QUESTION
    with bank.scope():
        assert [p.passed_by for p in GatePass.objects.exclude(configuration=None)] == [
            "run",
            "first",
        ]
        assert AuditRecord.objects.filter(action="configuration.promoted").exists()


def test_a_model_that_fails_the_cases_answers_nobody_unless_two_people_say_so(
    bank, case, settings, model
):
    case()
    bank.ask(case.reader, QUESTION)
    settings.GENERATOR = "ollama:another"
    model.says_nothing = True
    with bank.scope():
        first = serving_configuration()
        with pytest.raises(PromotionRefused, match="too_few_passed"):
            adopt()
        assert serving_configuration() == first
    one, two = (bank.person(name, roles=[Role.TENANT_ADMIN]) for name in ("one", "two"))
    with bank.scope():
        candidate = propose()
        override = ask_override(actor=one, candidate=candidate, reason=REASON)
        approve_override(actor=two, override=override)
        asked = len(model.asked)
        adopt()
        assert serving_configuration() == candidate
        assert len(model.asked) == asked  # what two people decided is not run again
        assert roll_back_configuration() == first
        assert standing_of(candidate).override is None


def test_a_release_with_another_prompt_gives_excerpts_and_asks_no_model_until_approved(
    bank, case, monkeypatch
):
    case()
    bank.ask(case.reader, QUESTION)
    monkeypatch.setattr(configurations, "version_of", lambda name: "extractive-next")
    view = bank.ask(case.reader, QUESTION)
    assert (view.outcome, view.answer.reason) == ("excerpts", "model")
    with bank.scope():
        assert not is_available(serving_configuration())
        permits = view.answer.permits.values_list("processor", flat=True)
        assert "none, instead of extractive" in set(permits)
    admin = signed_in(bank, bank.person("boss", roles=[Role.TENANT_ADMIN]))
    assert "not approved" in admin.get(list_of("evaluation_gateoverride")).content.decode()
    assert "is not approved" in admin.get("/admin/").content.decode()
    with bank.scope():
        adopt()
    assert bank.ask(case.reader, QUESTION).outcome == "answered"


def test_the_system_check_names_tenants_that_have_not_approved_what_is_set(
    bank, case, monkeypatch, settings
):
    bank.ask(case.reader, QUESTION)

    def found():
        warnings = checks.tenants_are_answered_by_what_they_approved(None, ["default"])
        return [one.id for one in warnings if bank.tenant.slug in one.msg]

    assert found() == []
    settings.GENERATOR = "ollama:another"
    assert found() == ["precept.W011"]
    monkeypatch.setattr(configurations, "version_of", lambda name: "extractive-next")
    assert found() == ["precept.W010"]


def test_a_former_configuration_that_this_release_does_not_have_cannot_come_back(
    bank, case, monkeypatch
):
    case()
    bank.ask(case.reader, QUESTION)
    monkeypatch.setattr(configurations, "version_of", lambda name: "extractive-next")
    with bank.scope():
        adopt()
        with pytest.raises(PromotionConflict, match="not what this release has"):
            roll_back_configuration()


def test_raw_sql_of_the_application_does_not_go_round_the_gate(bank, case, settings, database):
    bank.ask(case.reader, QUESTION)
    settings.GENERATOR = "ollama:another"
    with bank.scope():
        propose()
    retire = "UPDATE answers_answerconfiguration SET status = 'retired' WHERE status = 'serving'"
    with psycopg.connect(database["DATABASE_URL"], autocommit=True) as raw:
        raw.execute("SELECT set_config('precept.tenant', %s, false)", [str(bank.tenant.id)])
        for statement in (
            "UPDATE answers_answerconfiguration SET status = 'serving'"
            " WHERE generator = 'ollama:another'",
            "UPDATE answers_answerconfiguration SET generator = 'ollama:another'",
        ):
            with pytest.raises(psycopg.errors.IntegrityConstraintViolation), raw.transaction():
                if "status" in statement:
                    raw.execute(retire)
                raw.execute(statement)
    with bank.scope():
        assert serving_configuration().generator == "extractive"


def test_a_green_run_of_a_generation_counts_with_the_configuration_that_serves_now(
    bank, case, settings, model
):
    case()
    with bank.scope():
        generation = start_generation(name="second")
        build_generation(str(bank.tenant.id), str(generation.pk))
        run_evaluation(generation=generation)
        assert standing_of(generation).blockers == ()
        settings.GENERATOR = "ollama:another"
        adopt()
        assert [one.code for one in standing_of(generation).blockers] == [Code.NO_RUN]


def call(bank, *arguments):
    out = io.StringIO()
    call_command(*arguments, "--tenant", bank.tenant.slug, "--json", stdout=out, stderr=out)
    return json.loads(out.getvalue().splitlines()[-1])


def test_the_command_lists_adopts_and_rolls_back(bank, case, settings, model):
    case()
    bank.ask(case.reader, QUESTION)
    settings.GENERATOR = "ollama:another"
    assert call(bank, "configurations", "propose")["status"] == "candidate"
    name = call(bank, "configurations", "list")[1]["configuration"]
    assert call(bank, "run_evaluation", "--configuration", name)["passed"] == 1
    assert call(bank, "configurations", "adopt")["status"] == "serving"
    assert call(bank, "configurations", "rollback")["configuration"].startswith("extractive")
    with pytest.raises(CommandError, match="No former"):
        call(bank, "configurations", "rollback")
    with bank.scope():
        assert AnswerConfiguration.objects.count() == 2
        assert Answer.objects.filter(purpose="evaluation").exists()


def test_a_candidate_is_chosen_for_a_run_on_the_page_of_runs(bank, case, settings, model):
    case()
    bank.ask(case.reader, QUESTION)
    settings.GENERATOR = "ollama:another"
    with bank.scope():
        candidate = propose()
    client = signed_in(bank, bank.person("boss", roles=[Role.TENANT_ADMIN]))
    page = add_to("evaluation_evalrun")
    form = filled(client.get(page), candidate=str(candidate.pk), times="1")
    assert candidate.name in client.post(page, form, follow=True).content.decode()
    with bank.scope():
        assert EvalRun.objects.get().candidate_configuration == candidate


@pytest.mark.parametrize(("setting", "value"), [("CLAIM_POLICY", "strip"), ("ENTAILMENT", False)])
def test_a_rule_about_claims_is_part_of_what_is_approved(bank, settings, setting, value):
    settings.GENERATOR = "ollama:another"
    with bank.scope():
        approved = configurations.serving_configuration()
        assert configurations.is_available(approved)
        setattr(settings, setting, value)
        assert not configurations.is_available(approved)
