"""What a person and a tenant have used of what they may, and the attempts that count for it."""

from django.db import models
from django.db.models import Q

from tenants.models import TenantOwned


class UsageKind(models.TextChoices):
    QUESTIONS = "questions", "Questions asked"
    TOKENS = "tokens", "Tokens read and written by models"


class UsageCounter(TenantOwned):
    """One row for each subject and kind; a new window starts it again at zero.

    `subject` is a user's or the tenant's id, without a foreign key: a count must not wait for, or
    fail with, whatever else happens to that row.
    """

    kind = models.CharField(max_length=16, choices=UsageKind)
    subject = models.UUIDField()
    window_start = models.DateTimeField()
    used = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "kind", "subject"], name="one_usage_counter"),
            models.CheckConstraint(name="used_is_not_negative", condition=Q(used__gte=0)),
        ]


class CountedAttempt(TenantOwned):
    """An attempt that counts for the limits and has a place among those that run at once.

    Made before its answer is, in a transaction of its own. Whether it still holds its place follows
    from the answer: see answers.limits.attempts.
    """

    answer_id_counted = models.UUIDField(primary_key=True)
    person = models.UUIDField()
    taken_at = models.DateTimeField()
