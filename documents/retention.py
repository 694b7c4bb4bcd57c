"""What was deleted is purged when its tenant's rule says so: the words first, then the files.

Each step can be repeated and leaves nothing that serves: a deleted document is found by nobody
already. What stays is what the audit record and the permits name: ids, numbers, digests, dates.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import structlog
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from audit.services import record_action
from tenants.scope import tenant_scope
from tenants.selectors import all_tenant_ids, current_tenant

from . import storage
from .generations import lock_index_writer
from .models import (
    UNFINISHED,
    Chunk,
    ChunkEmbedding,
    ChunkTerm,
    Document,
    DocumentVersion,
    DuplicateFinding,
    FailureCode,
    IndexGeneration,
    TermStatistics,
    TextBand,
    TextProfile,
    VersionStatus,
)
from .services import lock_documents

log = structlog.get_logger("precept.retention")

PURGED_TITLE = "Purged document"
DELETED = "The document was deleted before this version was indexed."
EVERY_SECONDS = 3600


class StillInUse(Exception):
    """Something that runs has the document's words; the purge comes back for it."""


@dataclass(frozen=True, slots=True)
class Keeper:
    """What a room above keeps of documents' words, and how it forgets them; both return counts.

    `forget_document` runs inside the purge of that document and may raise StillInUse;
    `forget_expired` opens its own transactions.
    """

    forget_document: Callable[[UUID], Mapping[str, int]]
    forget_expired: Callable[[], Mapping[str, int]] = dict


_keepers: list[Keeper] = []
_swept_at: float | None = None


def register_keeper(keeper: Keeper) -> None:
    _keepers.append(keeper)


def purge_everywhere() -> None:
    """For the dispatcher: all tenants, once an hour. What fails is logged and comes again."""
    global _swept_at
    if _swept_at is not None and time.monotonic() - _swept_at < EVERY_SECONDS:
        return
    _swept_at = time.monotonic()
    for tenant_id in all_tenant_ids():
        with tenant_scope(tenant_id):
            try:
                purge_due()
            except (OSError, IntegrityError):
                log.exception("purge failed", tenant=str(tenant_id))


def purge_due() -> dict[str, int]:
    """Purge whatever is past its retention in the current tenant. Returns what was removed."""
    counts: Counter[str] = Counter()
    for document_id in _past_retention().values_list("id", flat=True):
        try:
            counts.update(_purge_words(document_id))
        except StillInUse:
            counts["documentsPostponed"] += 1
    purged = Document.objects.filter(purged_at__isnull=False, files_purged_at=None)
    for document_id in purged.values_list("id", flat=True):
        counts.update(_purge_files(document_id))
    for keeper in _keepers:
        counts.update(keeper.forget_expired())
    return dict(counts)


def remove_orphans(*, older_than: timedelta = timedelta(days=1)) -> int:
    """Objects that no version names: what an upload left that never committed. Returns how many.

    By an operator's command only: next to a database restored from an old backup, the files of
    the newer one look like this too.
    """
    removed = 0
    for key in storage.keys(older_than=older_than):
        removed += _remove_unreferenced(key)
    return removed


def _past_retention() -> QuerySet[Document]:
    kept_since = timezone.now() - timedelta(days=current_tenant().keep_deleted_days)
    return Document.objects.filter(deleted_at__lte=kept_since, purged_at=None)


@transaction.atomic
def _purge_words(document_id: UUID) -> Mapping[str, int]:
    # As the publisher does, the writer's turn first. The one that serves first, as promotion does.
    for generation in IndexGeneration.objects.order_by("created_at"):
        lock_index_writer(generation)
    lock_documents([document_id])
    document = _past_retention().filter(pk=document_id).first()
    if document is None:
        return {}
    counts: Counter[str] = Counter(documents=1)
    for keeper in _keepers:
        counts.update(keeper.forget_document(document_id))
    versions = DocumentVersion.objects.filter(document=document)
    counts["versions"] = _forget_versions(versions)
    counts["terms"] = _delete(ChunkTerm.objects.filter(version__in=versions.values("id")))
    # A word that stands nowhere any more would stand in the statistics still.
    counts["statistics"] = _delete(TermStatistics.objects.filter(document_frequency__lte=0))
    counts["vectors"] = _delete(ChunkEmbedding.objects.filter(document=document))
    counts["passages"] = _delete(Chunk.objects.filter(document=document))
    _delete(TextBand.objects.filter(version__in=versions.values("id")))
    _delete(TextProfile.objects.filter(version__in=versions.values("id")))
    about = DuplicateFinding.objects.filter(Q(document=document) | Q(other=document))
    counts["findings"] = _delete(about)
    Document.objects.filter(pk=document_id).update(
        title=PURGED_TITLE,
        reference="",
        source_item_id="",
        source_etag="",
        purged_at=timezone.now(),
    )
    record_action(
        action="document.purged",
        actor=None,
        object_ids={"document": document_id},
        facts=dict(counts),
    )
    return counts


def _forget_versions(versions: QuerySet[DocumentVersion]) -> int:
    # Whoever works on one loses its lease with this, and writes nothing more.
    versions.filter(status__in=UNFINISHED).update(
        status=VersionStatus.FAILED, failure_code=FailureCode.DELETED, failure_reason=DELETED
    )
    return versions.update(
        file_name="",
        page_map=[],
        page_labels={},
        repairs=[],
        lease=None,
        lease_until=None,
        queued=False,
        waits_for_date=False,
    )


def _purge_files(document_id: UUID) -> Mapping[str, int]:
    keys = set()
    for version in DocumentVersion.objects.filter(document_id=document_id):
        named = (version.object_key, version.text_key, version.structure_key)
        keys |= {key for key in named if key}
    removed = sum(_remove_unreferenced(key) for key in sorted(keys))
    counts = {"files": removed, "filesOfOthersToo": sum(_is_referenced(key) for key in keys)}
    with transaction.atomic():
        Document.objects.filter(pk=document_id).update(files_purged_at=timezone.now())
        record_action(
            action="document.files_purged",
            actor=None,
            object_ids={"document": document_id},
            facts=counts,
        )
    return counts


@transaction.atomic
def _remove_unreferenced(key: str) -> bool:
    """Under the object's lock: who is about to name it has not looked for it yet, or has committed."""
    storage.lock_for_removal(key)
    return not _is_referenced(key) and storage.remove(key)


def _is_referenced(key: str) -> bool:
    """Whether a version whose content is kept holds the object, as its file, its text or its structure."""
    named = Q(object_key=key) | Q(text_key=key) | Q(structure_key=key)
    return DocumentVersion.objects.filter(named, document__purged_at=None).exists()


def _delete(rows: QuerySet) -> int:
    """Without Django's own cascade, which would read every row first."""
    return rows._raw_delete(rows.db)
