"""Runs of evaluation cases, and what each case gave."""

import uuid

from django.db import models

from tenants.models import TenantOwned

from .case import EvalCase


class EvalRun(TenantOwned):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    generator = models.CharField(max_length=80)
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    measures = models.JSONField(default=dict)

    class Meta:
        ordering = ["-started_at"]


class EvalResult(TenantOwned):
    run = models.ForeignKey(EvalRun, on_delete=models.CASCADE, related_name="results")
    case = models.ForeignKey(EvalCase, on_delete=models.CASCADE, related_name="results")
    answer_id_given = models.UUIDField()
    outcome = models.CharField(max_length=16)
    passed = models.BooleanField()
    violations = models.JSONField(default=list, help_text="Permission violations; must be empty.")
    failures = models.JSONField(default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "case"], name="case_once_per_run")]
