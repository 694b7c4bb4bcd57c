"""From when a version holds: several that wait, midnight, a date that is changed, a version withdrawn."""

import datetime as dt

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils import timezone

from audit.models import AuditRecord
from documents import services
from documents.dispatch import dispatch_all, dispatch_tenant
from documents.models import Document, DocumentVersion
from documents.version_dates import change_version_date, withdraw_version
from tenants.models import Role
from tenants.selectors import NotFound
from tests.admin_pages import said, signed_in
from tests.documents.test_inventory import submit

QUESTION = "How many days of annual leave do I have?"
FEBRUARY, MARCH = dt.date(2030, 2, 1), dt.date(2030, 3, 1)


def leave(days: int) -> str:
    return f"Annual leave allowance is {days} days."


@pytest.fixture
def document(bank):
    return bank.document("Annual leave", leave(25), readers=[bank.everyone])


@pytest.fixture
def clock(monkeypatch):
    """Set what time it is, for what asks which day it is; leases and limits keep the real one."""

    def set_to(moment: dt.datetime | dt.date) -> None:
        if not isinstance(moment, dt.datetime):
            moment = dt.datetime.combine(moment, dt.time(12), dt.UTC)
        day = timezone.localtime(moment).date()
        real = timezone.localdate
        monkeypatch.setattr(
            timezone, "localdate", lambda value=None, tz=None: real(value, tz) if value else day
        )

    return set_to


def waiting(bank, document, days: int, day: dt.date) -> DocumentVersion:
    return bank.ingest(submit(bank, document, leave(days), effective_date=day))


def in_force(bank, document) -> int:
    dispatch_tenant(bank.tenant.id)
    with bank.scope():
        return Document.objects.get(pk=document.pk).current_version.number


def test_several_that_wait_come_into_force_each_on_its_day(bank, document, clock):
    waiting(bank, document, 26, FEBRUARY)
    waiting(bank, document, 27, MARCH)
    assert in_force(bank, document) == 1
    clock(FEBRUARY)
    assert in_force(bank, document) == 2
    clock(MARCH)
    assert in_force(bank, document) == 3


def test_the_order_of_their_days_counts_and_not_that_of_their_uploads(bank, document, clock):
    waiting(bank, document, 27, MARCH)
    waiting(bank, document, 26, FEBRUARY)
    clock(FEBRUARY)
    assert in_force(bank, document) == 3
    clock(MARCH)
    assert in_force(bank, document) == 2


@pytest.mark.parametrize("days", [(MARCH, FEBRUARY), (FEBRUARY, MARCH)])
def test_a_dispatcher_that_was_down_ends_with_the_one_whose_day_came_last(
    bank, document, clock, days
):
    for number, day in enumerate(days, start=26):
        waiting(bank, document, number, day)
    clock(MARCH + dt.timedelta(days=3))
    assert in_force(bank, document) == 2 + days.index(MARCH)


def test_a_correction_holds_at_once_and_the_planned_version_still_takes_over(bank, document, clock):
    waiting(bank, document, 27, MARCH)
    bank.new_version(document, leave(26))
    assert in_force(bank, document) == 3
    clock(MARCH)
    assert in_force(bank, document) == 2


def test_a_version_that_held_for_long_before_its_upload_holds_at_once(bank, document):
    bank.ingest(submit(bank, document, leave(26), effective_date=dt.date(2001, 1, 1)))
    assert in_force(bank, document) == 2


def test_a_day_begins_at_midnight_where_the_bank_is(bank, document, clock):
    waiting(bank, document, 26, FEBRUARY)
    before = dt.datetime(2030, 1, 31, 22, 59, tzinfo=dt.UTC)  # a minute to midnight in Brussels
    clock(before)
    assert in_force(bank, document) == 1
    clock(before + dt.timedelta(minutes=2))
    assert in_force(bank, document) == 2


def test_the_switch_needs_nobody_and_is_what_the_next_question_sees(bank, document):
    tomorrow = timezone.localdate() + dt.timedelta(days=1)
    version = waiting(bank, document, 26, tomorrow)
    asker = bank.person()
    assert "25 days" in bank.ask(asker, QUESTION).claims[0].text
    with bank.scope():  # as the calendar would
        DocumentVersion.objects.filter(pk=version.pk).update(effective_date=timezone.localdate())
    dispatch_all()
    assert "26 days" in bank.ask(asker, QUESTION).claims[0].text


# --- Changing a date ------------------------------------------------------------------------------


def test_a_date_that_is_put_off_or_brought_forward_counts(bank, document, clock):
    version = waiting(bank, document, 26, FEBRUARY)
    with bank.scope():
        assert change_version_date(actor=None, version=version, effective_date=MARCH)
        assert not change_version_date(actor=None, version=version, effective_date=MARCH)
    clock(FEBRUARY)
    assert in_force(bank, document) == 1
    with bank.scope():
        change_version_date(actor=None, version=version, effective_date=FEBRUARY)
        assert Document.objects.get(pk=document.pk).current_version_id == version.pk
        record = AuditRecord.objects.filter(action="document.version_dated").first()
        assert record.facts == {"number": 2, "from": str(MARCH), "to": str(FEBRUARY)}


def test_a_date_changed_while_the_version_is_being_read_counts(bank, document):
    version = submit(bank, document, leave(26), effective_date=timezone.localdate())
    with bank.scope():
        change_version_date(actor=None, version=version, effective_date=FEBRUARY)
    bank.ingest(version)
    assert in_force(bank, document) == 1


def test_the_version_in_force_cannot_be_moved_into_the_future(bank, document):
    with bank.scope():
        with pytest.raises(ValidationError, match="is in force"):
            change_version_date(
                actor=None, version=document.current_version, effective_date=FEBRUARY
            )
        with pytest.raises(ValidationError, match="in force already"):
            services.update_document(actor=None, document=document, effective_date=FEBRUARY)
        earlier = dt.date(2020, 1, 1)
        change_version_date(actor=None, version=document.current_version, effective_date=earlier)
        assert Document.objects.get(pk=document.pk).effective_date == earlier


def test_only_who_administers_the_document_dates_or_withdraws_its_versions(bank, document):
    version = waiting(bank, document, 26, FEBRUARY)
    stranger = bank.person("finance", roles=[(Role.DEPARTMENT_ADMIN, "Finance")])
    with bank.scope():
        with pytest.raises(NotFound):
            change_version_date(actor=stranger, version=version, effective_date=MARCH)
        with pytest.raises(NotFound):
            withdraw_version(actor=stranger, version=version)


# --- Withdrawing ----------------------------------------------------------------------------------


def test_a_version_that_was_withdrawn_never_comes_into_force(bank, document, clock):
    version = waiting(bank, document, 26, FEBRUARY)
    with bank.scope():
        withdraw_version(actor=None, version=version)
        with pytest.raises(ValidationError, match="already"):
            withdraw_version(actor=None, version=version)
        with pytest.raises(ValidationError, match="withdrawn"):
            change_version_date(actor=None, version=version, effective_date=timezone.localdate())
    clock(MARCH)
    assert in_force(bank, document) == 1
    with bank.scope():
        with pytest.raises(ValidationError, match="not withdrawn"):
            services.reinstate_version(actor=None, version=DocumentVersion.objects.get(number=2))


def test_nor_does_one_that_was_withdrawn_while_it_was_being_read(bank, document):
    version = submit(bank, document, leave(26))
    with bank.scope():
        withdraw_version(actor=None, version=version)
    bank.ingest(version)
    assert in_force(bank, document) == 1


def test_the_version_in_force_is_not_withdrawn(bank, document):
    with bank.scope(), pytest.raises(ValidationError, match="is in force"):
        withdraw_version(actor=None, version=document.current_version)


def test_the_same_bytes_as_a_withdrawn_version_make_a_new_one(bank, document):
    with bank.scope():
        withdraw_version(actor=None, version=submit(bank, document, leave(26)))
    bank.ingest(again := submit(bank, document, leave(26)))
    assert (again.number, in_force(bank, document)) == (3, 3)


def test_dates_and_withdrawals_are_made_on_the_documents_page(bank, document):
    client = signed_in(bank, bank.person("admin", roles=[Role.TENANT_ADMIN]))
    version = waiting(bank, document, 26, FEBRUARY)

    def send(what: str, **data):
        address = reverse("admin:documents_version_action", args=[document.pk, 2, what])
        return said(client.post(address, data, follow=True))

    assert "has its new date" in send("date", effective_date=str(MARCH))
    assert "Enter the day" in send("date", effective_date="soon")
    assert "was withdrawn" in send("withdraw")
    with bank.scope():
        version.refresh_from_db()
        assert (version.effective_date, version.withdrawn_at is None) == (MARCH, False)
