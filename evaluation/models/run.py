"""Runs of evaluation cases, and what each case gave."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from answers.models import AnswerConfiguration
from documents.models import IndexGeneration
from tenants.models import TenantOwned

from .case import EvalCase


class RunState(models.TextChoices):
    QUEUED = "queued", "Waiting"
    RUNNING = "running", "Running"
    FINISHED = "finished", "Finished"
    CANCELLED = "cancelled", "Cancelled"
    STOPPED = "stopped", "Stopped: its budget was spent"


class Variant(models.TextChoices):
    """What a case was run through: the system as it serves, or the candidate beside it."""

    SERVING = "serving", "As it serves"
    CANDIDATE = "candidate", "Candidate"


class EvalRun(TenantOwned):
    """Cases run once or several times, through what serves, a candidate, or both."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    state = models.CharField(max_length=12, choices=RunState, default=RunState.QUEUED)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    variants = ArrayField(models.CharField(max_length=12, choices=Variant), default=list)
    generator = models.CharField(max_length=80)
    generation = models.ForeignKey(
        IndexGeneration, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    candidate_generation = models.ForeignKey(
        IndexGeneration, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    candidate_configuration = models.ForeignKey(
        AnswerConfiguration, on_delete=models.PROTECT, null=True, related_name="+"
    )
    candidate_generator = models.CharField(max_length=80, blank=True, default="")
    keys = ArrayField(models.CharField(max_length=120), default=list, help_text="Empty: all.")
    repeats = models.PositiveSmallIntegerField(default=1)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    most_minutes = models.PositiveIntegerField(null=True)
    most_tokens = models.PositiveIntegerField(null=True)
    cancel_requested = models.BooleanField(default=False)
    # Active cases when it began that were not run since they ask for review.
    not_run = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    alive_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    measures = models.JSONField(default=dict)

    class Meta:
        verbose_name = "evaluation run"
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                name="run_that_ended_says_when",
                condition=Q(state__in=["queued", "running"], finished_at=None)
                | (Q(finished_at__isnull=False) & ~Q(state__in=["queued", "running"])),
            )
        ]

    def __str__(self) -> str:
        return f"Run of {timezone.localtime(self.created_at):%d %B %Y, %H:%M}"

    @property
    def is_comparison(self) -> bool:
        return len(self.variants) > 1


class EvalResult(TenantOwned):
    """One case, run once through one variant. Counts and times; no words of any document."""

    run = models.ForeignKey(EvalRun, on_delete=models.CASCADE, related_name="results")
    case = models.ForeignKey(EvalCase, on_delete=models.CASCADE, related_name="results")
    variant = models.CharField(max_length=12, choices=Variant, default=Variant.SERVING)
    repeat = models.PositiveSmallIntegerField(default=1)
    answer_id_given = models.UUIDField()
    expected_outcome = models.CharField(max_length=16, blank=True, default="")
    outcome = models.CharField(max_length=16)
    passed = models.BooleanField()
    violations = models.JSONField(default=list, help_text="Permission violations; must be empty.")
    failures = models.JSONField(default=list)
    # What it can be looked at by.
    kind = models.CharField(max_length=40, blank=True, default="")
    language = models.CharField(max_length=8, blank=True, default="")
    person = models.UUIDField(null=True)
    department = models.CharField(
        max_length=120, blank=True, default="", help_text="Of the first required document."
    )
    generation_used = models.UUIDField(null=True)
    prompt_version = models.CharField(max_length=80, blank=True, default="")
    model = models.CharField(max_length=80, blank=True, default="")
    # What is measured; see docs/measures.md.
    sentences = models.PositiveIntegerField(default=0)
    ungrounded = models.PositiveIntegerField(default=0)
    citations = models.PositiveIntegerField(default=0)
    citations_right = models.PositiveIntegerField(null=True)
    not_verbatim = models.PositiveIntegerField(default=0)
    required = models.PositiveIntegerField(default=0)
    required_found = models.PositiveIntegerField(default=0)
    first_rank = models.PositiveIntegerField(null=True)
    first_status_ms = models.PositiveIntegerField(default=0)
    answer_ms = models.PositiveIntegerField(default=0)
    tokens = models.PositiveIntegerField(default=0)
    digest = models.CharField(
        max_length=64, blank=True, default="", help_text="Of outcome, words and quotes."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "case", "variant", "repeat"], name="case_once_per_run_and_variant"
            )
        ]
