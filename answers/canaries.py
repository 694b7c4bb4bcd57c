"""Which of two answers a live question while a candidate is tried, and the trial's beginning and end.

A candidate is tried after it passed the gate, on at most half of the questions, and through the very
same pipeline: permission, admission, checks and release do not know which arm they work for. Comparing
the arms, and taking the candidate back, is the evaluation room's (`evaluation/canary.py`).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from audit.services import record_action
from documents.models import GenerationStatus, IndexGeneration
from documents.serving import gate_refusals
from tenants.models import Role, User
from tenants.selectors import roles_of

from .configurations import is_available
from .models import (
    Answer,
    AnswerConfiguration,
    Arm,
    Canary,
    CanaryEnding,
    ConfigurationStatus,
    Purpose,
)

SHARES = (1, 5, 10, 25, 50)
_BUILT = (GenerationStatus.VALIDATED, GenerationStatus.SHADOW)


@dataclass(frozen=True, slots=True)
class Drawn:
    """What answers this question; None stands for what serves."""

    canary: Canary | None = None
    arm: str = ""
    generation: IndexGeneration | None = None
    configuration: AnswerConfiguration | None = None


def running_canary() -> Canary | None:
    return (
        Canary.objects.filter(ended_at=None).select_related("generation", "configuration").first()
    )


def draw(answer: Answer) -> Drawn:
    """The arm of a live question: the same one whenever this person asks this again."""
    canary = running_canary() if answer.purpose == Purpose.LIVE else None
    if canary is None or not can_be_tried(canary.candidate):
        return Drawn()
    if _place(canary, answer) >= canary.share:
        return Drawn(canary=canary, arm=Arm.SERVING)
    return Drawn(
        canary=canary,
        arm=Arm.CANDIDATE,
        generation=canary.generation,
        configuration=canary.configuration,
    )


def _place(canary: Canary, answer: Answer) -> float:
    """From 0 to below 100, by person and question, drawn anew for each canary."""
    key = f"{canary.pk}:{answer.user_id}:{answer.question.casefold()}"
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4]) * 100 / 2**32


def can_be_tried(candidate: IndexGeneration | AnswerConfiguration) -> bool:
    """Built and beside what serves; of configurations, what this release has."""
    if isinstance(candidate, IndexGeneration):
        return candidate.status in _BUILT and candidate.reclaimed_at is None
    return candidate.status != ConfigurationStatus.SERVING and is_available(candidate)


@transaction.atomic
def start_canary(
    *, actor: User, candidate: IndexGeneration | AnswerConfiguration, share: int
) -> Canary:
    """Raises PermissionDenied, ValidationError, and PromotionRefused when the gate is closed."""
    _check_role(actor)
    if not 1 <= share <= 50:
        raise ValidationError({"share": "From 1 to 50 percent of the questions."})
    if not can_be_tried(candidate):
        raise ValidationError(f"{candidate} is not built, or serves already.")
    if running := running_canary():
        raise ValidationError(
            f"One at a time: {running.candidate} is being tried. Stop that first."
        )
    is_generation = isinstance(candidate, IndexGeneration)
    try:
        with gate_refusals():
            canary = Canary.objects.create(
                generation=candidate if is_generation else None,
                configuration=None if is_generation else candidate,
                share=share,
                started_by=actor,
            )
    except IntegrityError:  # the constraint: somebody else was first
        raise ValidationError("Somebody else has just started another one.") from None
    _record("canary.started", canary, actor, share=share)
    return canary


@transaction.atomic
def end_canary(
    *,
    canary: Canary,
    ending: CanaryEnding,
    actor: User | None = None,
    found: Mapping[str, object] | None = None,
) -> bool:
    """From now on everybody is answered by what serves. False when it had ended before."""
    if ending == CanaryEnding.STOPPED:
        _check_role(actor)
    ended = Canary.objects.filter(pk=canary.pk, ended_at=None).update(
        ended_at=timezone.now(), ended_by=actor, ending=ending, found=found or {}
    )
    if ended:
        canary.refresh_from_db()
        _record("canary.ended", canary, actor, ending=ending.value, found=found or {})
    return bool(ended)


def _check_role(actor: User | None) -> None:
    if actor is None or Role.TENANT_ADMIN not in roles_of(actor):
        raise PermissionDenied("Only tenant administrators try a candidate on people.")


def _record(action: str, canary: Canary, actor: User | None, **facts: object) -> None:
    record_action(
        action=action,
        actor=actor and actor.pk,
        object_ids={
            "canary": canary.pk,
            "generation": canary.generation_id,
            "configuration": canary.configuration_id,
        },
        facts=facts,
    )
