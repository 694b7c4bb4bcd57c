"""What writes a tenant's answers: one generator, one prompt, one reranker."""

import uuid

from django.db import models
from django.db.models import Q

from tenants.models import TenantOwned


class ConfigurationStatus(models.TextChoices):
    CANDIDATE = "candidate", "Candidate"
    SERVING = "serving", "Serving"
    RETIRED = "retired", "Retired"


class AnswerConfiguration(TenantOwned):
    """Approved for a tenant when it serves; nothing else writes that tenant's answers."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=250)
    generator = models.CharField(max_length=80, help_text="As PRECEPT_GENERATOR names it.")
    version = models.CharField(
        max_length=80, help_text="Of its prompt and of the rules around it, in this release."
    )
    reranker = models.CharField(max_length=80)
    status = models.CharField(
        max_length=16, choices=ConfigurationStatus, default=ConfigurationStatus.CANDIDATE
    )
    created_at = models.DateTimeField(auto_now_add=True)
    # These three are written by the database alone: see documents migration 0011.
    validated_at = models.DateTimeField(null=True)
    retired_at = models.DateTimeField(null=True)
    took_over_from = models.ForeignKey(
        "self", null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "generator", "version", "reranker"], name="configuration_once"
            ),
            models.UniqueConstraint(
                fields=["tenant"], condition=Q(status="serving"), name="one_serving_configuration"
            ),
        ]

    def __str__(self) -> str:
        return self.name
