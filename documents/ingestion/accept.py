"""A version whose text could be read is accepted, and from then on may supersede the former one."""

import json
from datetime import date

from django.db import transaction
from django.utils import timezone

from audit.services import record_action
from documents import storage
from documents.duplicates.findings import fingerprint, note_text
from documents.models import Document, DocumentVersion, VersionStatus
from documents.selectors import version_text
from documents.services import lock_documents
from tenants.models import SupersedePolicy
from tenants.selectors import current_tenant

from .extracted import ExtractedText, PageSpan, Repair
from .extraction.wire import blocks_of, structure
from .lease import Lease


def accept(*, version: DocumentVersion, extracted: ExtractedText, lease: Lease) -> None:
    """Keep the extracted text and, if the policy says so, put the version in force at once."""
    alike = fingerprint(extracted)
    with transaction.atomic():
        lock_documents([version.document_id])
        # Under the document's lock, so that a purge cannot take the objects before they are named.
        text_key = storage.put(extracted.text.encode())
        structure_key = storage.put(json.dumps(structure(extracted)).encode())
        lease.update(
            status=VersionStatus.ACCEPTED,
            text_key=text_key,
            text_sha256=extracted.sha256,
            structure_key=structure_key,
            page_map=[[span.page, span.start, span.end] for span in extracted.pages],
            page_labels={str(span.page): span.label for span in extracted.pages if span.label},
            recognised_pages=[span.page for span in extracted.pages if span.recognised],
            repairs=list(extracted.repairs),
            page_count=extracted.page_count,
            accepted_at=timezone.now(),
        )
        version.refresh_from_db()
        note_text(version, alike)
        if supersede_policy(version.document) == SupersedePolicy.AT_ACCEPTANCE:
            put_in_force(version)


def put_in_force(version: DocumentVersion) -> None:
    """Make it the version that may be cited, unless a later one is or its day has not come.

    The later one is the one whose day came later, and of the same day the newer upload: a version
    that waits for its day still takes over from one that was uploaded, and came into force, meanwhile.
    """
    version.refresh_from_db()  # its date may have been changed, or it withdrawn, while it was read
    if version.withdrawn_at:
        return
    if version.effective_date and version.effective_date > timezone.localdate():
        DocumentVersion.objects.filter(pk=version.pk).update(waits_for_date=True)
        return
    DocumentVersion.objects.filter(pk=version.pk).update(waits_for_date=False)
    document = Document.objects.select_related("current_version").get(pk=version.document_id)
    current = document.current_version
    if current is None or _turn(current) < _turn(version):
        changes = {"current_version": version}
        if version.effective_date:
            changes["effective_date"] = version.effective_date
        Document.objects.filter(pk=document.pk).update(**changes)
        record_action(
            action="document.version_in_force",
            actor=None,
            object_ids={"document": document.pk, "version": version.pk},
            facts={"number": version.number, "former": current and current.number},
        )


def _turn(version: DocumentVersion) -> tuple[date, int]:
    """Where a version stands in the order in which those of its document take over."""
    uploaded = timezone.localdate(version.created_at)
    return max(version.effective_date or uploaded, uploaded), version.number


def put_due_versions_in_force() -> int:
    """Versions whose effective date has come; the dispatcher calls this. Returns how many."""
    due = DocumentVersion.objects.filter(
        waits_for_date=True, effective_date__lte=timezone.localdate()
    ).order_by("document_id", "number")
    count = 0
    for version in due:
        with transaction.atomic():
            lock_documents([version.document_id])
            put_in_force(version)
            count += 1
    return count


def supersede_policy(document: Document) -> str:
    return document.supersede_policy or current_tenant().supersede_policy


def accepted_text(version: DocumentVersion) -> ExtractedText:
    """The text as it was accepted, verified against its checksum."""
    text = version_text(version)
    kept = json.loads(storage.get(version.structure_key)) if version.structure_key else None
    recognised = set(version.recognised_pages)
    return ExtractedText(
        text=text,
        pages=tuple(
            PageSpan(
                page,
                start,
                end,
                label=version.page_labels.get(str(page), ""),
                recognised=page in recognised,
            )
            for page, start, end in version.page_map
        ),
        sha256=version.text_sha256,
        page_count=version.page_count,
        blocks=blocks_of(kept) if kept else (),
        repairs=tuple(Repair(code) for code in version.repairs),
    )
