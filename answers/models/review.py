"""What people said of answers, and what a reviewer has to look at."""

import uuid

from django.conf import settings
from django.db import models

from tenants.models import TenantOwned

from .answer import Answer


class FeedbackCategory(models.TextChoices):
    """What a page offers; a program may send another word."""

    OUTDATED = "outdated", "It is outdated"
    WRONG = "wrong", "It is wrong"
    INCOMPLETE = "incomplete", "Something is missing in it"
    MISSING_DOCUMENT = "missing_document", "The right document was not used"
    PERMISSION = "permission", "I should be able to see more, or less"
    WORDING = "wording", "It is hard to understand"
    OTHER = "other", "Something else"


class Feedback(TenantOwned):
    """Helpful or not, with a comment; versions and models, never a passage."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    answer = models.OneToOneField(Answer, on_delete=models.CASCADE, related_name="feedback")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    helpful = models.BooleanField()
    category = models.CharField(max_length=40, blank=True)
    comment = models.TextField(blank=True, max_length=2000)
    source_versions = models.JSONField(
        default=dict, help_text="{document id: number of the version that was cited}"
    )
    generation_id_used = models.UUIDField(null=True)
    prompt_version = models.CharField(max_length=80, blank=True, default="")
    model = models.CharField(max_length=80, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    @property
    def why(self) -> str:
        """Its category as people read it."""
        return dict(FeedbackCategory.choices).get(self.category, self.category)

    def __str__(self) -> str:
        return ": ".join(filter(None, [self.why, self.comment])) or "No comment"


class ReviewKind(models.TextChoices):
    BLOCKED_DRAFT = "blocked_draft", "Blocked draft"
    FEEDBACK = "feedback", "Feedback"
    SAMPLE = "sample", "Spot check"


class ReviewState(models.TextChoices):
    OPEN = "open", "Open"
    DONE = "done", "Done"


class ReviewItem(TenantOwned):
    """A blocked draft with its one-line reason, feedback that asks for a look, or a spot check."""

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
        constraints = [
            models.UniqueConstraint(
                fields=["answer", "kind"],
                condition=~models.Q(kind=ReviewKind.BLOCKED_DRAFT),
                name="one_review_of_a_kind",
            )
        ]
