"""The steps of a pilot: timing before it, a leakage run per role, and a report that names its gaps."""

import csv
import io
import json

import pypdf
import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from documents.models import Grant
from evaluation import second_opinion
from evaluation.exchange import FileFormat, import_cases, parse
from evaluation.models import Goal
from evaluation.pilot.leakage import leakage_run, one_of_each_role
from evaluation.pilot.report import pilot_pdf, pilot_report
from evaluation.pilot.sheets import question_sheet, take_timing, timing_sheet
from evaluation.runs import run_evaluation
from tenants.models import Role


def test_the_timing_sheet_that_comes_back_gives_the_baseline(bank):
    rows = list(csv.DictReader(io.StringIO(timing_sheet())))
    assert set(rows[0]) == {"question", "department", "seconds", "found"}
    with bank.scope():
        timing = take_timing(timing_sheet())
        assert (timing.rows, timing.median_seconds, timing.found) == (2, 900.0, 0.5)
        assert Goal.objects.get(measure="answer_seconds").baseline == 900.0


@pytest.mark.parametrize(
    "text",
    ["", "a,b\n1,2\n", timing_sheet() + "q,d,minutes,yes\n", timing_sheet() + "q,d,5,maybe\n"],
)
def test_a_sheet_that_is_not_filled_in_rightly_changes_nothing(bank, text):
    with bank.scope():
        with pytest.raises(ValidationError):
            take_timing(text)
        assert not Goal.objects.exists()


def test_the_question_sheet_is_what_import_takes(bank):
    person = bank.person("somebody")
    bank.document("Leave", readers=[person], reference="HR-2024-003")
    text = question_sheet().replace("somebody@bank.example", person.email)
    with bank.scope():
        [case] = import_cases(rows=parse(text, FileFormat.CSV)).cases
    assert (case.key, case.required_text) == ("carry-over", ["5 days"])


def test_each_role_is_asked_by_somebody_who_has_little_besides(bank, case):
    everything = bank.person("all", roles=[Role.TENANT_ADMIN, Role.REVIEWER, Role.AUDITOR])
    reviewer = bank.person("reviewer", roles=[Role.REVIEWER])
    with bank.scope():
        people = one_of_each_role()
    assert people["reviewer"] == reviewer
    assert people["auditor"] == everything
    assert people["employee"] == case.reader


def test_a_leakage_run_finds_nothing_where_nothing_leaks(bank, case):
    case()
    bank.person("reviewer", roles=[Role.REVIEWER])
    with bank.scope():
        leakage = leakage_run()
    assert leakage.is_clean
    assert leakage.violations == {"employee": 0, "reviewer": 0}


def test_a_leakage_run_finds_what_reached_somebody_without_a_grant(bank, case, monkeypatch, capsys):
    """The grant goes between the answer and the judgement, as if it had never been there."""
    case()
    real = second_opinion.not_permitted

    def after_the_grant_is_gone(**what):
        Grant.objects.all().delete()
        return real(**what)

    monkeypatch.setattr("evaluation.runs.one_case.not_permitted", after_the_grant_is_gone)
    with pytest.raises(SystemExit):
        call_command("pilot", "leakage", "--tenant", bank.tenant.slug, "--json")
    assert json.loads(capsys.readouterr().out)["violations"] == {"employee": 1}


def test_the_report_names_what_is_missing(bank, case):
    case()
    with bank.scope():
        before = pilot_report()
        run_evaluation()
        leakage_run()
        after = pilot_report()
        words = "".join(
            page.extract_text() for page in pypdf.PdfReader(io.BytesIO(pilot_pdf(after))).pages
        )
    assert "No leakage run per role was made." in before.gaps
    assert "No run of all cases finished." in before.gaps
    assert "No leakage run per role was made." not in after.gaps
    assert "No run of all cases finished." not in after.gaps
    assert "1 active cases; the first set has 50." in after.gaps
    assert "no baseline" in words
    assert "25 days" not in words


def test_steps_are_commands(bank, case, tmp_path, capsys):
    slug = bank.tenant.slug
    sheet, report = tmp_path / "timing.csv", tmp_path / "pilot.pdf"
    call_command("pilot", "timing-sheet", str(sheet), "--tenant", slug)
    call_command("pilot", "timing", str(sheet), "--tenant", slug)
    call_command("pilot", "audit", "--tenant", slug)
    capsys.readouterr()
    call_command("pilot", "report", str(report), "--tenant", slug, "--json")
    assert json.loads(capsys.readouterr().out)["gaps"]
    assert report.read_bytes().startswith(b"%PDF")
    with pytest.raises(CommandError, match="Name a file"):
        call_command("pilot", "report", "--tenant", slug)
