"""Writing cases. A case is bound to the access revision its person had when it was made."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from audit.services import record_action
from tenants.models import User

from .models import CaseState, EvalCase


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
    forbidden_text: Sequence[str] = (),
    correct_answer: str = "",
    state: CaseState = CaseState.DRAFT,
    actor: User | None = None,
) -> EvalCase:
    case = EvalCase.objects.create(
        key=key,
        question=question,
        as_user=as_user,
        bound_access_revision=as_user.access_revision,
        expected_outcome=expected_outcome,
        kind=kind,
        language=language,
        required_text=list(required_text),
        required_documents=[str(document) for document in required_documents],
        forbidden_text=list(forbidden_text),
        correct_answer=correct_answer,
        state=state,
    )
    record_action(action="case.created", actor=actor and actor.id, object_ids={"case": case.id})
    return case
