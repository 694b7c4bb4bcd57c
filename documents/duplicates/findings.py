"""Noticing that documents look alike, and who may know of it.

The same bytes are noticed when a file arrives, the same or nearly the same text once it was read.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from audit.services import record_action
from tenants.models import User
from tenants.scope import current_tenant_id

from ..access import overseen_documents
from ..ingestion.extracted import ExtractedText
from ..models import (
    Document,
    DocumentVersion,
    DuplicateFinding,
    LifeCycle,
    Likeness,
    TextBand,
    TextProfile,
    Verdict,
)
from .minhash import ALIKE_PERCENT, bands_of, digest_of, percent_alike, signature_of, words_of

_CANDIDATES = 50  # compared by their signatures
_FINDINGS = 5  # offered for one upload; a pile of forms made from one template is no question


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What is kept of a text to compare it with others."""

    digest: str
    signature: bytes
    words: int
    empty_pages: int
    recognised_pages: int


@dataclass(frozen=True, slots=True)
class _Match:
    version: DocumentVersion
    kind: Likeness
    similarity: int

    @property
    def rank(self) -> tuple:
        """Strongest first, then the version in force, then the newest."""
        in_force = self.version.document.current_version_id == self.version.id
        return list(Likeness).index(self.kind), -self.similarity, not in_force, -self.version.number


def fingerprint(extracted: ExtractedText) -> Fingerprint:
    words = words_of(extracted.text)
    return Fingerprint(
        digest=digest_of(words),
        signature=signature_of(words),
        words=len(words),
        empty_pages=sum(page.start == page.end for page in extracted.pages),
        recognised_pages=sum(page.recognised for page in extracted.pages),
    )


def note_bytes(version: DocumentVersion) -> None:
    """Note other documents that hold the file of this new version."""
    same = _others(version).filter(sha256=version.sha256)
    _note(version, [_Match(other, Likeness.BYTES, 100) for other in same])


def note_text(version: DocumentVersion, found: Fingerprint) -> None:
    """Keep the fingerprint of a version's text, and note other documents that have one like it.

    Two texts that are accepted at the same moment are compared one after the other, so that the
    later one sees the earlier. In the caller's transaction, after its document's lock.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('precept duplicates ' || %s, 0))",
            [str(current_tenant_id())],
        )
    TextProfile.objects.update_or_create(
        version=version,
        defaults={name: getattr(found, name) for name in Fingerprint.__dataclass_fields__},
    )
    bands = set(bands_of(found.signature))
    TextBand.objects.filter(version=version).exclude(value__in=bands).delete()
    TextBand.objects.bulk_create(
        [TextBand(version=version, value=value) for value in bands], ignore_conflicts=True
    )
    others = _others(version)
    matches = [_Match(other, Likeness.BYTES, 100) for other in others.filter(sha256=version.sha256)]
    matches += [
        _Match(other, Likeness.TEXT, 100) for other in others.filter(profile__digest=found.digest)
    ]
    shared = (
        TextBand.objects.filter(value__in=bands, version__in=others)
        .values("version")
        .annotate(count=Count("id"))
        .order_by("-count", "version")
        .values("version")[:_CANDIDATES]
    )
    for other in others.filter(pk__in=[row["version"] for row in shared]):
        percent = percent_alike(found.signature, other.profile.signature)
        if percent >= ALIKE_PERCENT:
            matches.append(_Match(other, Likeness.NEAR, percent))
    _note(version, matches)


def open_findings(*, user: User | None) -> QuerySet[DuplicateFinding]:
    """Pairs still to be decided; see `visible_findings`."""
    return visible_findings(user=user).filter(state=Verdict.OPEN).exclude(_set_aside())


def visible_findings(*, user: User | None) -> QuerySet[DuplicateFinding]:
    """Pairs of which this person oversees both documents: nobody learns of one that is not theirs.

    None is the command line, which sees all of the tenant's.
    """
    found = DuplicateFinding.objects.filter(
        document__deleted_at=None, other__deleted_at=None
    ).select_related("document", "other", "version", "other_version")
    if user is None:
        return found
    overseen = overseen_documents(user=user).values("pk")
    return found.filter(document__in=overseen, other__in=overseen)


def findings_about(*, user: User | None, documents: Iterable[UUID]) -> QuerySet[DuplicateFinding]:
    """Open pairs with one of these documents, the strongest first."""
    ids = list(documents)
    return (
        open_findings(user=user)
        .filter(Q(document__in=ids) | Q(other__in=ids))
        .order_by("-similarity", "found_at")
    )


def _set_aside() -> Q:
    return Q(document__life_cycle=LifeCycle.DUPLICATE) | Q(other__life_cycle=LifeCycle.DUPLICATE)


def _others(version: DocumentVersion) -> QuerySet[DocumentVersion]:
    """Versions of other documents that this one is compared with."""
    return (
        DocumentVersion.objects.filter(document__deleted_at=None, withdrawn_at=None)
        .exclude(document_id=version.document_id)
        .exclude(document__life_cycle=LifeCycle.DUPLICATE)
        .select_related("document", "profile")
    )


def _note(version: DocumentVersion, matches: list[_Match]) -> None:
    """One finding for each other document, from its strongest match."""
    document = Document.objects.get(pk=version.document_id)
    if document.life_cycle == LifeCycle.DUPLICATE or document.deleted_at:
        return
    best: dict[UUID, _Match] = {}
    for match in sorted(matches, key=lambda match: match.rank):
        best.setdefault(match.version.document_id, match)
    near = [match for match in best.values() if match.kind == Likeness.NEAR][:_FINDINGS]
    exact = [match for match in best.values() if match.kind != Likeness.NEAR][:_CANDIDATES]
    for match in [*exact, *near]:
        if finding := _keep(version, match):
            record_action(
                action="document.duplicate_found",
                actor=None,
                object_ids={"document": finding.document_id, "other": finding.other_id},
                facts={"kind": match.kind, "similarity": match.similarity},
            )


def _keep(version: DocumentVersion, match: _Match) -> DuplicateFinding | None:
    """The row that was written, if there is anything new to decide."""
    here, there = version.document_id, match.version.document_id
    facts = {"kind": match.kind, "similarity": match.similarity, "found_at": timezone.now()}
    pair = DuplicateFinding.objects.filter(
        Q(document=here, other=there) | Q(document=there, other=here)
    )
    known = pair.first()
    if known is None:
        new = DuplicateFinding(
            document_id=here,
            version=version,
            other_id=there,
            other_version=match.version,
            **facts,
        )
        # Whoever notices the same pair at the same moment has written the same row.
        DuplicateFinding.objects.bulk_create([new], ignore_conflicts=True)
        return new
    if known.state == Verdict.DIFFERENT and not match.kind.exceeds(known.kind):
        return None  # said already
    if known.state == Verdict.OPEN and not match.kind.exceeds(known.kind):
        return None  # asked already
    turned = known.document_id != here
    pair.update(
        **facts,
        version=match.version if turned else version,
        other_version=version if turned else match.version,
        state=Verdict.OPEN,
        set_aside=None,
        decided_by=None,
        decided_at=None,
        reason="",
    )
    return known
