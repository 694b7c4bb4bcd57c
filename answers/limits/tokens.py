"""Tokens per day: reserved before a model is called, corrected to what it used.

Reserving first is what makes the cap hold among attempts that run at once. A process that dies in
between leaves its reservation counted.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.conf import settings

from answers.evidence import Evidence
from answers.generation import GeneratorUnavailable
from answers.generation.base import UnavailableReason
from answers.models import Answer, CountedAttempt, UsageKind
from tenants.scope import current_tenant_id

from .counters import Counter, counting
from .errors import BudgetExceeded

# On the high side: instructions and the longest reply, and a token for every 2.5 bytes of text.
FIXED_TOKENS = 2000
# Three claims put to the model once more: instructions, claim, quotes and the longest reply of each.
CHECKING_TOKENS = 3 * 2000
BYTES_PER_TOKEN = 2.5


@dataclass(slots=True)
class TokenBudget:
    """What one call of a model may use. `spent` is told afterwards what it did use."""

    counters: tuple[Counter, ...] = ()
    reserved: int = 0
    windows: list[datetime] = field(default_factory=list)

    def spent(self, tokens: int) -> None:
        with counting() as cursor:
            for counter, window in zip(self.counters, self.windows, strict=True):
                counter.correct(cursor, tokens - self.reserved, window=window)


def token_counters(person: UUID) -> tuple[Counter, Counter]:
    return (
        Counter(UsageKind.TOKENS, person, settings.PERSON_TOKENS_PER_DAY),
        Counter(UsageKind.TOKENS, current_tenant_id(), settings.TENANT_TOKENS_PER_DAY),
    )


@contextmanager
def token_budget(*, answer: Answer, evidence: Sequence[Evidence]) -> Iterator[TokenBudget]:
    """Around one call of a model. An attempt that is not counted has no bound.

    Raises BudgetExceeded before the call when not enough is left. A call that never reached its
    model costs nothing; one that failed otherwise costs what was reserved.
    """
    if not CountedAttempt.objects.filter(pk=answer.pk).exists():
        yield TokenBudget()
        return
    budget = TokenBudget(
        counters=token_counters(answer.user_id), reserved=estimate(answer.question, evidence)
    )
    with counting() as cursor:
        for counter in budget.counters:
            window = counter.add(cursor, budget.reserved)
            if window is None:
                raise BudgetExceeded
            budget.windows.append(window)
    try:
        yield budget
    except GeneratorUnavailable as failure:
        if failure.reason == UnavailableReason.UNREACHABLE:
            budget.spent(0)
        raise


def estimate(question: str, evidence: Sequence[Evidence]) -> int:
    """Tokens that a call for this question and evidence may take, at most."""
    texts = (question, *(chunk.text for chunk in evidence))
    size = sum(len(text.encode()) for text in texts)
    fixed = FIXED_TOKENS + (CHECKING_TOKENS if settings.ENTAILMENT else 0)
    return fixed + math.ceil(size / BYTES_PER_TOKEN)
