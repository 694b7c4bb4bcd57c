"""The weekly compliance report: its numbers as they were, and who signed it off."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from tenants.models import TenantOwned


class WeeklyReport(TenantOwned):
    """Written once; signed once, by a person with a comment."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    monday = models.DateField("week of")
    numbers = models.JSONField()
    digest = models.CharField(max_length=64, help_text="SHA-256 of the PDF.")
    made_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True)
    signed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    signed_at = models.DateTimeField(null=True)
    comment = models.TextField(blank=True, max_length=2000)

    class Meta:
        ordering = ["-monday"]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "monday"], name="one_report_a_week"),
            models.CheckConstraint(
                name="signed_by_somebody_with_a_comment",
                condition=Q(signed_by=None, signed_at=None, comment="")
                | (Q(signed_by__isnull=False, signed_at__isnull=False) & ~Q(comment="")),
            ),
        ]

    def __str__(self) -> str:
        return f"Week of {self.monday:%d %B %Y}"
