"""Work to be done that commits together with its cause."""

import uuid

from django.db import models
from django.db.models import Q

from tenants.models import TenantOwned


class EventKind(models.TextChoices):
    VERSION_RECEIVED = "version_received", "A version waits to be ingested"
    GENERATION_BEHIND = "generation_behind", "A generation lacks searchable versions"


class OutboxEvent(TenantOwned):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=40, choices=EventKind)
    payload = models.JSONField(default=dict, help_text="Ids only.")
    priority = models.PositiveSmallIntegerField(default=0, help_text="Lower is handed out first.")
    created_at = models.DateTimeField(auto_now_add=True)
    dispatched_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["created_at"]
        indexes = [
            models.Index(
                fields=["created_at"], condition=Q(dispatched_at=None), name="outbox_pending"
            ),
            models.Index(
                fields=["tenant", "priority", "created_at"],
                condition=Q(dispatched_at=None),
                name="outbox_by_priority",
            ),
        ]
