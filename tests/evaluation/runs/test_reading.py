"""Runs on pages, by API, by command and as files: figures for reviewers, and no words of documents."""

import csv
import io
import json
from xml.etree import ElementTree as Xml

import pytest
from django.core.management import call_command
from django.test import Client

from evaluation.models import EvalRun, RunState
from evaluation.runs import run_evaluation
from tenants import services as people
from tenants.models import Role
from tests.admin_pages import add_to, filled, list_of, page_of, signed_in

SECRET = "cormorant"


@pytest.fixture
def reviewer(bank):
    return bank.person("reviewer", roles=[Role.REVIEWER])


@pytest.fixture
def run(bank, case):
    """Two cases: one passes, one fails for want of a secret word."""
    case()
    case(key="case-secret", required_text=[SECRET], forbidden_text=["25 days"])
    with bank.scope():
        return run_evaluation()


def test_a_page_shows_what_was_measured_and_why_cases_failed_without_their_words(
    bank, run, reviewer
):
    client = signed_in(bank, reviewer)
    page = client.get(page_of(run)).content.decode()
    assert "50.0%" in page
    assert "does not say what is required" in page
    assert "says what it must not" in page
    assert "1 of 2" in client.get(list_of("evaluation_evalrun")).content.decode()


def test_no_word_that_a_case_wants_leaves_a_run_by_any_way(bank, run, reviewer):
    client = signed_in(bank, reviewer)
    with bank.scope():
        _, token = people.issue_token(user=reviewer, uses=["evaluate"])
    program = Client(headers={"authorization": f"Bearer {token}"})
    base = page_of(run).replace("change/", "")
    for answer in (
        client.get(page_of(run)),
        client.get(page_of(run), {"by": "person"}),
        client.get(f"{base}results.csv"),
        client.get(f"{base}results.xml"),
        program.get(f"/v1/evaluation/runs/{run.pk}"),
        program.get("/v1/evaluation/runs"),
    ):
        assert answer.status_code == 200
        assert SECRET not in answer.content.decode()
        assert "25 days" not in answer.content.decode()


def test_results_are_read_by_spreadsheets_and_by_continuous_integration(bank, run, reviewer):
    client = signed_in(bank, reviewer)
    base = page_of(run).replace("change/", "")
    rows = list(csv.DictReader(io.StringIO(client.get(f"{base}results.csv").content.decode())))
    assert [(row["case"], row["passed"]) for row in rows] == [("case-0", "1"), ("case-secret", "0")]
    suite = Xml.fromstring(client.get(f"{base}results.xml").content)
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")


def test_a_reviewer_starts_a_run_and_cancels_it(bank, case, reviewer):
    case()
    client = signed_in(bank, reviewer)
    form = client.get(add_to("evaluation_evalrun"))
    answer = client.post(add_to("evaluation_evalrun"), filled(form), follow=True)
    assert "The run was started" in answer.content.decode()
    assert "refresh" in answer.content.decode()
    with bank.scope():
        run = EvalRun.objects.get()
    assert run.state == RunState.QUEUED
    client.post(page_of(run).replace("change/", "cancel/"))
    with bank.scope():
        assert EvalRun.objects.get().cancel_requested


def test_a_program_starts_a_run_watches_and_cancels_it(bank, case, reviewer):
    case()
    with bank.scope():
        _, token = people.issue_token(user=reviewer, uses=["evaluate"])
        _, other = people.issue_token(user=reviewer, uses=["ask"])
    program = Client(headers={"authorization": f"Bearer {token}"})
    started = program.post("/v1/evaluation/runs", {"repeats": 2}, content_type="application/json")
    assert (started.status_code, started.json()["total"]) == (202, 2)
    address = f"/v1/evaluation/runs/{started.json()['runId']}"
    assert program.get(address).json()["state"] == "queued"
    assert program.post(f"{address}/cancel").status_code == 200
    refused = program.post(
        "/v1/evaluation/runs", {"cases": ["nothing"]}, content_type="application/json"
    )
    assert refused.status_code == 400
    assert Client(headers={"authorization": f"Bearer {other}"}).get(address).status_code == 403


def test_the_command_fails_with_the_cases_and_writes_junit(bank, case, tmp_path, capsys):
    case()
    case(key="case-wrong", required_text=["30 days"])
    file = tmp_path / "results.xml"
    with pytest.raises(SystemExit):
        call_command("run_evaluation", "--tenant", bank.tenant.slug, "--json", "--junit", str(file))
    told = json.loads(capsys.readouterr().out)
    assert (told["cases"], told["passed"], told["failed"], told["violations"]) == (2, 1, 1, 0)
    assert [failure["case"] for failure in told["failures"]] == ["case-wrong"]
    assert Xml.parse(file).getroot().get("failures") == "1"
    call_command(
        "run_evaluation", "--tenant", bank.tenant.slug, "--case", "case-0", "--repeat", "2"
    )
