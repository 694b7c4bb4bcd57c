"""From an employee's "outdated" to a case that fails, asks for review, and passes with a new version."""

from __future__ import annotations

import pypdf
import pytest
from playwright.sync_api import expect

from evaluation.models import EvalCase, EvalRun, PersonaDiff
from evaluation.tasks import ask_personas, carry_out_run
from tenants.models import Role
from tests.bank import Bank

pytestmark = pytest.mark.browser
OLD = "Travel policy\nHotel costs are reimbursed up to 120 euro a night."
NEW = "Travel policy\nHotel costs are reimbursed up to 150 euro a night."
QUESTION = "Up to how much are hotel costs reimbursed?"


def run_all(bank: Bank, reviewer) -> None:
    """Start a run on its page, let the worker carry it out, and open it."""
    reviewer.open("/admin/evaluation/evalrun/add/")
    reviewer.page.get_by_role("button", name="Start a run").click()
    expect(reviewer.page.get_by_text("The run was started")).to_be_visible()
    with bank.scope():
        run = EvalRun.objects.first()
    carry_out_run(str(bank.tenant.id), str(run.pk))
    reviewer.open(f"/admin/evaluation/evalrun/{run.pk}/change/")
    expect(reviewer.page.get_by_role("heading", name="What was measured")).to_be_visible()


def passed(reviewer) -> str:
    row = reviewer.page.get_by_role("row").filter(has_text="Cases passed").first
    return row.inner_text().split("\t")[-1].strip()


def test_an_outdated_answer_becomes_a_case_that_a_new_version_makes_pass(bank, visit):
    employee = bank.person("Emma")
    judge = bank.person("Rita", roles=[Role.REVIEWER])
    document = bank.document("Travel policy", [OLD], readers=[employee, judge])

    emma = visit().sign_in(employee)
    expect(emma.ask(QUESTION)).to_contain_text("120 euro")
    emma.page.get_by_text("No", exact=True).click()
    emma.page.get_by_label("Why not?").select_option(label="It is outdated")
    emma.page.get_by_role("button", name="Send").click()
    expect(emma.page.get_by_text("A reviewer will look")).to_be_visible()

    rita = visit().sign_in(judge)
    rita.open("/admin/answers/reviewitem/?state__exact=open")
    rita.page.locator("#result_list tbody th a").first.click()
    rita.page.get_by_role("link", name="Judge it").click()
    rita.page.get_by_label("Citation 1").select_option(label="Supports the sentence")
    rita.page.get_by_label("Yes").check()
    rita.page.get_by_label("What is wrong").select_option(label="The document is outdated")
    rita.page.get_by_label("Make a case of it").check()
    rita.page.get_by_label("Name of the case").fill("hotel-limit")
    rita.page.get_by_label("Must say, one piece a line").fill("150 euro")
    assert rita.accessibility_faults() == []
    rita.page.get_by_role("button", name="Judge and close").click()
    expect(rita.page.get_by_text("was made as a draft")).to_be_visible()

    with bank.scope():
        case = EvalCase.objects.get()
    rita.open(f"/admin/evaluation/evalcase/{case.pk}/change/")
    rita.page.get_by_role("button", name="Mark as reviewed").click()
    rita.page.get_by_role("button", name="Make active").click()
    run_all(bank, rita)
    assert passed(rita) == "0.0%"

    bank.new_version(document, [NEW])
    rita.open(f"/admin/evaluation/evalcase/{case.pk}/change/")
    expect(rita.page.get_by_text("It asks for review")).to_be_visible()
    rita.page.get_by_role("button", name="It holds: make it active").click()
    run_all(bank, rita)
    assert passed(rita) == "100.0%"

    rita.open("/admin/evaluation/goal/")
    card = rita.page.get_by_role("region", name="Evaluation cases passed")
    expect(card).to_contain_text("50.0%")  # both runs of this week, one result each
    expect(card.get_by_role("img")).to_be_visible()
    assert rita.accessibility_faults() == []
    card.get_by_text("The numbers").click()
    card.get_by_role("link", name="50.0%").click()
    expect(rita.page.locator("#result_list tbody tr")).to_have_count(2)

    rita.open("/admin/evaluation/personadiff/add/")
    rita.page.get_by_label("Title").fill("Hotels")
    rita.page.get_by_label("Questions").fill(QUESTION)
    rita.page.get_by_label("Asked as").select_option([str(employee.pk), str(judge.pk)])
    rita.page.get_by_role("button", name="Ask", exact=True).click()
    expect(rita.page.get_by_text("asked in the background")).to_be_visible()
    with bank.scope():
        diff = PersonaDiff.objects.get()
    ask_personas(str(bank.tenant.id), str(diff.pk))
    rita.open(f"/admin/evaluation/personadiff/{diff.pk}/change/")
    expect(rita.page.get_by_role("region", name="Who gets what")).to_contain_text("150 euro")
    with rita.page.expect_download() as download:
        rita.page.get_by_role("link", name="As PDF").click()
    pages = pypdf.PdfReader(download.value.path()).pages
    assert "150 euro" in " ".join(pages[0].extract_text().split())
