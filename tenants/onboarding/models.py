"""Invitations: who may make themselves an account, with which role, until when."""

import uuid

from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from tenants.models import Department, Role, TenantOwned, User

_OPEN = models.Q(accepted_at=None, withdrawn_at=None)


class Invitation(TenantOwned):
    """Used once. Of the link only its SHA-256 is kept; each sending makes a new one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField("e-mail address")
    role = models.CharField(max_length=32, choices=Role, default=Role.EMPLOYEE)
    department = models.ForeignKey(
        Department, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    # None: the platform's operator.
    invited_by = models.ForeignKey(
        User, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    digest = models.CharField(max_length=64, unique=True, null=True, editable=False)  # noqa: DJ001
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True, editable=False)
    expires_at = models.DateTimeField(editable=False)
    accepted_at = models.DateTimeField(null=True, editable=False)
    withdrawn_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                "tenant", Lower("email"), condition=_OPEN, name="one_open_invitation"
            ),
            models.CheckConstraint(
                name="invitation_accepted_or_withdrawn",
                condition=models.Q(accepted_at=None) | models.Q(withdrawn_at=None),
            ),
            models.CheckConstraint(
                name="invitation_department_for_its_administrators",
                condition=models.Q(role=Role.DEPARTMENT_ADMIN, department__isnull=False)
                | (~models.Q(role=Role.DEPARTMENT_ADMIN) & models.Q(department__isnull=True)),
            ),
        ]

    def __str__(self) -> str:
        return self.email

    @property
    def state(self) -> str:
        if self.accepted_at:
            return "accepted"
        if self.withdrawn_at:
            return "withdrawn"
        if self.expires_at <= timezone.now():
            return "expired"
        return "sent" if self.sent_at else "waiting to be sent"
