"""Identity providers of a tenant, whose accounts they vouch for, and what their groups mean here."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower

from tenants.models import Department, Group, Role, TenantOwned, User


class ProviderState(models.TextChoices):
    DRAFT = "draft", "Not tried yet"
    TRIED = "tried", "Tried, not in use"
    ON = "on", "In use"
    OFF = "off", "Switched off"


class Protocol(models.TextChoices):
    OIDC = "oidc", "OpenID Connect"
    SAML = "saml", "SAML 2.0"


class IdentityProvider(TenantOwned):
    """One registration of Precept at a provider. Several tenants may share an issuer."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=120, help_text="What people know it as.")
    protocol = models.CharField(max_length=8, choices=Protocol, default=Protocol.OIDC)
    # What it calls itself: an address, or for SAML whatever its metadata says.
    issuer = models.CharField(max_length=300, blank=True)
    client_id = models.CharField("client ID", max_length=255, blank=True)
    # Encrypted; see tenants.identity.secrets. Empty for a public client.
    client_secret = models.TextField(blank=True, editable=False)
    scopes = models.CharField(max_length=300, default="openid email profile")
    groups_claim = models.CharField(max_length=120, default="groups", blank=True)
    # SAML only: how it describes itself, and what it calls what OpenID has fixed names for.
    saml_metadata = models.TextField("metadata", blank=True)
    email_attribute = models.CharField(max_length=200, default="email", blank=True)
    name_attribute = models.CharField(max_length=200, default="name", blank=True)
    confirms_addresses = models.BooleanField(
        "its addresses are confirmed",
        default=False,
        help_text="A first sign-in needs that. Only where nobody can choose their own address.",
    )
    creates_accounts = models.BooleanField(
        "makes accounts",
        default=False,
        help_text="A first sign-in makes an account, if the address is confirmed and of a proven domain.",
    )
    state = models.CharField(max_length=8, choices=ProviderState, default=ProviderState.DRAFT)
    tried_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "issuer", "client_id"], name="provider_registered_once"
            ),
            models.CheckConstraint(
                name="provider_tried_before_use",
                condition=~models.Q(state=ProviderState.ON) | models.Q(tried_at__isnull=False),
            ),
            models.CheckConstraint(
                name="provider_has_what_its_protocol_needs",
                condition=~models.Q(issuer="")
                & (
                    models.Q(protocol=Protocol.OIDC, saml_metadata="") & ~models.Q(client_id="")
                    | models.Q(protocol=Protocol.SAML, client_id="", client_secret="")
                    & ~models.Q(saml_metadata="")
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ExternalIdentity(TenantOwned):
    """Whose account a subject of a provider is."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    provider = models.ForeignKey(
        IdentityProvider, on_delete=models.PROTECT, related_name="identities"
    )
    subject = models.CharField(max_length=255)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="identities")
    # What the provider said last. None: it has never said.
    groups = ArrayField(models.CharField(max_length=300), null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_seen_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "subject"], name="subject_once"),
            models.UniqueConstraint(fields=["provider", "user"], name="one_subject_per_account"),
        ]

    def __str__(self) -> str:
        return f"{self.user} at {self.provider}"


class UsedAssertion(TenantOwned):
    """A SAML assertion that somebody has come with: it is believed once. Kept until it has expired."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    provider = models.ForeignKey(IdentityProvider, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)  # SHA-256 of its ID, which may be of any length
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "digest"], name="assertion_used_once")
        ]


class LinkPermission(TenantOwned):
    """An administrator's word that an account may be taken over by whoever proves its address."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    provider = models.ForeignKey(IdentityProvider, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "user"],
                condition=models.Q(used_at=None),
                name="one_open_permission_to_link",
            )
        ]


class EmailDomain(TenantOwned):
    """A domain whose people are sent to a provider, once the tenant has shown that it is theirs."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    domain = models.CharField(max_length=253)
    proof = models.CharField(max_length=64, editable=False)
    proven_at = models.DateTimeField(null=True, editable=False)
    provider = models.ForeignKey(
        IdentityProvider, on_delete=models.SET_NULL, null=True, blank=True, related_name="domains"
    )

    class Meta:
        ordering = ["domain"]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "domain"], name="domain_named_once"),
            # Across tenants: a domain leads to one organisation.
            models.UniqueConstraint(
                fields=["domain"],
                condition=models.Q(proven_at__isnull=False),
                name="domain_proven_once",
            ),
            models.CheckConstraint(
                name="domain_is_lower_case", condition=models.Q(domain=Lower("domain"))
            ),
        ]

    def __str__(self) -> str:
        return self.domain


class GroupRule(TenantOwned):
    """Whoever is in this group at the provider is in that group here, or holds that role."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    provider = models.ForeignKey(IdentityProvider, on_delete=models.CASCADE, related_name="rules")
    value = models.CharField("group at the provider", max_length=300)
    group = models.ForeignKey(
        Group, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    role = models.CharField(
        max_length=32,
        blank=True,
        choices=[(r.value, r.label) for r in Role if r != Role.EMPLOYEE],
    )
    department = models.ForeignKey(
        Department, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["value"]
        constraints = [
            models.CheckConstraint(
                name="rule_gives_a_group_or_a_role",
                condition=models.Q(group__isnull=False, role="")
                | (models.Q(group__isnull=True) & ~models.Q(role="")),
            ),
            models.CheckConstraint(
                name="rule_names_a_department_for_its_administrators",
                condition=models.Q(role=Role.DEPARTMENT_ADMIN, department__isnull=False)
                | (~models.Q(role=Role.DEPARTMENT_ADMIN) & models.Q(department__isnull=True)),
            ),
            models.UniqueConstraint(
                fields=["provider", "value", "group", "role", "department"],
                name="rule_once",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.value} → {self.group or Role(self.role).label}"


class SignInPolicy(TenantOwned):
    """How people of this tenant may sign in. No row: passwords are allowed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    passwords = models.BooleanField("passwords may be used", default=True)
    # Opens with a password whatever else is switched off; every use is recorded.
    break_glass = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="one_sign_in_policy")]
