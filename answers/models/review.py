"""What people said of answers, and what a reviewer has to look at."""

import uuid

from django.conf import settings
from django.db import models

from tenants.models import TenantOwned

from .answer import Answer


class Feedback(TenantOwned):
    """Helpful or not, with a comment; versions and models, never a passage."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    answer = models.OneToOneField(Answer, on_delete=models.CASCADE, related_name="feedback")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    helpful = models.BooleanField()
    category = models.CharField(max_length=40, blank=True)
    comment = models.TextField(blank=True, max_length=2000)
    created_at = models.DateTimeField(auto_now_add=True)


class ReviewKind(models.TextChoices):
    BLOCKED_DRAFT = "blocked_draft", "Blocked draft"
    FEEDBACK = "feedback", "Feedback"


class ReviewState(models.TextChoices):
    OPEN = "open", "Open"
    DONE = "done", "Done"


class ReviewItem(TenantOwned):
    """A blocked draft with its one-line reason, or feedback that asks for a look."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=20, choices=ReviewKind)
    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="review_items")
    reason = models.CharField(max_length=300)
    draft = models.JSONField(
        default=list, help_text="The blocked claims with the documents they were drawn from."
    )
    state = models.CharField(max_length=8, choices=ReviewState, default=ReviewState.OPEN)
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
