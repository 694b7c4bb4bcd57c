"""What lets a candidate serve: the tenant's threshold, overrides by two people, and what passed why."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Length, Trim
from django.db.models.lookups import GreaterThanOrEqual

from answers.models import AnswerConfiguration
from documents.models import IndexGeneration
from tenants.models import TenantOwned

from .run import EvalRun

LEAST_REASON = 20


class GatePolicy(TenantOwned):
    """What share of its cases a candidate must pass. A tenant without one has the default."""

    least_pass_rate = models.FloatField()
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant"], name="one_gate_policy"),
            models.CheckConstraint(
                name="pass_rate_in_range",
                condition=Q(least_pass_rate__gte=0.5, least_pass_rate__lte=1),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.least_pass_rate:.0%}"


def _one_candidate(name: str) -> models.CheckConstraint:
    return models.CheckConstraint(
        name=name,
        condition=Q(generation__isnull=False, configuration=None)
        | Q(generation=None, configuration__isnull=False),
    )


class ForCandidate(TenantOwned):
    """About an index generation or an answer configuration, one of the two."""

    generation = models.ForeignKey(
        IndexGeneration, null=True, on_delete=models.PROTECT, related_name="+"
    )
    configuration = models.ForeignKey(
        AnswerConfiguration, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        abstract = True

    @property
    def candidate(self) -> IndexGeneration | AnswerConfiguration:
        return self.generation or self.configuration


class GateOverride(ForCandidate):
    """Two people's decision to let a candidate serve although these things stand against it.

    One writes it, another approves it; neither alone suffices. It covers what stood against the
    candidate when it was written, and nothing that turns up later.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    waives = ArrayField(models.CharField(max_length=40), help_text="Codes of what it waives.")
    reason = models.TextField()
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    asked_at = models.DateTimeField(auto_now_add=True)
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    approved_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-asked_at"]
        constraints = [
            _one_candidate("override_of_one_candidate"),
            models.CheckConstraint(
                name="override_by_two_people",
                condition=Q(approved_by=None, approved_at=None)
                | Q(approved_by__isnull=False, approved_at__isnull=False)
                & ~Q(approved_by=F("asked_by")),
            ),
            models.CheckConstraint(
                name="override_has_a_reason",
                condition=GreaterThanOrEqual(Length(Trim("reason")), LEAST_REASON),
            ),
        ]

    def __str__(self) -> str:
        return f"Override for {self.candidate}"


class PassedBy(models.TextChoices):
    FIRST = "first", "Nothing served before"
    RETURN = "return", "It served before"
    RUN = "run", "A green run"
    OVERRIDE = "override", "An override by two people"


class GatePass(ForCandidate):
    """Why something was let to serve. Written by the gate itself, and never changed."""

    passed_at = models.DateTimeField(auto_now_add=True)
    passed_by = models.CharField(max_length=12, choices=PassedBy)
    run = models.ForeignKey(EvalRun, null=True, on_delete=models.PROTECT, related_name="+")
    override = models.ForeignKey(
        GateOverride, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ["-passed_at"]
        constraints = [_one_candidate("pass_of_one_candidate")]

    def __str__(self) -> str:
        return f"{self.candidate}: {self.get_passed_by_display()}"
