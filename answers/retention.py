"""The words of answers are forgotten with a document they were drawn from, or when they are old.

What stays of an answer says who asked when, what was admitted and released, in which versions and
with which digest; not what was asked or said.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from audit.services import record_action
from documents.retention import StillInUse
from tenants.selectors import current_tenant

from .models import (
    Answer,
    AnswerState,
    Citation,
    Claim,
    ContextPermit,
    Feedback,
    PermitStep,
    ReviewItem,
)
from .selectors import rule_of

BATCH = 500


def forget_document(document_id: UUID) -> Mapping[str, int]:
    """Everything that was written from the document: what a generator saw may be in its words."""
    given = ContextPermit.objects.filter(document_versions__has_key=str(document_id))
    if given.filter(answer__state=AnswerState.RUNNING).exists():
        raise StillInUse("An answer is being written from the document.")
    written = given.filter(step=PermitStep.GENERATE, answer__purged_at=None)
    return _forget(list(written.values_list("answer_id", flat=True).distinct()))


def forget_expired() -> Mapping[str, int]:
    """Whatever is older than the tenant keeps answers, in batches."""
    days, counts = current_tenant().keep_answers_days, Counter()
    if days is None:
        return counts
    kept_since = timezone.now() - timedelta(days=days)
    old = Answer.objects.filter(
        state=AnswerState.FINISHED, purged_at=None, created_at__lte=kept_since
    ).order_by("created_at")
    while answers := list(old.values_list("id", flat=True)[:BATCH]):
        with transaction.atomic():
            forgotten = _forget(answers)
            record_action(
                action="answers.purged",
                actor=None,
                object_ids={"answers": answers},
                facts={"days": days, **forgotten},
            )
        counts.update(forgotten)
    return counts


def _forget(answers: list[UUID]) -> Counter[str]:
    """The order matters: the database lets words go only of an answer that says it was purged."""
    counts: Counter[str] = Counter()
    counts["answers"] = Answer.objects.filter(id__in=answers).update(
        question="", purged_at=timezone.now()
    )
    counts["claims"] = Claim.objects.filter(answer__in=answers).update(text="")
    counts["quotes"] = Citation.objects.filter(claim__answer__in=answers).update(
        quote="", section=""
    )
    counts["comments"] = (
        Feedback.objects.filter(answer__in=answers)
        .exclude(comment="", category="")
        .update(comment="", category="")
    )
    for item in ReviewItem.objects.filter(answer__in=answers):
        item.reason, item.draft, item.note = rule_of(item), [], ""
        item.save(update_fields=["reason", "draft", "note"])
        counts["drafts"] += 1
    return counts
