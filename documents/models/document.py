"""Document, its immutable versions, and the grants that let somebody read it."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from tenants.models import Department, Group, SupersedePolicy, TenantOwned


class LifeCycle(models.TextChoices):
    VETTED = "vetted", "Vetted"
    ARCHIVED = "archived", "Archived (withdrawn, citable and flagged)"
    DRAFT = "draft", "Draft"
    DUPLICATE = "duplicate", "Duplicate"
    UNKNOWN_PROVENANCE = "unknown_provenance", "Unknown provenance"


# Only these can ever be evidence; the SQL function documents_readable() says the same.
CITABLE = (LifeCycle.VETTED, LifeCycle.ARCHIVED)


class VersionStatus(models.TextChoices):
    RECEIVED = "received", "Received, waiting to be read"
    ACCEPTED = "accepted", "Accepted, being indexed"
    SEARCHABLE = "searchable", "Searchable"
    FAILED = "failed", "Failed"


# There is work left to do for these.
UNFINISHED = (VersionStatus.RECEIVED, VersionStatus.ACCEPTED)


class FailureCode(models.TextChoices):
    ENCRYPTED = "encrypted", "Needs a password"
    DAMAGED = "damaged", "Damaged"
    NO_TEXT = "no_text", "Holds no text"
    TOO_LARGE = "too_large", "Too large"
    UNSUPPORTED = "unsupported", "Of a kind that cannot be read"
    STOPPED = "stopped", "Could not be read within its limits"
    GAVE_UP = "gave_up", "Gave up after several attempts"
    INVALID = "invalid", "Failed its validation"
    PROCESSOR = "processor", "A processor was not available"
    DELETED = "deleted", "The document was deleted"


class Priority(models.IntegerChoices):
    """What is worked on first; within one, the older."""

    SINGLE = 0, "A file or new version that somebody waits for"
    BULK = 10, "One of many"


class Document(TenantOwned):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    title = models.CharField(max_length=300)
    reference = models.CharField("reference code", max_length=60, blank=True)
    department = models.ForeignKey(Department, on_delete=models.PROTECT)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    life_cycle = models.CharField(max_length=32, choices=LifeCycle, default=LifeCycle.DRAFT)
    effective_date = models.DateField(null=True, blank=True)
    withdrawn_date = models.DateField(null=True, blank=True)
    supersede_policy = models.CharField(
        max_length=32, choices=SupersedePolicy, blank=True, help_text="Empty: as the tenant says."
    )
    current_version = models.ForeignKey(
        "DocumentVersion", on_delete=models.PROTECT, null=True, editable=False, related_name="+"
    )
    access_revision = models.BigIntegerField(default=1, editable=False)
    source_system = models.CharField(max_length=40, default="upload", editable=False)
    source_item_id = models.CharField(max_length=300, blank=True, editable=False)
    source_etag = models.CharField(max_length=200, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True, editable=False)
    # Set by documents.retention: the words are gone from the tables, then the files.
    purged_at = models.DateTimeField(null=True, editable=False)
    files_purged_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["title"]
        constraints = [
            models.CheckConstraint(
                name="archived_has_withdrawn_date",
                condition=~Q(life_cycle=LifeCycle.ARCHIVED) | Q(withdrawn_date__isnull=False),
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "reference"], name="document_by_reference"),
            models.Index(
                fields=["tenant", "deleted_at"],
                condition=Q(deleted_at__isnull=False, files_purged_at=None),
                name="document_to_purge",
            ),
        ]

    def __str__(self) -> str:
        return self.title


class DocumentVersion(TenantOwned):
    """One immutable upload. Bytes and extracted text live in the object store, by content."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    file_name = models.CharField(max_length=255, blank=True)
    object_key = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    media_type = models.CharField(max_length=100)
    size = models.PositiveBigIntegerField()
    status = models.CharField(max_length=16, choices=VersionStatus, default=VersionStatus.RECEIVED)
    failure_code = models.CharField(max_length=16, choices=FailureCode, blank=True)
    failure_reason = models.CharField(max_length=500, blank=True)
    effective_date = models.DateField(null=True, blank=True)
    waits_for_date = models.BooleanField(default=False, editable=False)
    withdrawn_at = models.DateTimeField(null=True, editable=False)
    language = models.CharField(max_length=8, blank=True)
    submitted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    text_key = models.CharField(max_length=200, blank=True)
    text_sha256 = models.CharField(max_length=64, blank=True)
    page_map = models.JSONField(default=list, help_text="[page, start, end] per page of the text.")
    page_labels = models.JSONField(
        default=dict, help_text="What is printed on a page, by its number."
    )
    recognised_pages = models.JSONField(
        default=list, help_text="Pages whose text came from text recognition."
    )
    structure_key = models.CharField(
        max_length=200, blank=True, help_text="Its blocks; empty: none are known."
    )
    repairs = models.JSONField(
        default=list, help_text="What was mended in its text or left out of it, by code."
    )
    page_count = models.PositiveIntegerField(default=0)
    chunk_count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    accepted_at = models.DateTimeField(null=True)
    searchable_at = models.DateTimeField(null=True)

    # Work in progress: how urgent, whether the queue has it, who works on it until when, how far.
    priority = models.PositiveSmallIntegerField(choices=Priority, default=Priority.SINGLE)
    queued = models.BooleanField(default=False, editable=False)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["document", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["document", "number"], name="version_number_once"),
            models.UniqueConstraint(fields=["id", "document"], name="version_of_its_document"),
            models.CheckConstraint(
                name="failed_version_says_why",
                condition=~Q(status=VersionStatus.FAILED) | ~Q(failure_reason=""),
            ),
            models.CheckConstraint(
                name="searchable_version_is_whole",
                condition=~Q(status=VersionStatus.SEARCHABLE)
                | (Q(chunk_count__gt=0) & ~Q(text_sha256="") & Q(searchable_at__isnull=False)),
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "sha256"], name="version_by_digest"),
            models.Index(
                fields=["lease_until"],
                condition=Q(status__in=[*UNFINISHED]),
                name="version_at_work",
            ),
        ]

    def __str__(self) -> str:
        return f"Version {self.number}"

    def printed_label(self, page: int) -> str:
        """What is printed on a page where that is not its number, else ''."""
        label = self.page_labels.get(str(page), "")
        return "" if label == str(page) else label


class Grant(TenantOwned):
    """A user or a group may read a document. No grant: nobody may."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="grants")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="grants",
    )
    group = models.ForeignKey(
        Group, on_delete=models.CASCADE, null=True, blank=True, related_name="grants"
    )
    granted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="grants_given",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="grant_to_user_or_group",
                condition=Q(user__isnull=False, group__isnull=True)
                | Q(user__isnull=True, group__isnull=False),
            ),
            models.UniqueConstraint(
                F("document"), F("user"), condition=Q(group__isnull=True), name="user_grant_once"
            ),
            models.UniqueConstraint(
                F("document"), F("group"), condition=Q(user__isnull=True), name="group_grant_once"
            ),
        ]
        indexes = [
            models.Index(fields=["user", "document"], name="grant_by_user"),
            models.Index(fields=["group", "document"], name="grant_by_group"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} may read {self.document}"

    @property
    def subject(self) -> str:
        return f"group:{self.group}" if self.group_id else f"user:{self.user.email}"
