"""What a reviewer found about an answer: each citation judged, the cause named."""

import uuid

from django.conf import settings
from django.db import models

from answers.models import Answer, ReviewItem
from tenants.models import TenantOwned

from .case import EvalCase


class Verdict(models.TextChoices):
    SUPPORTS = "supports", "Supports the sentence"
    PARTLY = "partly", "Supports part of it"
    DOES_NOT = "does_not", "Does not support it"


class Cause(models.TextChoices):
    NONE = "none", "Nothing is wrong"
    RETRIEVAL = "retrieval", "Retrieval: the right passage was not found"
    OUTDATED = "document_outdated", "The document is outdated"
    MISSING = "document_missing", "No document says it"
    WRONG_VERSION = "wrong_version", "The wrong version was used"
    GENERATOR = "generator", "The generator misread its evidence"
    PERMISSION = "permission", "Somebody may read too much or too little"
    WORDING = "wording", "The wording"


class SpotCheck(TenantOwned):
    """One reviewer's judgement of one item of the queue. Written once; an item that was opened again
    has several.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="spot_checks")
    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="spot_checks")
    outcome_right = models.BooleanField(
        help_text="Whether answering, or refusing, was right for this person."
    )
    cause = models.CharField(max_length=24, choices=Cause)
    note = models.TextField(blank=True, max_length=2000)
    case = models.ForeignKey(EvalCase, on_delete=models.SET_NULL, null=True, related_name="+")
    judged_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    judged_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "judgement"
        ordering = ["-judged_at"]

    def __str__(self) -> str:
        return f"Judged {self.judged_at:%d %B %Y}"


class CitationVerdict(TenantOwned):
    """Whether a quote bears out its sentence. Ids and numbers; no words."""

    spot_check = models.ForeignKey(SpotCheck, on_delete=models.CASCADE, related_name="verdicts")
    number = models.PositiveSmallIntegerField()
    document_id_cited = models.UUIDField()
    version_cited = models.PositiveIntegerField()
    verdict = models.CharField(max_length=12, choices=Verdict)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(
                fields=["spot_check", "number"], name="one_verdict_per_citation"
            )
        ]
