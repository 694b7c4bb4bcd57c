"""Evaluation cases bound to a person's permissions."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from tenants.models import TenantOwned


class CaseState(models.TextChoices):
    DRAFT = "draft", "Draft"
    REVIEWED = "reviewed", "Reviewed"
    ACTIVE = "active", "Active"
    NEEDS_REVIEW = "needs_review", "Needs review"


class EvalCase(TenantOwned):
    """A question, asked as a person with the rights that person had, and what must come of it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.CharField(max_length=120)
    question = models.TextField()
    language = models.CharField(max_length=8, default="en")
    kind = models.CharField(max_length=40, help_text="Question class, such as fact or restricted.")
    as_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    bound_access_revision = models.BigIntegerField()
    expected_outcome = models.CharField(max_length=16)
    required_text = models.JSONField(default=list)
    required_documents = models.JSONField(default=list, help_text="Document ids.")
    forbidden_text = models.JSONField(default=list)
    correct_answer = models.TextField(blank=True)
    state = models.CharField(max_length=16, choices=CaseState, default=CaseState.DRAFT)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(
        default=timezone.now,
        editable=False,
        help_text="Whatever in it; written by the database alone.",
    )

    class Meta:
        ordering = ["key"]
        constraints = [models.UniqueConstraint(fields=["tenant", "key"], name="case_key_once")]

    def __str__(self) -> str:
        return self.key
