"""Cases about a document that was purged lose their words and wait for somebody to look."""

from collections.abc import Mapping
from uuid import UUID

from django.db.models import Q

from .models import CaseState, EvalCase, EvalCaseVersion, EvalResult, ReviewWhy


def forget_document(document_id: UUID) -> Mapping[str, int]:
    named = [str(document_id)]
    cases = EvalCase.objects.filter(
        Q(required_documents__contains=named) | Q(source_documents__contains=named)
    )
    results = EvalResult.objects.filter(case__in=cases.values("id")).update(failures=[])
    versions = EvalCaseVersion.objects.filter(case__in=list(cases.values_list("id", flat=True)))
    changed = cases.update(
        question="",
        required_text=[],
        forbidden_text=[],
        correct_answer="",
        required_sections=[],
        state=CaseState.NEEDS_REVIEW,
        review_why=ReviewWhy.WORDS_PURGED,
        review_object=document_id,
    )
    versions.delete()
    return {"cases": changed, "results": results}
