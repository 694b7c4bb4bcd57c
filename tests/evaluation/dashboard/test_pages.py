"""The dashboard's pages: goals, drill-down, files, and questions that only their readers' reviewers see."""

import csv
import io

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from documents import services as documents
from evaluation.dashboard.goals import set_goal
from evaluation.dashboard.repeated import repeated_questions
from evaluation.dashboard.weekly import mondays
from evaluation.models import Goal
from evaluation.models.goal import PilotMeasure
from evaluation.runs import run_evaluation
from tenants.models import Role
from tests.admin_pages import add_to, filled, list_of, signed_in

THIS_WEEK = mondays(weeks=1)[0]
SECRET = "cormorant"


@pytest.fixture
def people(bank):
    return {
        role: bank.person(str(role), roles=[role])
        for role in (Role.TENANT_ADMIN, Role.REVIEWER, Role.AUDITOR)
    }


def test_the_dashboard_shows_both_runs_and_leads_to_the_rows_behind_a_number(bank, case, people):
    case()
    with bank.scope():
        run_evaluation()
        run_evaluation()
    client = signed_in(bank, people[Role.REVIEWER])
    page = client.get(list_of("evaluation_goal")).content.decode()
    assert "Evaluation cases passed" in page
    assert "100.0%" in page
    assert "<svg" in page
    assert "style=" not in page.split("dashboard")[2]
    links = [part.split('"')[0] for part in page.split('href="')[1:] if "finished_at__gte" in part]
    assert links
    behind = client.get(links[0].replace("&amp;", "&"))
    assert behind.status_code == 200
    assert len(behind.context["cl"].result_list) == 2


def test_an_administrator_sets_a_goal_and_a_baseline_can_be_measured(bank, case, people):
    case()
    with bank.scope():
        run_evaluation()
    client = signed_in(bank, people[Role.TENANT_ADMIN])
    form = client.get(add_to("evaluation_goal"))
    client.post(
        add_to("evaluation_goal"),
        filled(form, measure="pass_rate", target="0.9", measure_baseline="on"),
    )
    with bank.scope():
        goal = Goal.objects.get()
    assert (goal.baseline, goal.is_measured, goal.target) == (1.0, True, 0.9)
    page = client.get(list_of("evaluation_goal")).content.decode()
    assert "(measured)" in page
    assert "90.0%" in page


def test_goals_are_set_by_administrators_within_reason(bank, people):
    with bank.scope():
        with pytest.raises(PermissionDenied):
            set_goal(
                measure=PilotMeasure.HELPFUL,
                baseline=0.5,
                target=None,
                actor=people[Role.REVIEWER],
            )
        with pytest.raises(ValidationError, match="from 0 to 1"):
            set_goal(measure=PilotMeasure.HELPFUL, baseline=50, target=None)
        with pytest.raises(ValidationError, match="nothing measured"):
            set_goal(
                measure=PilotMeasure.HELPFUL, baseline=None, target=None, measure_baseline=True
            )
        set_goal(measure=PilotMeasure.ANSWER_SECONDS, baseline=50, target=10)


def test_the_numbers_are_downloaded_as_csv(bank, people):
    client = signed_in(bank, people[Role.AUDITOR])
    answer = client.get(list_of("evaluation_goal") + "export.csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert {row["measure"] for row in rows} == set(PilotMeasure.values)
    assert len(rows) == 52 * len(PilotMeasure)


@pytest.fixture
def asked(bank):
    """Two people ask about a secret document that both may read, in other words."""
    readers = [bank.person("one"), bank.person("two")]
    document = bank.document("Vault", f"The access code of the vault is {SECRET}.", readers=readers)
    questions = [
        f"What is the access code of the {SECRET} vault?",
        f"What is the access code of the {SECRET} vault",
        f"what's the {SECRET} vault access code?",
    ]
    for number, question in enumerate(questions):
        bank.ask(readers[number % 2], question)
    return document


def test_questions_that_mean_the_same_are_one_group(bank, asked, people):
    with bank.scope():
        documents.grant_access(actor=None, document=asked, subject=people[Role.REVIEWER])
        [group] = repeated_questions(viewer=people[Role.REVIEWER], monday=THIS_WEEK)
    assert (group.times, group.people) == (3, 2)


def test_a_question_about_what_one_may_not_read_is_in_no_group_and_no_count(bank, asked, people):
    for person in people.values():
        with bank.scope():
            assert repeated_questions(viewer=person, monday=THIS_WEEK) == []
        client = signed_in(bank, person)
        for address in (list_of("evaluation_goal"), list_of("evaluation_goal") + "export.csv"):
            assert SECRET not in client.get(address).content.decode()


def test_only_reviewers_see_questions(bank, asked, people):
    admin = people[Role.TENANT_ADMIN]
    with bank.scope():
        documents.grant_access(actor=None, document=asked, subject=admin)
        assert repeated_questions(viewer=admin, monday=THIS_WEEK) == []
