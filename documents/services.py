"""Every write about documents, their versions, life-cycle and grants.

Each service that changes who may read what first takes the document's exclusive lock, as the
triggers do, so that writers meet at one place and in one order.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from audit.services import record_action
from tenants.models import Department, Group, User
from tenants.selectors import departments_administered_by

from . import storage
from .access import get_manageable_document
from .duplicates.findings import note_bytes
from .ingestion.extracted import ExtractionFailed
from .ingestion.extraction.sniff import sniff
from .ingestion.normalise import one_line
from .ingestion.remembered import failed_before
from .models import (
    Document,
    DocumentVersion,
    EventKind,
    FailureCode,
    Grant,
    LifeCycle,
    OutboxEvent,
    Priority,
    VersionStatus,
)


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it arrived: its bytes and the name it had, which identifies nothing."""

    data: bytes
    name: str = ""


@dataclass(frozen=True, slots=True)
class Submission:
    """What became of an upload. `is_new` is False when the same bytes were already there."""

    version: DocumentVersion
    is_new: bool


def create_document(
    *,
    actor: User | None,
    title: str,
    department: Department,
    upload: Upload,
    owner: User | None = None,
    reference: str = "",
    life_cycle: LifeCycle = LifeCycle.VETTED,
    effective_date: date | None = None,
    withdrawn_date: date | None = None,
    subjects: Iterable[User | Group] = (),
    source_system: str = "upload",
    source_item_id: str = "",
    priority: Priority = Priority.SINGLE,
) -> tuple[Document, Submission]:
    """A new document with its first version and its grants, all or nothing.

    `actor` None is the command line. Raises ValidationError for a bad file or field,
    PermissionDenied when the actor does not administer the department.
    """
    _check_department(actor, department)
    check_upload(upload)
    subjects = list(subjects)
    document = Document(
        title=one_line(title),
        reference=one_line(reference),
        department=department,
        owner=owner,
        life_cycle=life_cycle,
        effective_date=effective_date,
        withdrawn_date=withdrawn_date,
        source_system=source_system,
        source_item_id=source_item_id,
    )
    _clean(document)
    with transaction.atomic():
        document.save(force_insert=True)
        for subject in subjects:
            _add_grant(document, subject, actor)
        submission = _store_version(document, upload, actor, effective_date, priority)
        record_action(
            action="document.created",
            actor=_id(actor),
            object_ids={"document": document.id, "version": submission.version.id},
            facts={
                "life_cycle": life_cycle,
                "granted_to": [subject.id for subject in subjects],
            },
        )
    return document, submission


def submit_version(
    *, actor: User | None, document: Document, upload: Upload, effective_date: date | None = None
) -> Submission:
    """A new version of the document. The same bytes as its latest version change nothing."""
    _check_may_manage(actor, document)
    check_upload(upload)
    with transaction.atomic():
        submission = _store_version(document, upload, actor, effective_date)
        if submission.is_new:
            record_action(
                action="document.version_received",
                actor=_id(actor),
                object_ids={"document": document.id, "version": submission.version.id},
                facts={"number": submission.version.number},
            )
    return submission


def check_upload(upload: Upload) -> None:
    """Raises ValidationError with what to do for files that cannot be taken at all."""
    limit = settings.MAX_UPLOAD_BYTES
    if len(upload.data) > limit:
        raise ValidationError(
            f"The file is larger than {limit // 2**20} MB. Split it into parts, or export it again "
            "without embedded images.",
            code=FailureCode.TOO_LARGE,
        )
    try:
        sniff(upload.data)
    except ExtractionFailed as failure:
        raise ValidationError(failure.message, code=failure.code.value) from None


@transaction.atomic
def update_document(*, actor: User | None, document: Document, **fields: object) -> Document:
    """Change title, reference, department or owner; life-cycle and grants have their own services."""
    _check_may_manage(actor, document)
    allowed = {"title", "reference", "department", "owner", "supersede_policy", "effective_date"}
    if unknown := set(fields) - allowed:
        raise TypeError(f"update_document does not change {', '.join(sorted(unknown))}")
    if "department" in fields:
        _check_department(actor, fields["department"])
    effective = fields.get("effective_date")
    if effective and effective > timezone.localdate() and document.current_version_id:
        raise ValidationError(
            {
                "effective_date": "A version is in force already, so its date cannot lie in the "
                "future. Upload the later version with that date instead."
            }
        )
    for name, value in fields.items():
        setattr(document, name, one_line(value) if isinstance(value, str) else value)
    _clean(document)
    document.save(update_fields=list(fields))
    record_action(
        action="document.updated",
        actor=_id(actor),
        object_ids={"document": document.id},
        facts={"fields": sorted(fields)},
    )
    return document


@transaction.atomic
def set_life_cycle(
    *,
    actor: User | None,
    document: Document,
    life_cycle: LifeCycle,
    withdrawn_date: date | None = None,
    reason: str = "",
) -> bool:
    """Move a document between life-cycle buckets. Archiving dates the withdrawal. True if moved.

    A person who takes a document out of the vetted ones says why.
    """
    _check_may_manage(actor, document)
    lock_documents([document.id])
    document.refresh_from_db()
    if document.life_cycle == life_cycle:
        return False
    before = document.life_cycle
    if actor is not None and before == LifeCycle.VETTED and not reason.strip():
        raise ValidationError(
            {"reason": "Say why it is no longer to be used as a vetted document."}
        )
    document.life_cycle = life_cycle
    if life_cycle == LifeCycle.ARCHIVED:
        document.withdrawn_date = withdrawn_date or timezone.localdate()
    else:
        document.withdrawn_date = None
    document.save(update_fields=["life_cycle", "withdrawn_date"])
    record_action(
        action="document.life_cycle_set",
        actor=_id(actor),
        object_ids={"document": document.id},
        facts={"from": before, "to": life_cycle, "reason": reason},
    )
    return True


@transaction.atomic
def grant_access(*, actor: User | None, document: Document, subject: User | Group) -> bool:
    """Let a person or a group read a document. True if that was not so before."""
    _check_may_manage(actor, document)
    lock_documents([document.id])
    created = _add_grant(document, subject, actor)
    if created:
        _record_grant("grant.given", actor, document, subject)
    return created


@transaction.atomic
def revoke_access(*, actor: User | None, document: Document, subject: User | Group) -> bool:
    """Take that back; effective for every admission and release that commits after it."""
    _check_may_manage(actor, document)
    lock_documents([document.id])
    removed, _ = Grant.objects.filter(document=document, **_subject(subject)).delete()
    if removed:
        _record_grant("grant.revoked", actor, document, subject)
    return bool(removed)


@transaction.atomic
def delete_document(*, actor: User | None, document: Document) -> bool:
    """Tombstone: ineligible from this commit on. True if it was not deleted before."""
    _check_may_manage(actor, document)
    lock_documents([document.id])
    deleted = Document.objects.filter(pk=document.pk, deleted_at=None).update(
        deleted_at=timezone.now()
    )
    if deleted:
        record_action(
            action="document.deleted", actor=_id(actor), object_ids={"document": document.id}
        )
    return bool(deleted)


@transaction.atomic
def reinstate_version(*, actor: User | None, version: DocumentVersion) -> None:
    """Put a former searchable version back in force, for instance when its successor failed."""
    document = version.document
    _check_may_manage(actor, document)
    if version.status != VersionStatus.SEARCHABLE or version.withdrawn_at:
        raise ValidationError(
            "Only a version that is searchable and not withdrawn can be put back in force."
        )
    if version.effective_date and version.effective_date > timezone.localdate():
        raise ValidationError(
            f"This version holds from {version.effective_date:%d/%m/%Y} and not before."
        )
    lock_documents([document.id])
    changes = {"current_version": version}
    if version.effective_date:
        changes["effective_date"] = version.effective_date
    Document.objects.filter(pk=document.pk).update(**changes)
    record_action(
        action="document.version_reinstated",
        actor=_id(actor),
        object_ids={"document": document.id, "version": version.id},
        facts={"number": version.number},
    )


@transaction.atomic
def retry_version(*, actor: User | None, version: DocumentVersion) -> None:
    """Try a failed version again from the beginning."""
    _check_may_manage(actor, version.document)
    reset = DocumentVersion.objects.filter(pk=version.pk, status=VersionStatus.FAILED).update(
        status=VersionStatus.ACCEPTED if version.accepted_at else VersionStatus.RECEIVED,
        failure_code="",
        failure_reason="",
        attempts=0,
        priority=Priority.SINGLE,
        lease=None,
        lease_until=None,
    )
    if not reset:
        raise ValidationError("Only a failed version can be tried again.")
    version.priority = Priority.SINGLE
    queue_ingestion(version)
    record_action(
        action="document.version_retried",
        actor=_id(actor),
        object_ids={"document": version.document_id, "version": version.id},
    )


def lock_documents(document_ids: Iterable[UUID]) -> None:
    """Exclusive locks of documents, in key order. Held until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT precept_lock_exclusive('document', id) FROM ("
            " SELECT id FROM unnest(%s::uuid[]) id ORDER BY precept_lock_key('document', id)"
            ") ordered",
            [list(document_ids)],
        )


def queue_ingestion(version: DocumentVersion) -> OutboxEvent:
    """Ask for a version to be ingested; the request commits with the caller's transaction."""
    return OutboxEvent.objects.create(
        kind=EventKind.VERSION_RECEIVED,
        payload={"version": str(version.id)},
        priority=version.priority,
    )


def _store_version(
    document: Document,
    upload: Upload,
    actor: User | None,
    effective_date: date | None,
    priority: Priority = Priority.SINGLE,
) -> Submission:
    digest = hashlib.sha256(upload.data).hexdigest()
    lock_documents([document.id])
    latest = document.versions.order_by("-number").first()
    if latest is not None and latest.sha256 == digest and not latest.withdrawn_at:
        return Submission(version=latest, is_new=False)
    number = (document.versions.aggregate(top=Max("number"))["top"] or 0) + 1
    version = DocumentVersion.objects.create(
        document=document,
        number=number,
        file_name=one_line(upload.name)[-255:],
        object_key=storage.put(upload.data),
        sha256=digest,
        media_type=sniff(upload.data),
        size=len(upload.data),
        effective_date=effective_date,
        submitted_by=actor,
        priority=priority,
    )
    if not failed_before(version):
        queue_ingestion(version)
    note_bytes(version)
    return Submission(version=version, is_new=True)


def _add_grant(document: Document, subject: User | Group, actor: User | None) -> bool:
    _, created = Grant.objects.get_or_create(
        document=document, **_subject(subject), defaults={"granted_by": actor}
    )
    return created


def _record_grant(action: str, actor: User | None, document: Document, subject) -> None:
    record_action(
        action=action,
        actor=_id(actor),
        object_ids={"document": document.id, **{k: v.id for k, v in _subject(subject).items()}},
    )


def _subject(subject: User | Group) -> dict[str, User | Group]:
    if not isinstance(subject, User | Group):
        raise TypeError(f"A grant is to a user or a group, not to {subject!r}.")
    return {"group" if isinstance(subject, Group) else "user": subject}


def _check_may_manage(actor: User | None, document: Document) -> None:
    if actor is not None:
        get_manageable_document(user=actor, document_id=document.pk)


def _check_department(actor: User | None, department: Department) -> None:
    if (
        actor is not None
        and not departments_administered_by(actor).filter(pk=department.pk).exists()
    ):
        raise PermissionDenied("You do not administer this department.")


def _clean(document: Document) -> None:
    document.clean_fields(exclude=["current_version"])
    if not document.title:
        raise ValidationError({"title": "Give the document a title."})
    if document.life_cycle == LifeCycle.ARCHIVED and document.withdrawn_date is None:
        document.withdrawn_date = timezone.localdate()


def _id(actor: User | None) -> UUID | None:
    return actor.id if actor else None
