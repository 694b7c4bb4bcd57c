"""The same questions asked as several people: what each got."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from tenants.models import TenantOwned

from .run import RunState


class PersonaDiff(TenantOwned):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    title = models.CharField(max_length=120)
    questions = ArrayField(models.TextField())
    people = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="PersonaDiffPerson", related_name="+"
    )
    state = models.CharField(max_length=12, choices=RunState, default=RunState.QUEUED)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    alive_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "comparison of people"
        verbose_name_plural = "comparisons of people"
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.title


class PersonaDiffPerson(TenantOwned):
    diff = models.ForeignKey(PersonaDiff, on_delete=models.CASCADE, related_name="columns")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["diff", "user"], name="person_once_in_diff")]


class PersonaAnswer(TenantOwned):
    """Which answer a person got; its words are shown to who may read its sources."""

    diff = models.ForeignKey(PersonaDiff, on_delete=models.CASCADE, related_name="answers")
    question = models.PositiveSmallIntegerField(help_text="From 0.")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    answer_id_given = models.UUIDField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["diff", "question", "user"], name="cell_once_in_diff")
        ]
