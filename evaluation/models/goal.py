"""Where a measure of the pilot stood before, and where it shall go."""

import uuid

from django.conf import settings
from django.db import models

from tenants.models import TenantOwned


class PilotMeasure(models.TextChoices):
    ANSWER_SECONDS = "answer_seconds", "Seconds to the answer (median)"
    PASS_RATE = "pass_rate", "Evaluation cases passed"
    VALID_CITATIONS = "valid_citations", "Valid citations"
    REPEATED = "repeated", "Repeated questions"
    ADOPTION = "adoption", "Adoption"
    HELPFUL = "helpful", "Helpful answers"
    ABSTENTION = "abstention", "Abstentions"
    ABSTENTION_RIGHT = "abstention_right", "Justified abstentions"
    VIOLATIONS = "violations", "Permission violations"


class Goal(TenantOwned):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    measure = models.CharField(max_length=24, choices=PilotMeasure)
    baseline = models.FloatField(null=True, blank=True)
    is_measured = models.BooleanField(
        default=False, help_text="The baseline was measured here, and not entered."
    )
    target = models.FloatField(null=True, blank=True)
    note = models.CharField(max_length=300, blank=True)
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    set_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["measure"]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "measure"], name="one_goal_per_measure")
        ]

    def __str__(self) -> str:
        return self.get_measure_display()
