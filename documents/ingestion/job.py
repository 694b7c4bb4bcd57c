"""One version from received bytes to searchable: the steps in order."""

from datetime import timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from audit.services import record_action
from documents import storage
from documents.embedding import EmbedderUnavailable
from documents.generations import serving_generation
from documents.models import DocumentVersion, FailureCode, VersionStatus
from documents.retention import DELETED
from tenants.selectors import current_tenant

from .accept import accept, accepted_text
from .chunkings import chunker
from .extract import extract
from .extracted import ExtractedText, ExtractionFailed
from .language import detect_language
from .lease import Lease, LeaseLost, claim
from .passages import make_passages
from .publish import GenerationRetired, ValidationFailed, publish

log = structlog.get_logger("precept.ingestion")


def ingest_version(*, version_id: UUID) -> DocumentVersion:
    """Do whatever is left to do for the version. Idempotent: run it as often as you like.

    Failures end in a named state on the version; only a crash or a lost lease leaves work undone,
    and then the lease runs out and the dispatcher hands the version out again.
    """
    with claim(version_id) as lease:
        if lease is not None:
            try:
                _ingest(DocumentVersion.objects.get(pk=version_id), lease)
            except LeaseLost:
                log.warning("lease lost", version=str(version_id))
    return DocumentVersion.objects.select_related("document").get(pk=version_id)


def _ingest(version: DocumentVersion, lease: Lease) -> None:
    if version.document.deleted_at:
        _fail(version, lease, FailureCode.DELETED, DELETED)
        return
    if version.attempts > settings.JOB_MAX_ATTEMPTS:
        _fail(version, lease, FailureCode.GAVE_UP, _GAVE_UP)
        return
    try:
        extracted = _read(version, lease)
        _index(version, extracted, lease)
    except ExtractionFailed as failure:
        _fail(version, lease, FailureCode(failure.code.value), failure.message)
    except (ValidationFailed, storage.ObjectMissing) as failure:
        _fail(version, lease, FailureCode.INVALID, str(failure))
    except GenerationRetired:
        _postpone(version, lease)
    except EmbedderUnavailable as failure:
        if version.attempts >= settings.JOB_MAX_ATTEMPTS:
            _fail(version, lease, FailureCode.PROCESSOR, str(failure))
        else:
            _postpone(version, lease)


def _read(version: DocumentVersion, lease: Lease) -> ExtractedText:
    if version.status == VersionStatus.ACCEPTED:
        return accepted_text(version)
    extracted = extract(
        storage.get(version.object_key),
        languages=current_tenant().languages,
        ocr=settings.OCR,
        max_bytes=settings.MAX_UPLOAD_BYTES,
    )
    accept(version=version, extracted=extracted, lease=lease)
    return extracted


def _index(version: DocumentVersion, extracted: ExtractedText, lease: Lease) -> None:
    generation = serving_generation()
    chunks = chunker(generation.chunking)(extracted)
    lease.update(progress_done=0, progress_total=len(chunks))
    tenant = current_tenant()
    language = detect_language(
        extracted.text[:20_000], among=tenant.languages, default=tenant.default_language
    )
    lease.update(language=language)
    passages = make_passages(
        version=version,
        generation=generation,
        chunks=chunks,
        language=language,
        done=lambda count: lease.update(progress_done=count),
    )
    publish(
        version=version,
        generation=generation,
        extracted=extracted,
        built=passages.built,
        lease=lease,
    )
    log.info(
        "searchable",
        version=str(version.id),
        chunks=len(passages.built),
        embedded=passages.embedded,
    )


_GAVE_UP = (
    "The work on this file stopped unexpectedly several times. "
    "Export the file again, or ask the operator to look at the worker's log, then retry."
)


@transaction.atomic
def _fail(version: DocumentVersion, lease: Lease, code: FailureCode, reason: str) -> None:
    """End the job with a reason a person can act on. Whatever was in force before stays so."""
    lease.update(
        status=VersionStatus.FAILED,
        failure_code=code,
        failure_reason=reason[:500],
        lease=None,
        lease_until=None,
    )
    record_action(
        action="document.version_failed",
        actor=None,
        object_ids={"document": version.document_id, "version": version.id},
        facts={"code": code, "attempts": version.attempts},
    )
    log.warning("failed", version=str(version.id), code=str(code))


def _postpone(version: DocumentVersion, lease: Lease) -> None:
    """Let the lease run out later and later, so that an absent processor is not hammered."""
    wait = timedelta(seconds=min(600, 5 * 2**version.attempts))
    lease.update(lease=None, lease_until=timezone.now() + wait)
