"""Evaluation cases bound to a person's permissions and to the versions of what they require."""

import uuid

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils import timezone

from tenants.models import TenantOwned


class CaseState(models.TextChoices):
    DRAFT = "draft", "Draft"
    REVIEWED = "reviewed", "Reviewed"
    ACTIVE = "active", "Active"
    NEEDS_REVIEW = "needs_review", "Needs review"


class Expected(models.TextChoices):
    ANSWERED = "answered", "Answered"
    ABSTAINED = "abstained", "Not enough evidence"
    ACCESS_DENIED = "access_denied", "Access missing"


class ReviewWhy(models.TextChoices):
    """Why a case asks for review; written by the database's triggers."""

    GROUP_JOINED = "group_joined", "the person joined a group"
    GROUP_LEFT = "group_left", "the person left a group"
    ROLE_GIVEN = "role_given", "the person was given a role"
    ROLE_TAKEN = "role_taken", "a role was taken from the person"
    GRANT_GIVEN = "grant_given", "access to a document was given"
    GRANT_TAKEN = "grant_taken", "access to a document was taken"
    PERSON_SWITCHED = "person_switched", "the account was activated or deactivated"
    NEW_VERSION = "new_version", "another version of a required document is in force"
    DOCUMENT_MOVED = "document_moved", "a required document was moved, withdrawn or deleted"
    WORDS_PURGED = "words_purged", "a required document was purged, and the case's words with it"


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
    bound_versions = models.JSONField(
        default=dict, help_text="{document id: number of the version it was reviewed with}"
    )
    expected_outcome = models.CharField(max_length=16, choices=Expected)
    required_text = models.JSONField(default=list)
    required_documents = models.JSONField(default=list, help_text="Document ids.")
    required_sections = models.JSONField(
        default=list, help_text="Headings, as citations tell them."
    )
    forbidden_text = models.JSONField(default=list)
    correct_answer = models.TextField(blank=True)
    state = models.CharField(max_length=16, choices=CaseState, default=CaseState.DRAFT)
    review_why = models.CharField(max_length=24, blank=True, choices=ReviewWhy, default="")
    review_object = models.UUIDField(null=True, help_text="Group, document or person it is about.")
    version = models.PositiveIntegerField(default=1)
    # The answer it was made from, if any.
    from_answer = models.UUIDField(null=True)
    source_documents = models.JSONField(
        default=list, help_text="Ids of documents whose words it was filled in with."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(
        default=timezone.now,
        editable=False,
        help_text="Whatever in it; written by the database alone.",
    )

    class Meta:
        verbose_name = "evaluation case"
        ordering = ["key"]
        constraints = [models.UniqueConstraint(fields=["tenant", "key"], name="case_key_once")]
        indexes = [GinIndex(fields=["required_documents"], name="cases_by_document")]

    def __str__(self) -> str:
        return self.key


class EvalCaseVersion(TenantOwned):
    """What a case said, once. Written with each change and never changed."""

    case = models.ForeignKey(EvalCase, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    content = models.JSONField()
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["case", "number"], name="case_version_once")]
