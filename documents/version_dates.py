"""Changing from when a version holds, and taking back one that is not in force."""

from datetime import date

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from audit.services import record_action
from tenants.models import User

from .access import get_manageable_document
from .ingestion.accept import put_in_force
from .models import Document, DocumentVersion
from .services import lock_documents


@transaction.atomic
def change_version_date(
    *, actor: User | None, version: DocumentVersion, effective_date: date
) -> bool:
    """Say from when a version holds. True if that was another day before.

    One that waits comes into force on the new day, at once if that day has come. The version in
    force keeps being so: its day cannot be moved into the future.
    """
    document = _locked(actor, version)
    if version.withdrawn_at:
        raise ValidationError("This version was withdrawn. Upload it again to use it.")
    in_force = document.current_version_id == version.pk
    if in_force and effective_date > timezone.localdate():
        raise ValidationError(
            "This version is in force, so its date cannot lie in the future. Upload the later "
            "version with that date, or put a former version in force first."
        )
    former = version.effective_date
    if former == effective_date:
        return False
    DocumentVersion.objects.filter(pk=version.pk).update(effective_date=effective_date)
    if in_force:
        Document.objects.filter(pk=document.pk).update(effective_date=effective_date)
    record_action(
        action="document.version_dated",
        actor=actor and actor.id,
        object_ids={"document": document.pk, "version": version.pk},
        facts={"number": version.number, "from": former, "to": effective_date},
    )
    if version.waits_for_date:
        put_in_force(version)
    version.refresh_from_db()
    return True


@transaction.atomic
def withdraw_version(*, actor: User | None, version: DocumentVersion) -> None:
    """Take a version back that is not in force: it never will be. The upload stays on record."""
    document = _locked(actor, version)
    if document.current_version_id == version.pk:
        raise ValidationError(
            "This version is in force. Put another one in force first, or archive the document."
        )
    if version.withdrawn_at:
        raise ValidationError("This version was withdrawn already.")
    DocumentVersion.objects.filter(pk=version.pk).update(
        withdrawn_at=timezone.now(), waits_for_date=False
    )
    record_action(
        action="document.version_withdrawn",
        actor=actor and actor.id,
        object_ids={"document": document.pk, "version": version.pk},
        facts={"number": version.number},
    )


def _locked(actor: User | None, version: DocumentVersion) -> Document:
    """The version's document under its lock, and both as they are now."""
    if actor is not None:
        get_manageable_document(user=actor, document_id=version.document_id)
    lock_documents([version.document_id])
    version.refresh_from_db()
    return Document.objects.get(pk=version.document_id, deleted_at=None)
