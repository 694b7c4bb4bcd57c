"""The weekly report: numbers only, the same whenever it is made, sent, and signed once."""

import hashlib
import io
import json
from datetime import date, timedelta

import pypdf
import pytest
from django.core import mail
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import call_command
from django.db import IntegrityError

from answers.sampling import last_week, week_of
from evaluation.models import WeeklyReport
from evaluation.reports.weekly import (
    make_report,
    make_reports_everywhere,
    report_pdf,
    send_report,
    sign_report,
)
from evaluation.runs import run_evaluation
from tenants.models import Role
from tests.admin_pages import list_of, page_of, signed_in

THIS_WEEK = week_of(date.today())


@pytest.fixture
def auditor(bank):
    return bank.person("auditor", roles=[Role.AUDITOR])


@pytest.fixture
def report(bank, case):
    case()
    with bank.scope():
        run_evaluation()
        bank.ask(case.reader, "How many days of annual leave do I have?")
        return make_report(monday=THIS_WEEK)


def text_of(pdf: bytes) -> str:
    return " ".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(pdf)).pages)


def test_a_report_holds_the_week_s_numbers_and_no_words_of_anybody(bank, report):
    words = text_of(report_pdf(report))
    assert "Evaluation cases passed" in words
    assert "100.0%" in words
    for secret in ("25 days", "annual leave", "Annual leave", "reader"):
        assert secret not in words
        assert secret not in json.dumps(report.numbers)


def test_it_is_the_same_whenever_it_is_made_and_stays(bank, report, case):
    assert hashlib.sha256(report_pdf(report)).hexdigest() == report.digest
    with bank.scope():
        case(key="another")
        assert make_report(monday=THIS_WEEK).pk == report.pk
        with pytest.raises(IntegrityError):
            WeeklyReport.objects.update(numbers={})
        with pytest.raises(ValidationError, match="Monday"):
            make_report(monday=THIS_WEEK + timedelta(days=1))


def test_it_is_sent_to_each_who_may_sign_it_alone(bank, report, auditor, settings):
    settings.EMAIL_IS_ON = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    admin = bank.person("admin", roles=[Role.TENANT_ADMIN])
    bank.person("reviewer", roles=[Role.REVIEWER])
    mail.outbox = []
    with bank.scope():
        assert send_report(report=report) == 2
    assert sorted(message.to for message in mail.outbox) == sorted([[admin.email], [auditor.email]])
    for message in mail.outbox:
        assert "25 days" not in message.subject + message.body
        assert message.attachments[0][1] == report_pdf(report)


def test_without_an_e_mail_server_nothing_is_sent_and_it_says_so(bank, report, auditor, capsys):
    call_command(
        "compliance_report",
        "--tenant",
        bank.tenant.slug,
        "--week",
        THIS_WEEK.isoformat(),
        "--send",
        "--json",
    )
    told = capsys.readouterr()
    assert json.loads(told.out) == {
        "week": THIS_WEEK.isoformat(),
        "digest": report.digest,
        "sent": 0,
    }
    assert "PRECEPT_EMAIL_URL" in told.err


def test_it_is_signed_once_by_a_person_with_a_comment(bank, report, auditor):
    client = signed_in(bank, auditor)
    base = page_of(report).replace("change/", "")
    empty = client.post(f"{base}sign/", {"comment": " "}, follow=True)
    assert "what you conclude" in empty.content.decode()
    signed = client.post(f"{base}sign/", {"comment": "Nothing to object."}, follow=True)
    assert "You signed the report" in signed.content.decode()
    assert client.get(f"{base}report.pdf").content == report_pdf(report)
    with bank.scope():
        report.refresh_from_db()
        assert report.signed_by_id == auditor.pk
        with pytest.raises(ValidationError, match="signed it already"):
            sign_report(report=report, actor=auditor, comment="Again")
        with pytest.raises(IntegrityError):
            WeeklyReport.objects.update(comment="Changed")


def test_other_roles_see_and_sign_none(bank, report):
    reviewer = bank.person("reviewer", roles=[Role.REVIEWER])
    assert signed_in(bank, reviewer).get(list_of("evaluation_weeklyreport")).status_code == 403
    with bank.scope(), pytest.raises(PermissionDenied):
        sign_report(report=report, actor=reviewer, comment="x")


def test_the_sweep_makes_the_last_week_s_report_once(bank):
    make_reports_everywhere()
    make_reports_everywhere()
    with bank.scope():
        assert [one.monday for one in WeeklyReport.objects.all()] == [last_week()]
