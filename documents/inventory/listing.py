"""Reading the inventory, within what the caller oversees.

Facts are annotations of one statement, so that lists, filters, counts and exports agree; what only
the rows of a page need comes with a fixed number of further statements.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, timedelta
from uuid import UUID

from django.db.models import (
    BooleanField,
    Case,
    CharField,
    Count,
    Exists,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce, JSONObject, Replace, TruncDate, Upper
from django.utils import timezone
from django.utils.dateparse import parse_date

from tenants.models import User

from ..access import overseen_documents
from ..duplicates.findings import findings_about, open_findings
from ..models import (
    UNFINISHED,
    Document,
    DocumentVersion,
    DuplicateFinding,
    FailureCode,
    Grant,
    LifeCycle,
    Likeness,
    TextProfile,
    VersionStatus,
)
from .facts import InventoryRow, Rival, Totals, Twin, Unfit, VersionFacts


def inventory_documents(
    *, user: User | None, among: QuerySet[Document] | None = None
) -> QuerySet[Document]:
    """Every document this person oversees, with what the inventory says of it as annotations.

    None is the command line, which sees the whole tenant. `among` is where to start from, for a
    proxy of Document.
    """
    overseen = _overseen(user)
    documents = Document.objects.filter(deleted_at=None) if among is None else among
    newest = DocumentVersion.objects.filter(document=OuterRef("pk"), withdrawn_at=None).order_by(
        "-number"
    )
    codes = (
        overseen.filter(life_cycle=LifeCycle.VETTED)
        .annotate(code=_CODE)
        .exclude(code="")
        .values("code")
        .annotate(count=Count("pk"))
        .filter(count__gt=1)
        .order_by()
    )
    pairs = open_findings(user=user).order_by()
    named = JSONObject(
        number="number",
        status="status",
        failure_code="failure_code",
        failure_reason="failure_reason",
        effective_date="effective_date",
        waits="waits_for_date",
    )
    return (
        documents.filter(pk__in=overseen.values("pk"))
        .select_related("department", "owner", "current_version")
        .annotate(
            code=_CODE,
            newest=Subquery(newest.values_list(named)[:1]),
            newest_status=Subquery(newest.values("status")[:1]),
            newest_failure=Subquery(newest.values("failure_code")[:1]),
            since=Coalesce(
                "current_version__effective_date",
                TruncDate("current_version__created_at"),
                TruncDate("created_at"),
            ),
            recognised=Exists(
                TextProfile.objects.filter(
                    version=OuterRef("current_version"), recognised_pages__gt=0
                )
            ),
            granted=Exists(Grant.objects.filter(document=OuterRef("pk"))),
            same_reference=_flag(Q(life_cycle=LifeCycle.VETTED, code__in=codes.values("code"))),
            same_day=_flag(Q(pk__in=_same_day_versions().values("document"))),
            maybe_duplicate=_flag(
                Q(pk__in=pairs.values("document")) | Q(pk__in=pairs.values("other"))
            ),
        )
        .annotate(fit=_flag(FIT))
        .order_by("title", "id")
    )


_CODE = Upper(Replace(F("reference"), Value(" "), Value("")), output_field=CharField())
# The same as no reason in `_unfit`; a test compares the two.
FIT = Q(
    life_cycle=LifeCycle.VETTED,
    current_version__status=VersionStatus.SEARCHABLE,
    maybe_duplicate=False,
    same_reference=False,
    same_day=False,
) & ~Q(newest_status=VersionStatus.FAILED)


def inventory_totals(documents: QuerySet[Document]) -> Totals:
    """Counts over annotated documents, in one statement."""

    def number(condition: Q) -> Count:
        return Count("pk", filter=condition)

    return Totals(
        **documents.order_by().aggregate(
            documents=Count("pk"),
            unfit=number(Q(fit=False)),
            failed=number(Q(newest_status=VersionStatus.FAILED)),
            working=number(Q(newest_status__in=UNFINISHED)),
            duplicates=number(Q(maybe_duplicate=True)),
            conflicts=number(Q(same_reference=True) | Q(same_day=True)),
            shared_references=number(Q(same_reference=True)),
            shared_days=number(Q(same_day=True)),
            scans=number(Q(newest_failure=FailureCode.NO_TEXT)),
            with_recognised_text=number(Q(recognised=True)),
            without_owner=number(Q(owner=None)),
            without_readers=number(Q(granted=False)),
        )
    )


def inventory_rows(documents: Iterable[Document], *, user: User | None) -> list[InventoryRow]:
    """The rows of annotated documents. Five statements, however many they are."""
    documents = list(documents)
    ids = [document.pk for document in documents]
    twins: dict[UUID, list[Twin]] = defaultdict(list)
    for finding in findings_about(user=user, documents=ids):
        twins[finding.document_id].append(_twin(finding, finding.other))
        twins[finding.other_id].append(_twin(finding, finding.document))
    rivals = _rivals(documents, user)
    days: dict[UUID, list[tuple[date, tuple[int, ...]]]] = defaultdict(list)
    clashing = [document.pk for document in documents if document.same_day]
    for clash in _numbers_by_day(clashing):
        days[clash[0]].append(clash[1:])
    profiles = TextProfile.objects.in_bulk(
        [document.current_version_id for document in documents if document.current_version_id]
    )
    today = timezone.localdate()
    return [
        _row(
            document,
            today=today,
            profile=profiles.get(document.current_version_id),
            twins=tuple(twins[document.pk]),
            rivals=tuple(rivals.get(document.pk, ())),
            same_day=tuple(days[document.pk]),
        )
        for document in documents
    ]


def older_than(documents: QuerySet[Document], *, years: int) -> QuerySet[Document]:
    """Those whose version in force holds for longer than this."""
    return documents.filter(since__lt=timezone.localdate() - timedelta(days=round(365.25 * years)))


def _overseen(user: User | None) -> QuerySet[Document]:
    if user is None:
        return Document.objects.filter(deleted_at=None)
    return overseen_documents(user=user)


def _flag(condition: Q) -> Case:
    return Case(When(condition, then=True), default=False, output_field=BooleanField())


def _same_day_versions() -> QuerySet:
    """(document, day) where two versions hold from the same day, unless one failed or was withdrawn."""
    return (
        DocumentVersion.objects.filter(withdrawn_at=None)
        .exclude(status=VersionStatus.FAILED)
        .exclude(effective_date=None)
        .values("document", "effective_date")
        .annotate(count=Count("pk"))
        .filter(count__gt=1)
        .order_by()
    )


def _numbers_by_day(ids: list[UUID]) -> list[tuple[UUID, date, tuple[int, ...]]]:
    numbers: dict[tuple[UUID, date], list[int]] = defaultdict(list)
    versions = (
        DocumentVersion.objects.filter(document__in=ids, withdrawn_at=None)
        .exclude(status=VersionStatus.FAILED)
        .exclude(effective_date=None)
        .order_by("effective_date", "number")
    )
    for document_id, day, number in versions.values_list("document", "effective_date", "number"):
        numbers[document_id, day].append(number)
    return [(*key, tuple(found)) for key, found in numbers.items() if len(found) > 1]


def _rivals(documents: list[Document], user: User | None) -> dict[UUID, list[Rival]]:
    codes = {document.code for document in documents if document.same_reference}
    found: dict[str, list[Rival]] = defaultdict(list)
    rivals = _overseen(user).filter(life_cycle=LifeCycle.VETTED).annotate(code=_CODE)
    for pk, title, code in rivals.filter(code__in=codes).values_list("pk", "title", "code"):
        found[code].append(Rival(pk, title))
    return {
        document.pk: [rival for rival in found[document.code] if rival.document_id != document.pk]
        for document in documents
        if document.same_reference
    }


def _twin(finding: DuplicateFinding, other: Document) -> Twin:
    return Twin(finding.pk, other.pk, other.title, Likeness(finding.kind), finding.similarity)


def _row(document: Document, *, today: date, profile: TextProfile | None, **found) -> InventoryRow:
    current = document.current_version
    return InventoryRow(
        document_id=document.pk,
        title=document.title,
        reference=document.reference,
        life_cycle=LifeCycle(document.life_cycle),
        department=document.department.name,
        owner=str(document.owner or ""),
        source=document.source_system,
        withdrawn_date=document.withdrawn_date,
        in_force=current and VersionFacts(current.number, current.status, document.since),
        newest=document.newest and _newest(document.newest),
        age_days=max(0, (today - document.since).days),
        has_readers=document.granted,
        is_scan=document.newest_failure == FailureCode.NO_TEXT,
        empty_pages=profile.empty_pages if profile else 0,
        recognised_pages=profile.recognised_pages if profile else 0,
        unfit=tuple(_unfit(document)),
        **found,
    )


def _newest(facts: dict) -> VersionFacts:
    return VersionFacts(
        number=facts["number"],
        status=facts["status"],
        since=facts["effective_date"] and parse_date(facts["effective_date"]),
        waits=facts["waits"],
        failure_code=facts["failure_code"],
        failure_reason=facts["failure_reason"],
    )


_UNFIT_BUCKETS = {
    LifeCycle.ARCHIVED: Unfit.WITHDRAWN,
    LifeCycle.DUPLICATE: Unfit.SET_ASIDE,
    LifeCycle.DRAFT: Unfit.NOT_VETTED,
    LifeCycle.UNKNOWN_PROVENANCE: Unfit.NOT_VETTED,
}


def _unfit(document: Document) -> Iterable[Unfit]:
    if document.life_cycle in _UNFIT_BUCKETS:
        yield _UNFIT_BUCKETS[document.life_cycle]
    if document.current_version is None:
        yield Unfit.NOTHING_IN_FORCE
    elif document.current_version.status != VersionStatus.SEARCHABLE:
        yield Unfit.NOT_SEARCHABLE
    if document.newest_status == VersionStatus.FAILED:
        yield Unfit.NEWEST_FAILED
    if document.maybe_duplicate:
        yield Unfit.MAYBE_DUPLICATE
    if document.same_reference:
        yield Unfit.SAME_REFERENCE
    if document.same_day:
        yield Unfit.SAME_DAY
