"""What a provider's directory has told: its token, its people and its groups."""

import uuid

from django.db import models
from django.db.models.functions import Lower

from tenants.identity.models import IdentityProvider
from tenants.models import TenantOwned, User


class ScimToken(TenantOwned):
    """What a directory signs in with. Only its SHA-256 is kept; the token itself is shown once."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    provider = models.ForeignKey(IdentityProvider, on_delete=models.PROTECT, related_name="+")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"Token of {self.provider}"


class ProvisionedAccount(TenantOwned):
    """An account that a provider's directory looks after, and what it said of its person."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    provider = models.ForeignKey(IdentityProvider, on_delete=models.PROTECT, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    user_name = models.CharField(max_length=255)
    external_id = models.CharField(max_length=255, blank=True)
    attributes = models.JSONField(
        default=dict, blank=True
    )  # name, displayName, emails, as they were said
    # What the directory said last; an administrator may have deactivated the account besides.
    told_active = models.BooleanField(default=True)
    revision = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "user"], name="account_provisioned_once"),
            models.UniqueConstraint(
                "provider",
                Lower("user_name"),
                condition=models.Q(removed_at=None),
                name="user_name_once",
            ),
            models.UniqueConstraint(
                fields=["provider", "external_id"],
                condition=models.Q(removed_at=None) & ~models.Q(external_id=""),
                name="external_id_once",
            ),
        ]

    def __str__(self) -> str:
        return self.user_name


class ProvisionedGroup(TenantOwned):
    """A group of the directory. What it means here is said by the provider's rules alone."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    provider = models.ForeignKey(IdentityProvider, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=300)
    external_id = models.CharField(max_length=255, blank=True)
    members = models.ManyToManyField(
        ProvisionedAccount, through="ProvisionedMembership", related_name="groups"
    )
    revision = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            # Rules go by name: two groups of one name could not be told apart.
            models.UniqueConstraint("provider", Lower("name"), name="provisioned_group_once"),
        ]

    def __str__(self) -> str:
        return self.name


class ProvisionedMembership(TenantOwned):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    group = models.ForeignKey(
        ProvisionedGroup, on_delete=models.CASCADE, related_name="memberships"
    )
    account = models.ForeignKey(
        ProvisionedAccount, on_delete=models.CASCADE, related_name="memberships"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "account"], name="provisioned_member_once")
        ]
