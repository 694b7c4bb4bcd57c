"""Every write about answers that is not the authority's: start, end, cancel, feedback, review."""

import hashlib
import json
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from audit.services import record_action
from tenants.models import User
from tenants.selectors import current_tenant

from .models import (
    Answer,
    AnswerState,
    Feedback,
    Outcome,
    Purpose,
    Reason,
    ReviewItem,
    ReviewKind,
    ReviewState,
)


class RequestIdConflict(Exception):
    """The request id was used before, with another question."""


@dataclass(frozen=True, slots=True)
class Started:
    """`is_new` False: this request id and question were seen before; nothing is run again."""

    answer: Answer
    is_new: bool


def start_answer(
    *,
    user: User,
    request_id: str,
    question: str,
    language: str | None = None,
    purpose: Purpose = Purpose.LIVE,
) -> Started:
    """Open an attempt, or find the one this request id already opened.

    Raises ValidationError for an empty or too long question, RequestIdConflict.
    """
    question = " ".join(question.split())
    _check_question(question, request_id)
    payload = json.dumps([question, language], ensure_ascii=False)
    digest = hashlib.sha256(payload.encode()).hexdigest()
    try:
        with transaction.atomic():
            answer = Answer.objects.create(
                user=user,
                purpose=purpose,
                request_id=request_id,
                payload_digest=digest,
                question=question,
                language=language or current_tenant().default_language,
            )
        return Started(answer=answer, is_new=True)
    except IntegrityError:
        answer = Answer.objects.get(user=user, request_id=request_id)
    if answer.payload_digest != digest:
        raise RequestIdConflict
    return Started(answer=answer, is_new=False)


def _check_question(question: str, request_id: str) -> None:
    if not question:
        raise ValidationError("Ask a question first.")
    if "\x00" in question or "\x00" in request_id:
        raise ValidationError("The question holds characters that cannot be stored.")
    limit = settings.MAX_QUESTION_CHARACTERS
    if len(question) > limit:
        raise ValidationError(f"The question is longer than {limit} characters; shorten it.")
    if not 1 <= len(request_id) <= 100:
        raise ValidationError("requestId must have 1 to 100 characters.")


def note_stage(*, answer: Answer, stage: str) -> bool:
    """Where the attempt is, for whoever follows it. False when it was cancelled or has ended."""
    answer.stage = stage
    return bool(
        Answer.objects.filter(
            pk=answer.pk, state=AnswerState.RUNNING, cancel_requested=False
        ).update(stage=stage, attempt=answer.attempt)
    )


@transaction.atomic
def end_answer(
    *,
    answer: Answer,
    outcome: Outcome,
    reason: Reason | str = "",
    fields: dict[str, object] | None = None,
) -> bool:
    """End an attempt that released nothing. False when it had ended already."""
    ended = Answer.objects.filter(pk=answer.pk, state=AnswerState.RUNNING).update(
        state=AnswerState.FINISHED,
        outcome=outcome,
        reason=reason,
        finished_at=timezone.now(),
        **(fields or {}),
    )
    if ended:
        record_attempt(answer=answer)
    return bool(ended)


def record_attempt(*, answer: Answer) -> None:
    """The one audit record of an attempt: ids, versions, outcome, usage. No text."""
    answer.refresh_from_db()
    permits = list(answer.permits.all())
    release = getattr(answer, "release_permit", None) if answer.digest else None
    record_action(
        action="answer.evaluated" if answer.purpose == Purpose.EVALUATION else "answer.attempted",
        actor=answer.user_id,
        object_ids={
            "answer": answer.id,
            "generation": answer.generation_id_used,
            "permits": [permit.id for permit in permits],
            "release": release and release.id,
        },
        facts={
            "outcome": answer.outcome,
            "reason": answer.reason,
            "attempts": answer.attempt,
            "digest": answer.digest,
            "processors": sorted({permit.processor for permit in permits}),
            "rejected": sum(permit.rejected for permit in permits),
            "model": answer.model,
            "prompt_version": answer.prompt_version,
            "tokens_in": answer.tokens_in,
            "tokens_out": answer.tokens_out,
            "timings_ms": answer.stage_timings,
        },
    )


def cancel_answer(*, answer: Answer) -> bool:
    """Ask a running attempt to stop at its next step; nothing is released after this."""
    return bool(
        Answer.objects.filter(pk=answer.pk, state=AnswerState.RUNNING).update(cancel_requested=True)
    )


@transaction.atomic
def give_feedback(
    *, user: User, answer: Answer, helpful: bool, category: str = "", comment: str = ""
) -> Feedback:
    """Say whether an answer helped; saying it again replaces what was said."""
    if answer.state != AnswerState.FINISHED:
        raise ValidationError("The answer is still being made.")
    feedback, _ = Feedback.objects.update_or_create(
        answer=answer,
        defaults={
            "user": user,
            "helpful": helpful,
            "category": category[:40],
            "comment": comment[:2000],
        },
    )
    if not helpful:
        ReviewItem.objects.update_or_create(
            answer=answer,
            kind=ReviewKind.FEEDBACK,
            defaults={"reason": "Marked as not helpful", "state": ReviewState.OPEN},
        )
    record_action(
        action="answer.feedback",
        actor=user.id,
        object_ids={"answer": answer.id, "feedback": feedback.id},
        facts={"helpful": helpful, "category": feedback.category},
    )
    return feedback


def block_draft(*, answer: Answer, reason: str, draft: list[dict[str, object]]) -> ReviewItem:
    """Keep a draft that failed its checks for a reviewer; nobody else ever sees it."""
    return ReviewItem.objects.create(
        kind=ReviewKind.BLOCKED_DRAFT, answer=answer, reason=reason[:300], draft=draft
    )


@transaction.atomic
def close_review_item(*, item: ReviewItem, reviewer: User, note: str = "") -> None:
    """Raises ValidationError when somebody else closed it meanwhile."""
    closed = ReviewItem.objects.filter(pk=item.pk, state=ReviewState.OPEN).update(
        state=ReviewState.DONE, note=note, closed_by=reviewer, closed_at=timezone.now()
    )
    if not closed:
        raise ValidationError("Somebody else has closed this item already.")
    item.refresh_from_db()
    record_action(action="review.closed", actor=reviewer.id, object_ids={"item": item.id})
