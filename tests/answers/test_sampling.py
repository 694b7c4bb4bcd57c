"""A share of each week's answers is drawn for spot checks, the same whoever draws."""

from datetime import date, timedelta

import pytest
from django.utils import timezone

from answers.models import Answer, Outcome, Purpose, ReviewItem, ReviewKind
from answers.sampling import sample_everywhere, sample_week, week_of
from tenants.models import Tenant

MONDAY = date(2026, 1, 5)
NOON = timezone.make_aware(timezone.datetime(2026, 1, 7, 12))


@pytest.fixture
def asked(bank):
    """Makes finished answers of that week."""
    person = bank.person()

    def make(count=1, *, language="en", at=NOON, purpose=Purpose.LIVE, outcome=Outcome.ABSTAINED):
        with bank.scope():
            rows = [
                Answer.objects.create(
                    user=person,
                    request_id=f"{language}-{at:%d%H}-{purpose}-{outcome}-{number}",
                    payload_digest="",
                    question="?",
                    language=language,
                    purpose=purpose,
                    state="finished",
                    outcome=outcome,
                    finished_at=at,
                )
                for number in range(count)
            ]
            Answer.objects.filter(pk__in=[row.pk for row in rows]).update(created_at=at)
        return rows

    return make


def drawn(bank) -> set:
    with bank.scope():
        return set(
            ReviewItem.objects.filter(kind=ReviewKind.SAMPLE).values_list("answer", flat=True)
        )


def test_every_language_gives_its_share_and_at_least_one(bank, asked):
    english = {row.pk for row in asked(100)}
    french = {row.pk for row in asked(3, language="fr")}
    with bank.scope():
        assert sample_week(monday=MONDAY) == 3
    assert len(drawn(bank) & english) == 2
    assert len(drawn(bank) & french) == 1


def test_drawing_again_draws_the_same(bank, asked):
    asked(60)
    with bank.scope():
        first = sample_week(monday=MONDAY)
        before = drawn(bank)
        assert sample_week(monday=MONDAY) == 0
        ReviewItem.objects.all().delete()
        assert sample_week(monday=MONDAY) == first
    assert drawn(bank) == before


def test_only_that_week_s_live_answers_that_ended_are_drawn(bank, asked):
    asked(at=NOON - timedelta(days=7))
    asked(at=NOON + timedelta(days=7))
    asked(purpose=Purpose.EVALUATION)
    asked(outcome=Outcome.CANCELLED)
    with bank.scope():
        assert sample_week(monday=MONDAY) == 0


@pytest.mark.parametrize(
    ("percent", "answers", "expected"), [(0, 10, 0), (50, 10, 5), (100, 10, 10), (7, 100, 7)]
)
def test_the_share_is_the_tenant_s(bank, asked, percent, answers, expected):
    asked(answers)
    with bank.scope():
        Tenant.objects.update(review_sample_percent=percent)
        assert sample_week(monday=MONDAY) == expected


def test_the_sweep_draws_the_last_week_once(bank, asked):
    asked(10, at=timezone.now() - timedelta(days=7))
    sample_everywhere()
    once = drawn(bank)
    assert once
    sample_everywhere()
    assert drawn(bank) == once


def test_an_older_week_drawn_by_hand_does_not_stand_for_the_last_one(bank, asked):
    last, older = timezone.now() - timedelta(days=7), timezone.now() - timedelta(days=14)
    of_last = {row.pk for row in asked(10, at=last)}
    asked(10, at=older)
    with bank.scope():
        assert sample_week(monday=week_of(timezone.localdate(older)))
    assert not drawn(bank) & of_last
    sample_everywhere()
    assert drawn(bank) & of_last


def test_a_week_begins_on_monday():
    assert week_of(date(2026, 1, 11)) == MONDAY
    assert week_of(MONDAY) == MONDAY
