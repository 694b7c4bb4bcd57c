"""The append-only, hash-chained record. Foreign keys to nobody: it outlives what it describes."""

import uuid

from django.db import models

from tenants.scope import TenantManager, tenant_of_new_row


class AuditRecord(models.Model):
    """One thing that happened. seq, at and both hashes are written by a database trigger."""

    # Not a counter: one that all tenants share would tell how much happens in the others.
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant_id = models.UUIDField(default=tenant_of_new_row, editable=False)
    seq = models.BigIntegerField(editable=False, default=0)
    at = models.DateTimeField(editable=False, auto_now_add=True)
    actor = models.UUIDField(null=True, help_text="User id; empty for the system itself.")
    action = models.CharField(max_length=64)
    object_ids = models.JSONField(default=dict)
    facts = models.JSONField(default=dict)
    previous_hash = models.CharField(max_length=64, editable=False, default="")
    hash = models.CharField(max_length=64, editable=False, default="")

    objects = TenantManager()

    class Meta:
        ordering = ["-seq"]
        verbose_name = "audit record"
        constraints = [
            models.UniqueConstraint(fields=["tenant_id", "seq"], name="audit_seq_once"),
        ]
        indexes = [models.Index(fields=["tenant_id", "action", "at"], name="audit_by_action")]

    def __str__(self) -> str:
        return f"{self.seq} {self.action}"
