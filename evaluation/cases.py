"""Writing cases: made, changed, moved through their life, confirmed after a change of rights.

A case is bound to the access revision of its person and to the versions its documents had when it
was made or last confirmed. What undoes that binding is watched by triggers (migration 0006_cases).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Max, Q
from django.utils import timezone

from answers.models import Answer
from answers.selectors import present_answer
from audit.services import record_action
from documents.access import readable_documents
from documents.models import Document, DocumentVersion, VersionStatus
from tenants.models import User
from tenants.selectors import roles_of

from .models import CaseState, EvalCase, EvalCaseVersion
from .runs.starting import RUN_ROLES

CONTENT = (
    "key",
    "question",
    "language",
    "kind",
    "expected_outcome",
    "required_text",
    "required_documents",
    "required_sections",
    "forbidden_text",
    "correct_answer",
)
_CHECKED = {"key", "question", "language", "kind", "expected_outcome", "state"}
# From → to, by a person. What asks for review is moved there by the database, and out by confirm_case.
MOVES = {
    CaseState.DRAFT: {CaseState.REVIEWED},
    CaseState.REVIEWED: {CaseState.ACTIVE, CaseState.DRAFT},
    CaseState.ACTIVE: {CaseState.DRAFT},
    CaseState.NEEDS_REVIEW: {CaseState.DRAFT},
}


@dataclass(frozen=True, slots=True)
class CaseDraft:
    """A case to be: what `create_case` takes, filled in as far as something knew it."""

    key: str
    question: str
    as_user: User
    expected_outcome: str
    kind: str
    language: str = "en"
    required_text: Sequence[str] = ()
    required_documents: Sequence[UUID] = ()
    required_sections: Sequence[str] = ()
    forbidden_text: Sequence[str] = ()
    correct_answer: str = ""
    from_answer: UUID | None = None
    source_documents: Sequence[UUID] = ()


def require_case_writer(actor: User | None) -> None:
    """Raises PermissionDenied; `actor` None is the platform's operator."""
    if actor is not None and not roles_of(actor) & RUN_ROLES:
        raise PermissionDenied("Only reviewers and tenant administrators write cases.")


@transaction.atomic
def create_case(
    *,
    key: str,
    question: str,
    as_user: User,
    expected_outcome: str,
    kind: str,
    language: str = "en",
    required_text: Sequence[str] = (),
    required_documents: Sequence[UUID] = (),
    required_sections: Sequence[str] = (),
    forbidden_text: Sequence[str] = (),
    correct_answer: str = "",
    from_answer: UUID | None = None,
    source_documents: Sequence[UUID] = (),
    state: CaseState = CaseState.DRAFT,
    actor: User | None = None,
) -> EvalCase:
    """Raises ValidationError, PermissionDenied. A document that its maker may not read is none.

    `source_documents`: whose words it may hold besides those it requires.
    """
    require_case_writer(actor)
    _check_documents(actor, [*required_documents, *source_documents])
    case = EvalCase(
        key=key.strip(),
        question=question.strip(),
        as_user=as_user,
        expected_outcome=expected_outcome,
        kind=kind.strip(),
        language=language,
        required_text=list(required_text),
        required_documents=[str(document) for document in required_documents],
        required_sections=list(required_sections),
        forbidden_text=list(forbidden_text),
        correct_answer=correct_answer,
        from_answer=from_answer,
        source_documents=[str(document) for document in source_documents],
        state=state,
        created_by=actor,
    )
    _bind(case)
    _save(case, actor, new=True)
    record_action(action="case.created", actor=actor and actor.id, object_ids={"case": case.id})
    return case


@transaction.atomic
def change_case(*, case: EvalCase, actor: User | None = None, **changes: object) -> EvalCase:
    """New content, which makes it a draft again; the former stays in its history.

    Raises ValidationError, PermissionDenied, also for a case whose words the actor may not see.
    """
    require_case_writer(actor)
    case = EvalCase.objects.select_for_update().select_related("as_user").get(pk=case.pk)
    if actor is not None and not may_see_words(viewer=actor, case=case):
        raise PermissionDenied("This case rests on documents that you may not read.")
    if "required_documents" in changes:
        _check_documents(actor, changes["required_documents"])
        changes["required_documents"] = [str(one) for one in changes["required_documents"]]
    for name, value in changes.items():
        if name not in (*CONTENT, "as_user"):
            raise TypeError(f"A case has no {name} to change.")
        setattr(case, name, list(value) if isinstance(value, tuple) else value)
    case.state, case.review_why, case.review_object = CaseState.DRAFT, "", None
    case.version += 1
    _bind(case)
    _save(case, actor)
    record_action(
        action="case.changed",
        actor=actor and actor.id,
        object_ids={"case": case.id},
        facts={"version": case.version, "fields": sorted(changes)},
    )
    return case


@transaction.atomic
def move_case(*, case: EvalCase, to: CaseState, actor: User | None = None) -> bool:
    """True if it moved. Raises ValidationError for a way that there is not."""
    require_case_writer(actor)
    case = EvalCase.objects.select_for_update().get(pk=case.pk)
    if case.state == to:
        return False
    if to not in MOVES[CaseState(case.state)]:
        raise ValidationError(
            f"“{case.key}” is {case.get_state_display().lower()}; it cannot become "
            f"{CaseState(to).label.lower()} from there."
        )
    former, case.state = case.state, to
    case.review_why, case.review_object = "", None
    case.save(update_fields=["state", "review_why", "review_object"])
    record_action(
        action="case.moved",
        actor=actor and actor.id,
        object_ids={"case": case.id},
        facts={"from": former, "to": str(to)},
    )
    return True


@transaction.atomic
def confirm_case(*, case: EvalCase, actor: User | None = None) -> bool:
    """It holds as it is, with the rights and versions of now. True if it asked for review.

    Raises PermissionDenied for a case whose words the actor may not see, ValidationError for one
    that lost its words.
    """
    require_case_writer(actor)
    case = EvalCase.objects.select_for_update().select_related("as_user").get(pk=case.pk)
    if actor is not None and not may_see_words(viewer=actor, case=case):
        raise PermissionDenied("This case rests on documents that you may not read.")
    if case.state != CaseState.NEEDS_REVIEW:
        return False
    if not case.question:
        raise ValidationError("Its words were purged with a document; write it again.")
    why = case.review_why
    case.state, case.review_why, case.review_object = CaseState.ACTIVE, "", None
    _bind(case)
    case.save()
    record_action(
        action="case.confirmed",
        actor=actor and actor.id,
        object_ids={"case": case.id},
        facts={"after": why, "access_revision": case.bound_access_revision},
    )
    return True


def may_see_words(*, viewer: User, case: EvalCase) -> bool:
    """Whether what a case expects may be shown: words of the documents it requires or was made from.

    A case that requires no document is about what its person may not read: only who made it sees
    its words.
    """
    words = (case.required_text, case.required_sections, case.forbidden_text, case.correct_answer)
    if not case.required_documents and any(words) and case.created_by_id != viewer.pk:
        return False
    held = {UUID(str(one)) for one in (*case.required_documents, *case.source_documents)}
    readable = readable_documents(user=viewer).filter(id__in=held)
    return held <= set(readable.values_list("id", flat=True))


def draft_from_answer(*, reviewer: User, answer: Answer) -> CaseDraft:
    """A case about a question that was asked, filled in with what this reviewer may read of its answer."""
    view = present_answer(user=answer.user, answer=answer)
    readable = set(
        readable_documents(user=reviewer)
        .filter(id__in=[cited.document_id for cited in view.citations])
        .values_list("id", flat=True)
    )
    seen = [cited for cited in view.citations if cited.document_id in readable]
    outcome = view.outcome if view.outcome in ("abstained", "access_denied") else "answered"
    documents = list(dict.fromkeys(cited.document_id for cited in seen))
    return CaseDraft(
        key=f"from-{answer.created_at:%Y%m%d}-{answer.pk.hex[:6]}",
        question=answer.question,
        as_user=answer.user,
        expected_outcome=outcome,
        kind="feedback",
        language=answer.language,
        required_text=list(dict.fromkeys(cited.quote for cited in seen)),
        required_documents=documents,
        required_sections=list(dict.fromkeys(cited.section for cited in seen if cited.section)),
        from_answer=answer.pk,
        source_documents=documents,
    )


def _check_documents(actor: User | None, documents: Collection[UUID]) -> None:
    wanted = {UUID(str(document)) for document in documents}
    rows = (
        Document.objects.filter(deleted_at=None)
        if actor is None
        else readable_documents(user=actor)
    )
    if wanted - set(rows.filter(id__in=wanted).values_list("id", flat=True)):
        raise ValidationError(
            {"required_documents": "A required document is not there, or not for you to read."}
        )


def _bind(case: EvalCase) -> None:
    """To what holds now. A version that is on its way into force counts as there."""
    case.bound_access_revision = User.objects.values_list("access_revision", flat=True).get(
        pk=case.as_user_id
    )
    today = timezone.localdate()
    numbers = (
        DocumentVersion.objects.filter(document__in=case.required_documents)
        .filter(Q(effective_date=None) | Q(effective_date__lte=today))
        .exclude(status=VersionStatus.FAILED)
        .values_list("document")
        .annotate(Max("number"))
    )
    case.bound_versions = {str(document): number for document, number in numbers.order_by()}


def _save(case: EvalCase, actor: User | None, *, new: bool = False) -> None:
    case.clean_fields(exclude={f.name for f in case._meta.fields} - _CHECKED)
    if not case.question:
        raise ValidationError({"question": "A case asks something."})
    try:
        with transaction.atomic():
            case.save(force_insert=new)
    except IntegrityError as error:
        if "case_key_once" in str(error):
            raise ValidationError({"key": f"There is already a case “{case.key}”."}) from None
        raise
    EvalCaseVersion.objects.create(
        case=case,
        number=case.version,
        content={
            **{name: getattr(case, name) for name in CONTENT},
            "as_user": str(case.as_user_id),
        },
        changed_by=actor,
    )
