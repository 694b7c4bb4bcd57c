"""What is known of a version's text without reading it, and the pairs of documents that look alike."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Greatest, Least

from tenants.models import TenantOwned

from .document import Document, DocumentVersion


class TextProfile(TenantOwned):
    """A version's text as two fingerprints, and what of its pages is empty or was recognised."""

    version = models.OneToOneField(
        DocumentVersion, on_delete=models.CASCADE, primary_key=True, related_name="profile"
    )
    digest = models.CharField(max_length=64, help_text="SHA-256 of the words, whatever the format.")
    signature = models.BinaryField(help_text="MinHash of the text's shingles.")
    words = models.PositiveIntegerField()
    empty_pages = models.PositiveIntegerField(default=0)
    recognised_pages = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["tenant", "digest"], name="profile_by_digest")]

    def __str__(self) -> str:
        return f"Profile of {self.version_id}"


class TextBand(TenantOwned):
    """Part of a signature. Texts that are alike share one, so alike is found by equality."""

    id = models.BigAutoField(primary_key=True)
    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="bands")
    value = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "value"], name="band_once")]
        indexes = [
            models.Index(fields=["tenant", "value"], include=["version"], name="version_by_band")
        ]

    def __str__(self) -> str:
        return f"{self.value}"


class Likeness(models.TextChoices):
    """How much two documents are alike, strongest first."""

    BYTES = "bytes", "The same file"
    TEXT = "text", "The same text in another file"
    NEAR = "near", "Nearly the same text"

    def exceeds(self, other: str) -> bool:
        order = list(Likeness)
        return order.index(self) < order.index(Likeness(other))


class Verdict(models.TextChoices):
    OPEN = "open", "To be decided"
    NEW_VERSION = "new_version", "A new version of the other"
    DUPLICATE = "duplicate", "A duplicate of the other"
    DIFFERENT = "different", "Different documents"


class DuplicateFinding(TenantOwned):
    """Two documents that look alike, until somebody says what they are to each other.

    `document` is the one whose upload was compared, `other` was here before. There is one row for
    each pair, whichever way round.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="+")
    other = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    other_version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=8, choices=Likeness)
    similarity = models.PositiveSmallIntegerField(help_text="Percent of the shingles in common.")
    found_at = models.DateTimeField(auto_now_add=True)
    state = models.CharField(max_length=16, choices=Verdict, default=Verdict.OPEN)
    set_aside = models.ForeignKey(Document, on_delete=models.CASCADE, null=True, related_name="+")
    reason = models.CharField(max_length=300, blank=True)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )

    class Meta:
        ordering = ["-found_at"]
        verbose_name = "possible duplicate"
        constraints = [
            models.UniqueConstraint(
                Least("document", "other"), Greatest("document", "other"), name="finding_once"
            ),
            models.CheckConstraint(
                name="finding_of_two_documents", condition=~Q(document=F("other"))
            ),
        ]
        indexes = [
            models.Index(fields=["document"], condition=Q(state="open"), name="finding_open"),
            models.Index(fields=["other"], condition=Q(state="open"), name="finding_open_other"),
        ]

    def __str__(self) -> str:
        return f"{self.document} and {self.other}"


class InventoryEntry(Document):
    """A document as the inventory shows it; the same row."""

    class Meta:
        proxy = True
        verbose_name = "document"
        verbose_name_plural = "documents"
