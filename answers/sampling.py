"""A random share of a week's answers for spot checks, from every department and language.

Which ones is settled by the tenant, the week and the answers alone (the smallest SHA-256 of tenant,
week and answer), so that drawing again gives the same, and nobody can draw until it suits them.
"""

import hashlib
import math
from collections import defaultdict
from datetime import date, datetime, time, timedelta

from django.db import transaction
from django.utils import timezone

from audit.services import record_action
from tenants.scope import tenant_scope
from tenants.selectors import all_tenant_ids, current_tenant

from .models import Answer, Citation, Outcome, Purpose, ReviewItem, ReviewKind

_JUDGED = (Outcome.ANSWERED, Outcome.EXCERPTS, Outcome.ABSTAINED, Outcome.ACCESS_DENIED)


def week_of(day: date) -> date:
    """Its Monday."""
    return day - timedelta(days=day.weekday())


def last_week() -> date:
    return week_of(timezone.localdate()) - timedelta(days=7)


@transaction.atomic
def sample_week(*, monday: date) -> int:
    """Put that week's share into the review queue; how many were not in it yet.

    At least one of each stratum (department of the first cited document, language) is drawn.
    """
    percent = current_tenant().review_sample_percent
    strata: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    if percent:
        departments = _departments(monday)
        for answer in _answers(monday).only("id", "language", "tenant_id"):
            strata[departments.get(answer.pk, ""), answer.language].append(answer)
    drawn = 0
    for answers in strata.values():
        answers.sort(key=lambda answer: _lot(answer, monday))
        for answer in answers[: math.ceil(percent * len(answers) / 100)]:
            _, is_new = ReviewItem.objects.get_or_create(
                answer=answer,
                kind=ReviewKind.SAMPLE,
                defaults={"reason": f"Drawn for the week of {monday:%d %B %Y}"},
            )
            drawn += is_new
    if drawn:
        record_action(
            action="review.sampled",
            actor=None,
            facts={"week": monday.isoformat(), "drawn": drawn, "strata": len(strata)},
        )
    return drawn


def sample_everywhere() -> None:
    """For the dispatcher: the last whole week of each tenant, once."""
    monday = last_week()
    for tenant_id in all_tenant_ids():
        with tenant_scope(tenant_id):
            answered = _answers(monday)
            drawn = ReviewItem.objects.filter(kind=ReviewKind.SAMPLE, answer__in=answered)
            if not drawn.exists() and answered.exists():
                sample_week(monday=monday)


def _answers(monday: date):
    return Answer.objects.filter(
        purpose=Purpose.LIVE,
        outcome__in=_JUDGED,
        purged_at=None,
        created_at__gte=_start(monday),
        created_at__lt=_start(monday + timedelta(days=7)),
    )


def _departments(monday: date) -> dict:
    """{answer: department of the first document it cites}"""
    first: dict = {}
    cited = Citation.objects.filter(claim__answer__in=_answers(monday)).order_by("-number")
    for answer, department in cited.values_list("claim__answer", "document__department__name"):
        first[answer] = department
    return first


def _start(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def _lot(answer: Answer, monday: date) -> str:
    drawn = f"{answer.tenant_id}:{monday.isoformat()}:{answer.pk}"
    return hashlib.sha256(drawn.encode()).hexdigest()
