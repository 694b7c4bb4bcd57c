"""What is searchable: chunks, their terms and vectors, per index generation."""

import uuid

from django.db import models
from django.db.models import Q
from pgvector.django import HalfVectorField

from tenants.models import TenantOwned

from .document import Document, DocumentVersion


class GenerationStatus(models.TextChoices):
    BUILDING = "building", "Building"
    VALIDATED = "validated", "Validated"
    SHADOW = "shadow", "In shadow"
    SERVING = "serving", "Serving"
    RETIRED = "retired", "Retired"


class IndexGeneration(TenantOwned):
    """One configuration of chunking, tokeniser, embedder and ranking, and everything built with it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=80)
    chunking = models.CharField(max_length=40)
    tokeniser = models.CharField(max_length=40)
    embedder = models.CharField(max_length=80)
    embedder_version = models.CharField(max_length=80)
    dims = models.PositiveIntegerField()
    ranking = models.JSONField(help_text="See documents.retrieval.ranking.Ranking.")
    status = models.CharField(
        max_length=16, choices=GenerationStatus, default=GenerationStatus.BUILDING
    )
    probe = HalfVectorField(
        null=True, help_text="What the embedder made of a known text: it must make the same again."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    # These three are written by the database alone: see migration 0011.
    validated_at = models.DateTimeField(null=True)
    retired_at = models.DateTimeField(null=True)
    took_over_from = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="What served when it began to serve.",
    )
    reclaimed_at = models.DateTimeField(null=True)

    # Building: who works on it until when, how far it is, and what it cost.
    lease = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    failure_reason = models.CharField(max_length=500, blank=True, default="")
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
    passages_embedded = models.PositiveBigIntegerField(default=0)
    seconds_spent = models.FloatField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="generation_name_once"),
            models.UniqueConstraint(
                fields=["tenant"],
                condition=Q(status=GenerationStatus.SERVING),
                name="one_serving_generation",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ShadowComparison(TenantOwned):
    """One live question, also run through a generation in shadow: how alike, and nothing else.

    `overlap` is the share of the serving generation's best passages that the other one has too.
    """

    generation = models.ForeignKey(
        IndexGeneration, on_delete=models.CASCADE, related_name="comparisons"
    )
    compared_at = models.DateTimeField(auto_now_add=True)
    overlap = models.FloatField()


class Chunk(TenantOwned):
    """An indexed passage of one version. Immutable; id is derived from version, chunking, ordinal."""

    id = models.UUIDField(primary_key=True, editable=False)
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="+")
    version = models.ForeignKey(DocumentVersion, on_delete=models.PROTECT, related_name="chunks")
    chunking = models.CharField(max_length=40)
    ordinal = models.PositiveIntegerField()
    section = models.CharField(max_length=300, blank=True)
    page = models.PositiveIntegerField()
    start = models.PositiveIntegerField(help_text="Code point offset into the version's text.")
    end = models.PositiveIntegerField()
    text = models.TextField()
    context = models.TextField(
        blank=True, default="", help_text="Headings and table heads: searched, never quoted."
    )
    sha256 = models.CharField(max_length=64)
    language = models.CharField(max_length=8)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version", "chunking", "ordinal"], name="chunk_ordinal_once"
            ),
            models.CheckConstraint(name="chunk_span", condition=Q(end__gt=models.F("start"))),
        ]

    def __str__(self) -> str:
        return f"Chunk {self.ordinal} of {self.version_id}"


class ChunkTerm(TenantOwned):
    """How often a term stands in a chunk. Reached by equality only (see docs/adr/0003).

    term is `LANGUAGE:lexeme`, or `id:IDENTIFIER` for the exact codes (`id:POL-2024-017`).
    """

    generation = models.ForeignKey(IndexGeneration, on_delete=models.CASCADE, related_name="+")
    chunk = models.ForeignKey(Chunk, on_delete=models.CASCADE, related_name="+")
    version = models.ForeignKey(DocumentVersion, on_delete=models.PROTECT, related_name="+")
    term = models.CharField(max_length=120)
    tf = models.PositiveSmallIntegerField()
    length = models.PositiveIntegerField(help_text="Terms in the chunk, for length normalisation.")

    class Meta:
        indexes = [
            models.Index(
                fields=["generation", "term"],
                include=["tenant", "chunk", "version", "tf", "length"],
                name="term_covering",
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["chunk", "generation", "term"], name="chunk_term_once")
        ]


class TermStatistics(TenantOwned):
    """In how many chunks of a generation a term stands. Kept by trigger."""

    generation = models.ForeignKey(IndexGeneration, on_delete=models.CASCADE, related_name="+")
    term = models.CharField(max_length=120)
    document_frequency = models.IntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["generation", "term"],
                include=["tenant", "document_frequency"],
                name="term_statistics_once",
            )
        ]


class CorpusStatistics(TenantOwned):
    """Chunks and terms of a generation, for BM25's N and average length. Kept by trigger."""

    generation = models.OneToOneField(IndexGeneration, on_delete=models.CASCADE, related_name="+")
    chunk_count = models.BigIntegerField(default=0)
    total_length = models.BigIntegerField(default=0)


class ChunkEmbedding(TenantOwned):
    """A chunk's vector in one generation. `live` is a copy for speed, never trusted by the authority."""

    generation = models.ForeignKey(IndexGeneration, on_delete=models.CASCADE, related_name="+")
    chunk = models.ForeignKey(Chunk, on_delete=models.CASCADE, related_name="embeddings")
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="+")
    version = models.ForeignKey(DocumentVersion, on_delete=models.PROTECT, related_name="+")
    live = models.BooleanField(default=False)
    # No fixed dimensions: generations differ. Each has its own partial HNSW index.
    vector = HalfVectorField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chunk", "generation"], name="embedding_once")
        ]
        indexes = [
            models.Index(
                fields=["generation", "document"],
                condition=Q(live=True),
                include=["tenant", "version"],
                name="embedding_by_document",
            )
        ]
