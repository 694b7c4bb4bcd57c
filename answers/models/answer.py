"""One question by one person, how it went, and what was released."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from documents.models import Document, DocumentVersion
from tenants.models import TenantOwned


class AnswerState(models.TextChoices):
    RUNNING = "running", "Running"
    FINISHED = "finished", "Finished"


class Outcome(models.TextChoices):
    ANSWERED = "answered", "Answered"
    EXCERPTS = "excerpts", "Excerpts only"
    ABSTAINED = "abstained", "Not enough evidence"
    ACCESS_DENIED = "access_denied", "Access missing"
    UNAVAILABLE = "unavailable", "Unavailable"
    CANCELLED = "cancelled", "Cancelled"
    INTERRUPTED = "interrupted", "Interrupted"


class Reason(models.TextChoices):
    """Why an attempt ended as it did. What reveals something restricted stays out of this list."""

    NO_EVIDENCE = "no_evidence", "No permitted passage answers the question"
    SEARCH = "search", "The search was not available"
    MODEL = "model", "The model was not available"
    AUTHORITY = "authority", "The authority was not available"
    SOURCES_CHANGED = "sources_changed", "The sources changed while the answer was made"
    BUDGET_EXCEEDED = "budget_exceeded", "The allowance of tokens ran out while it was made"
    DISCONNECTED = "disconnected", "The connection was lost"
    INTERNAL = "internal", "Something went wrong"
    NO_LONGER_KEPT = "no_longer_kept", "Its words are no longer kept"


class Purpose(models.TextChoices):
    LIVE = "live", "Asked by a person"
    EVALUATION = "evaluation", "Asked by an evaluation run; shown to nobody"


class Channel(models.TextChoices):
    """How a question came in. A token and a command can be somebody else's doing in a person's name."""

    SESSION = "session", "The person, signed in"
    TOKEN = "token", "A token"
    COMMAND = "command", "A command"


class Answer(TenantOwned):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="answers"
    )
    purpose = models.CharField(max_length=12, choices=Purpose, default=Purpose.LIVE)
    channel = models.CharField(max_length=8, choices=Channel, default=Channel.SESSION)
    token_id = models.UUIDField(null=True, help_text="The token it was asked with, if any.")
    request_id = models.CharField(max_length=100)
    payload_digest = models.CharField(max_length=64)
    question = models.TextField()
    language = models.CharField(max_length=8)
    state = models.CharField(max_length=16, choices=AnswerState, default=AnswerState.RUNNING)
    stage = models.CharField(max_length=32, default="received")
    attempt = models.PositiveSmallIntegerField(default=1)
    cancel_requested = models.BooleanField(default=False)
    alive_at = models.DateTimeField(
        null=True, help_text="Last sign of the connection that runs it; empty where none is kept."
    )
    followed_at = models.DateTimeField(null=True, help_text="Last look of another connection.")
    outcome = models.CharField(max_length=16, choices=Outcome, blank=True)
    reason = models.CharField(max_length=32, choices=Reason, blank=True)
    generation_id_used = models.UUIDField(null=True)
    configuration_id_used = models.UUIDField(null=True)
    canary_id_asked = models.UUIDField(null=True, help_text="The canary that ran then, if any.")
    arm = models.CharField(max_length=12, blank=True, default="")
    generator = models.CharField(max_length=80, blank=True)
    prompt_version = models.CharField(max_length=80, blank=True)
    model = models.CharField(max_length=80, blank=True)
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    stage_timings = models.JSONField(default=dict, help_text="Milliseconds per stage.")
    signals = models.JSONField(default=dict, help_text="The scores that decided; no text.")
    digest = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    purged_at = models.DateTimeField(
        null=True, editable=False, help_text="Since then its words are no longer kept."
    )

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "user", "request_id"], name="request_id_once_per_person"
            ),
            models.CheckConstraint(
                name="finished_answer_has_outcome",
                condition=Q(state=AnswerState.RUNNING, outcome="")
                | (Q(state=AnswerState.FINISHED, finished_at__isnull=False) & ~Q(outcome="")),
            ),
        ]
        indexes = [
            models.Index(fields=["user", "-created_at"], name="answers_of_person"),
            models.Index(
                fields=["created_at"], condition=Q(state="running"), name="answers_running"
            ),
            models.Index(
                fields=["tenant", "created_at"], condition=Q(purged_at=None), name="answers_kept"
            ),
            models.Index(
                fields=["canary_id_asked", "arm"],
                condition=Q(canary_id_asked__isnull=False),
                name="answers_of_canary",
            ),
        ]

    def __str__(self) -> str:
        return f"Answer {self.id}"


class Claim(TenantOwned):
    """One sentence of an answer."""

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="claims")
    ordinal = models.PositiveSmallIntegerField()
    text = models.TextField()

    class Meta:
        ordering = ["ordinal"]
        constraints = [
            models.UniqueConstraint(fields=["answer", "ordinal"], name="claim_ordinal_once")
        ]


class Citation(TenantOwned):
    """The exact words a claim relies on: text[start:end] == quote in that version's text."""

    claim = models.ForeignKey(Claim, on_delete=models.CASCADE, related_name="citations")
    number = models.PositiveSmallIntegerField()
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="+")
    version = models.ForeignKey(DocumentVersion, on_delete=models.PROTECT, related_name="+")
    chunk_id_cited = models.UUIDField()
    page = models.PositiveIntegerField()
    section = models.CharField(max_length=300, blank=True)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()
    language = models.CharField(max_length=8, blank=True)

    class Meta:
        ordering = ["number"]
