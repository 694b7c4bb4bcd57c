"""Questions per minute and answers at once: both are settled before an attempt exists."""

from datetime import timedelta
from uuid import UUID

from django.conf import settings

from answers.models import UsageKind
from tenants.scope import current_tenant_id

from .counters import Counter, counting
from .errors import RateLimited
from .tokens import token_counters

# How long somebody waits for a place that others have. Answers take seconds.
RETRY_CONCURRENT_SECONDS = 5
# No attempt runs for so long: a place is free then, whatever became of the process that took it.
LOST_AFTER = timedelta(minutes=15, seconds=3 * settings.GENERATOR_TIMEOUT_SECONDS)
# Between taking a place and making the answer lie milliseconds.
NEVER_STARTED_AFTER = timedelta(seconds=30)

FREE_PLACES = """
DELETE FROM answers_countedattempt p
WHERE p.tenant_id = %(tenant)s AND (
    p.taken_at < clock_timestamp() - %(lost)s
    OR EXISTS (SELECT FROM answers_answer a
               WHERE a.id = p.answer_id_counted AND a.state = 'finished')
    OR (p.taken_at < clock_timestamp() - %(never_started)s
        AND NOT EXISTS (SELECT FROM answers_answer a WHERE a.id = p.answer_id_counted)))
"""
TAKEN_PLACES = """
SELECT count(*) FILTER (WHERE person = %(person)s), count(*)
FROM answers_countedattempt WHERE tenant_id = %(tenant)s
"""
TAKE_PLACE = """
INSERT INTO answers_countedattempt (tenant_id, answer_id_counted, person, taken_at)
VALUES (%(tenant)s, %(answer)s, %(person)s, clock_timestamp())
"""


def take_place(*, person: UUID, answer_id: UUID) -> None:
    """Count one question of this person and give the attempt a place among those that run.

    All or nothing, and committed before this returns. Raises RateLimited.
    """
    with counting() as cursor:
        for counter in _question_counters(person):
            _count(cursor, counter)
        # The tenant's counter is locked from here on, so places are given out one at a time.
        _refuse_without_tokens(cursor, person)
        _refuse_without_place(cursor, person)
        cursor.execute(TAKE_PLACE, _names(person, answer_id))


def _question_counters(person: UUID) -> tuple[Counter, Counter]:
    return (
        Counter(UsageKind.QUESTIONS, person, settings.PERSON_QUESTIONS_PER_MINUTE),
        Counter(UsageKind.QUESTIONS, current_tenant_id(), settings.TENANT_QUESTIONS_PER_MINUTE),
    )


def _count(cursor, counter: Counter) -> None:
    if counter.add(cursor, 1):
        return
    wait = counter.seconds_left()
    if counter.subject == current_tenant_id():
        sentence = "Your organisation has asked as many questions as it may within a minute."
    else:
        sentence = f"You have asked {counter.cap} questions within a minute, as many as you may."
    raise RateLimited(f"{sentence} Ask again in {_seconds(wait)}.", retry_after=wait)


def _refuse_without_tokens(cursor, person: UUID) -> None:
    for counter in token_counters(person):
        if counter.is_used_up(cursor):
            whose = "Your" if counter.subject == person else "Your organisation's"
            raise RateLimited(
                f"{whose} allowance for today is used up. Ask again after midnight (UTC).",
                retry_after=counter.seconds_left(),
            )


def _refuse_without_place(cursor, person: UUID) -> None:
    cursor.execute(
        FREE_PLACES,
        {
            "tenant": current_tenant_id(),
            "lost": LOST_AFTER,
            "never_started": NEVER_STARTED_AFTER,
        },
    )
    cursor.execute(TAKEN_PLACES, _names(person))
    own, all_of_tenant = cursor.fetchone()
    if own >= settings.PERSON_CONCURRENT_ANSWERS:
        sentence = f"{own} of your questions are still being answered, as many as may be at once."
    elif all_of_tenant >= settings.TENANT_CONCURRENT_ANSWERS:
        sentence = "Precept is answering as many questions of your organisation as it may at once."
    else:
        return
    wait = RETRY_CONCURRENT_SECONDS
    raise RateLimited(f"{sentence} Ask again in {_seconds(wait)}.", retry_after=wait)


def _names(person: UUID, answer_id: UUID | None = None) -> dict[str, object]:
    return {"tenant": current_tenant_id(), "person": person, "answer": answer_id}


def _seconds(count: int) -> str:
    return "a second" if count == 1 else f"{count} seconds"
