"""Every write about answers that is not the authority's: start, end, cancel, feedback, review."""

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from audit.services import record_action
from tenants.models import User
from tenants.selectors import current_tenant

from . import limits
from .models import (
    Answer,
    AnswerState,
    Channel,
    Citation,
    Feedback,
    Outcome,
    Purpose,
    Reason,
    ReviewItem,
    ReviewKind,
    ReviewState,
)
from .request_lock import one_at_a_time


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
    channel: Channel = Channel.SESSION,
    token_id: UUID | None = None,
    counted: bool = True,
) -> Started:
    """Open an attempt, or find the one this request id already opened.

    A new attempt counts for the limits of its person and tenant, unless it is an evaluation's or
    `counted` is False, for operators. Raises ValidationError for an empty or too long question,
    RequestIdConflict, and RateLimited.
    """
    question = " ".join(question.split())
    _check_question(question, request_id)
    payload = json.dumps([question, language], ensure_ascii=False)
    digest = hashlib.sha256(payload.encode()).hexdigest()
    if seen := _seen(user, request_id, digest):
        return seen
    with one_at_a_time(person=user.id, request_id=request_id):
        if seen := _seen(user, request_id, digest):
            return seen  # sent twice at once, and the other one was first
        answer_id = uuid.uuid4()
        if counted and purpose == Purpose.LIVE:
            limits.take_place(person=user.id, answer_id=answer_id)
        answer = Answer.objects.create(
            id=answer_id,
            user=user,
            purpose=purpose,
            channel=channel,
            token_id=token_id,
            request_id=request_id,
            payload_digest=digest,
            question=question,
            language=language or current_tenant().default_language,
        )
    return Started(answer=answer, is_new=True)


def _seen(user: User, request_id: str, digest: str) -> Started | None:
    answer = Answer.objects.filter(user=user, request_id=request_id).first()
    if answer is None:
        return None
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


def note_stage(*, answer: Answer, stage: str, known: Mapping[str, object] | None = None) -> bool:
    """Where the attempt is, for whoever follows it. False when it was cancelled or has ended.

    `known` holds closing fields as far as they go: who ends it from outside records those.
    """
    answer.stage = stage
    fields = {**(known or {}), "stage": stage, "attempt": answer.attempt}
    return bool(
        Answer.objects.filter(
            pk=answer.pk, state=AnswerState.RUNNING, cancel_requested=False
        ).update(**fields)
    )


def is_wanted(*, answer: Answer) -> bool:
    """Whether the attempt still runs and nobody has cancelled it."""
    running = Answer.objects.filter(pk=answer.pk, state=AnswerState.RUNNING)
    return running.filter(cancel_requested=False).exists()


def note_alive(*, answer: Answer) -> bool:
    """The connection that runs the attempt is still there. False when the attempt has ended."""
    return bool(
        Answer.objects.filter(pk=answer.pk, state=AnswerState.RUNNING).update(
            alive_at=timezone.now()
        )
    )


def note_followed(*, answer: Answer) -> None:
    """Another connection waits for the same attempt."""
    Answer.objects.filter(pk=answer.pk, state=AnswerState.RUNNING).update(
        followed_at=timezone.now()
    )


def leave_answer(*, answer: Answer, followed_within: timedelta) -> bool:
    """The connection that ran the attempt is gone: it ends as interrupted, unless another follows."""
    followed = Answer.objects.filter(
        pk=answer.pk,
        state=AnswerState.RUNNING,
        followed_at__gte=timezone.now() - followed_within,
    ).update(alive_at=None)
    return not followed and end_answer(
        answer=answer, outcome=Outcome.INTERRUPTED, reason=Reason.DISCONNECTED
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
            "configuration": answer.configuration_id_used,
            **({"canary": answer.canary_id_asked} if answer.canary_id_asked else {}),
            "permits": [permit.id for permit in permits],
            "release": release and release.id,
            "token": answer.token_id,
        },
        facts={
            "channel": answer.channel,
            **({"arm": answer.arm} if answer.arm else {}),
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


@transaction.atomic
def cancel_answer(*, answer: Answer) -> bool:
    """End a running attempt, whatever step it is at; nothing is released after this.

    False when it had ended before.
    """
    Answer.objects.filter(pk=answer.pk, state=AnswerState.RUNNING).update(cancel_requested=True)
    return end_answer(answer=answer, outcome=Outcome.CANCELLED)


@transaction.atomic
def give_feedback(
    *, user: User, answer: Answer, helpful: bool, category: str = "", comment: str = ""
) -> Feedback:
    """Say whether an answer helped; saying something else replaces it, and asks for another look."""
    if answer.state != AnswerState.FINISHED:
        raise ValidationError("The answer is still being made.")
    if answer.outcome in (Outcome.CANCELLED, Outcome.INTERRUPTED):
        raise ValidationError("This question was not answered; there is nothing to judge.")
    if answer.purged_at is not None:
        raise ValidationError("The words of this answer are no longer kept.")
    category, comment = category[:40], comment[:2000]
    said_before = Feedback.objects.filter(
        answer=answer, helpful=helpful, category=category, comment=comment
    ).exists()
    feedback, _ = Feedback.objects.update_or_create(
        answer=answer,
        defaults={
            "user": user,
            "helpful": helpful,
            "category": category,
            "comment": comment,
            "source_versions": _cited_versions(answer),
            "generation_id_used": answer.generation_id_used,
            "prompt_version": answer.prompt_version,
            "model": answer.model,
        },
    )
    if not helpful and not said_before:
        ReviewItem.objects.update_or_create(
            answer=answer,
            kind=ReviewKind.FEEDBACK,
            defaults={
                "reason": "Marked as not helpful",
                "state": ReviewState.OPEN,
                "note": "",
                "closed_by": None,
                "closed_at": None,
            },
        )
    record_action(
        action="answer.feedback",
        actor=user.id,
        object_ids={"answer": answer.id, "feedback": feedback.id},
        # The category is what somebody typed; the record is kept for longer than words are.
        facts={"helpful": helpful, "has_category": bool(feedback.category)},
    )
    return feedback


def _cited_versions(answer: Answer) -> dict[str, int]:
    cited = Citation.objects.filter(claim__answer=answer)
    return {str(d): n for d, n in cited.values_list("document_id", "version__number")}


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
