"""What the authority allowed: text to a processor, and an answer out."""

import uuid

from django.db import models
from django.db.models import Q

from tenants.models import TenantOwned

from .answer import Answer


class PermitStep(models.TextChoices):
    RERANK = "rerank", "Reranking"
    GENERATE = "generate", "Generation"


class ContextPermit(TenantOwned):
    """One processor call may receive exactly these chunks. Never changes once written."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="permits")
    attempt = models.PositiveSmallIntegerField()
    step = models.CharField(max_length=16, choices=PermitStep)
    processor = models.CharField(max_length=120)
    caller = models.UUIDField()
    chunks = models.JSONField(help_text="Chunk ids admitted, in order.")
    document_versions = models.JSONField(help_text="{document id: version id} at admission.")
    access_revisions = models.JSONField(help_text="{user or document id: revision} at admission.")
    rejected = models.PositiveIntegerField(help_text="Candidates counted out; never named.")
    counted_out = models.JSONField(
        default=dict, help_text="{kind: candidates} of those counted out; never which."
    )
    admitted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["admitted_at"]


class ReleasePermit(TenantOwned):
    """One finished answer may leave, once, to one caller, with exactly this digest."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    answer = models.OneToOneField(Answer, on_delete=models.CASCADE, related_name="release_permit")
    attempt = models.PositiveSmallIntegerField()
    digest = models.CharField(max_length=64)
    caller = models.UUIDField()
    document_versions = models.JSONField()
    access_revisions = models.JSONField()
    admitted_at = models.DateTimeField(auto_now_add=True)
    consumed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(name="release_names_digest", condition=~Q(digest=""))]
