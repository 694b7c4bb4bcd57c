import uuid

from django.db import models

from tenants.models import TenantOwned


class FactorPolicy(TenantOwned):
    """Whether local accounts of this tenant need a second factor. No row: they do not."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    required = models.BooleanField(
        "local accounts need a second factor",
        default=False,
        help_text="Whoever signs in with a password, the emergency account too. Those without one set it "
        "up at their next page. Accounts that a provider vouches for have theirs there.",
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="one_factor_policy")]
        verbose_name_plural = "second factor"

    def __str__(self) -> str:
        return "Second factor"
