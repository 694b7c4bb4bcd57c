"""Tenants, people, groups, roles and tokens: who somebody is. What they may read is elsewhere."""

import uuid

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower

from .scope import TenantManager, tenant_of_new_row


class RefusalPolicy(models.TextChoices):
    INDISTINGUISHABLE = "indistinguishable", "Never say whether a restricted answer exists"
    CONTACT_ADMIN = "contact_admin", "Say that access is missing, without any detail"


class SupersedePolicy(models.TextChoices):
    AT_ACCEPTANCE = "at_acceptance", "As soon as the new version is accepted"
    WHEN_SEARCHABLE = "when_searchable", "When the new version is searchable"


class Role(models.TextChoices):
    TENANT_ADMIN = "tenant_admin", "Tenant administrator"
    DEPARTMENT_ADMIN = "department_admin", "Department administrator"
    REVIEWER = "reviewer", "Reviewer"
    AUDITOR = "auditor", "Auditor"
    EMPLOYEE = "employee", "Employee"


class GroupSource(models.TextChoices):
    LOCAL = "local", "Managed here"
    IDENTITY_PROVIDER = "identity_provider", "Synchronised from the identity provider"


class Tenant(models.Model):
    """One organisation. Every row, file, cache key and log line belongs to exactly one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)
    refusal_policy = models.CharField(
        max_length=32, choices=RefusalPolicy, default=RefusalPolicy.INDISTINGUISHABLE
    )
    supersede_policy = models.CharField(
        max_length=32, choices=SupersedePolicy, default=SupersedePolicy.AT_ACCEPTANCE
    )
    keep_deleted_days = models.PositiveIntegerField(
        default=30, help_text="Days until the content of a deleted document is purged."
    )
    keep_answers_days = models.PositiveIntegerField(
        default=730,
        null=True,
        blank=True,
        help_text="Days that questions and the words of answers are kept. Empty: for ever.",
    )
    default_language = models.CharField(max_length=8, default="en")
    languages = models.JSONField(
        default=list, help_text="Language codes in use, such as en, nl, fr."
    )
    review_sample_percent = models.DecimalField(
        default=2,
        max_digits=5,
        decimal_places=2,
        help_text="Share of a week's answers that are drawn for spot checks.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="sample_is_a_percentage",
                condition=models.Q(review_sample_percent__gte=0, review_sample_percent__lte=100),
            )
        ]

    def __str__(self) -> str:
        return self.name


class TenantOwned(models.Model):
    """Base of every table that belongs to a tenant; the current scope fills the column."""

    tenant = models.ForeignKey(
        Tenant,
        on_delete=models.PROTECT,
        default=tenant_of_new_row,
        editable=False,
        related_name="+",
    )

    objects = TenantManager()
    # The way round the Python filter, greppable by name; row-level security still holds.
    across_tenants = models.Manager()

    class Meta:
        abstract = True


class Department(TenantOwned):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=120)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint("tenant", Lower("name"), name="department_name_once")
        ]

    def __str__(self) -> str:
        return self.name


class UserManager(TenantManager, BaseUserManager):
    def get_by_natural_key(self, email: str) -> "User":
        return self.get(email__iexact=email)


class User(TenantOwned, AbstractBaseUser):
    """A person's account: one tenant, e-mail unique across Precept."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField("e-mail address")
    name = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField("active", default=True)
    access_revision = models.BigIntegerField(default=1, editable=False)
    # Raised when all sessions end at once; part of what a session is checked against.
    session_generation = models.PositiveIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: list[str] = []
    is_superuser = False  # nobody stands above the roles

    objects = UserManager()

    class Meta:
        ordering = ["email"]
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_once")]

    def __str__(self) -> str:
        return self.name or self.email

    def get_full_name(self) -> str:
        return self.name or self.email

    def _get_session_auth_hash(self, secret=None) -> str:
        digest = super()._get_session_auth_hash(secret)
        return f"{digest}:{self.session_generation}" if self.session_generation else digest

    @property
    def is_staff(self) -> bool:
        """Whether the admin site opens at all; each page asks for its role again."""
        from .selectors import roles_of

        return self.is_active and bool(roles_of(self) - {Role.EMPLOYEE})

    def has_perm(self, perm: str, obj: object = None) -> bool:
        return False  # Django's permission table is not used; see tenants.admin_site

    def has_module_perms(self, app_label: str) -> bool:
        return self.is_staff


class RoleAssignment(TenantOwned):
    """A role somebody holds; department administrators hold it for one department."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="role_assignments")
    role = models.CharField(max_length=32, choices=Role)
    department = models.ForeignKey(Department, on_delete=models.CASCADE, null=True, blank=True)
    source = models.CharField(max_length=32, choices=GroupSource, default=GroupSource.LOCAL)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "role", "department"], name="role_once", nulls_distinct=False
            ),
            models.CheckConstraint(
                name="department_for_department_admins_only",
                condition=models.Q(role=Role.DEPARTMENT_ADMIN, department__isnull=False)
                | (~models.Q(role=Role.DEPARTMENT_ADMIN) & models.Q(department__isnull=True)),
            ),
        ]

    def __str__(self) -> str:
        label = self.get_role_display()
        return f"{label} · {self.department}" if self.department_id else label


class Group(TenantOwned):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=150)
    built_in = models.BooleanField(default=False, editable=False, help_text="Holds every account.")
    external_id = models.CharField(max_length=200, blank=True)
    source = models.CharField(max_length=32, choices=GroupSource, default=GroupSource.LOCAL)
    members = models.ManyToManyField(User, through="GroupMembership", related_name="member_of")

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint("tenant", Lower("name"), name="group_name_once"),
            models.UniqueConstraint(
                fields=["tenant"], condition=models.Q(built_in=True), name="one_everyone_per_tenant"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class GroupMembership(TenantOwned):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    group = models.ForeignKey(Group, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    source = models.CharField(max_length=32, choices=GroupSource, default=GroupSource.LOCAL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "user"], name="membership_once")]
        indexes = [models.Index(fields=["user", "group"], name="membership_by_user")]

    def __str__(self) -> str:
        return f"{self.user} in {self.group}"


class TokenUse(models.TextChoices):
    """What a token may be used for, within what its person may do."""

    READ = "read", "Read documents"
    ASK = "ask", "Ask questions"
    DOCUMENTS = "documents", "Manage documents"
    EVALUATE = "evaluate", "Run evaluation cases"


def every_use() -> list[str]:
    return [str(use) for use in TokenUse]


class ApiToken(TenantOwned):
    """A bearer token. Only its SHA-256 is kept; the token itself is shown once."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    digest = models.CharField(max_length=64, unique=True)
    uses = ArrayField(models.CharField(max_length=16, choices=TokenUse), default=every_use)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="token_has_known_uses",
                condition=models.Q(uses__len__gt=0, uses__contained_by=every_use()),
            )
        ]

    def __str__(self) -> str:
        return f"Token of {self.user}"
