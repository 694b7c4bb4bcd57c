"""A share of live questions answered by a candidate, to compare it with what serves."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from documents.models import IndexGeneration
from tenants.models import TenantOwned

from .configuration import AnswerConfiguration


class CanaryEnding(models.TextChoices):
    STOPPED = "stopped", "Stopped by a person"
    VIOLATION = "violation", "Taken back: something was used or quoted that must not be"
    WORSE = "worse", "Taken back: it does worse"
    MOVED = "moved", "Over: the candidate serves now, or was given up"


class Arm(models.TextChoices):
    """Which of the two answered; empty while no canary runs."""

    SERVING = "serving", "What serves"
    CANDIDATE = "candidate", "The candidate"


class Canary(TenantOwned):
    """One at a time for a tenant. What passed the gate may be tried; it does not serve by that."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    generation = models.ForeignKey(
        IndexGeneration, null=True, on_delete=models.PROTECT, related_name="+"
    )
    configuration = models.ForeignKey(
        AnswerConfiguration, null=True, on_delete=models.PROTECT, related_name="+"
    )
    share = models.PositiveSmallIntegerField(help_text="Of live questions, in percent.")
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    started_at = models.DateTimeField(auto_now_add=True)
    looked_at = models.DateTimeField(null=True, help_text="When it was last compared.")
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    ending = models.CharField(max_length=12, choices=CanaryEnding, blank=True)
    found = models.JSONField(default=dict, help_text="The comparison when it ended.")

    class Meta:
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant"], condition=Q(ended_at=None), name="one_running_canary"
            ),
            models.CheckConstraint(
                name="canary_of_one_candidate",
                condition=Q(generation__isnull=False, configuration=None)
                | Q(generation=None, configuration__isnull=False),
            ),
            models.CheckConstraint(
                name="canary_is_a_share", condition=Q(share__gte=1, share__lte=50)
            ),
            models.CheckConstraint(
                name="canary_that_ended_says_why",
                condition=Q(ended_at=None, ending="") | (Q(ended_at__isnull=False) & ~Q(ending="")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.share} % for {self.candidate}"

    @property
    def candidate(self) -> IndexGeneration | AnswerConfiguration:
        return self.generation or self.configuration
