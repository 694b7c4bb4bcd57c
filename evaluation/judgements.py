"""A reviewer's judgement of an answer in the queue, and the case that comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from answers.admitted import AdmittedPassage, admitted_passages
from answers.models import Citation, ReviewItem
from answers.selectors import ReviewView, present_review, review_items
from answers.services import close_review_item
from audit.services import record_action
from tenants.models import Role, User
from tenants.selectors import NotFound, roles_of

from .cases import CaseDraft, draft_from_answer
from .models import Cause, CitationVerdict, EvalCase, SpotCheck, Verdict


@dataclass(frozen=True, slots=True)
class Desk:
    """An item of the queue as one reviewer may judge it."""

    item: ReviewItem
    review: ReviewView
    passages: tuple[AdmittedPassage, ...]
    draft: CaseDraft | None
    spot_check: SpotCheck | None

    @property
    def judgeable(self) -> list[int]:
        """Numbers of the citations whose quote this reviewer may read."""
        numbers = {
            quote.number
            for claim in self.review.claims
            for quote in claim.quotes
            if quote.number and quote.quote is not None
        }
        return sorted(numbers)


def open_desk(*, reviewer: User, item_id: object) -> Desk:
    """Raises NotFound, also for who is no reviewer."""
    item = None
    if Role.REVIEWER in roles_of(reviewer):
        item = review_items().select_related("answer__user").filter(pk=item_id).first()
    if item is None:
        raise NotFound("There is nothing here.")
    kept = item.answer.purged_at is None
    return Desk(
        item=item,
        review=present_review(reviewer=reviewer, item=item),
        passages=tuple(admitted_passages(reviewer=reviewer, answer=item.answer)),
        draft=draft_from_answer(reviewer=reviewer, answer=item.answer) if kept else None,
        spot_check=SpotCheck.objects.filter(item=item).first(),
    )


@transaction.atomic
def judge_item(
    *,
    reviewer: User,
    item: ReviewItem,
    outcome_right: bool,
    cause: Cause,
    verdicts: Mapping[int, Verdict] | None = None,
    note: str = "",
    case: EvalCase | None = None,
) -> SpotCheck:
    """Judge, and close the item. Raises ValidationError, PermissionDenied.

    `verdicts`: {number of a citation: verdict}, of those whose quote the reviewer may read.
    """
    if Role.REVIEWER not in roles_of(reviewer):
        raise PermissionDenied("Only reviewers judge answers.")
    desk = open_desk(reviewer=reviewer, item_id=item.pk)
    verdicts = dict(verdicts or {})
    if set(verdicts) - set(desk.judgeable):
        raise ValidationError("Only quotes that you may read can be judged.")
    note = note.replace("\x00", "")[:2000]
    # First: of two reviewers at once the second waits here, and is told.
    close_review_item(item=item, reviewer=reviewer, note=note)
    check = SpotCheck.objects.create(
        item=item,
        answer=item.answer,
        outcome_right=outcome_right,
        cause=cause,
        note=note,
        case=case,
        judged_by=reviewer,
    )
    cited = Citation.objects.filter(claim__answer=item.answer, number__in=verdicts)
    for row in cited.select_related("version").order_by("number").distinct("number"):
        CitationVerdict.objects.create(
            spot_check=check,
            number=row.number,
            document_id_cited=row.document_id,
            version_cited=row.version.number,
            verdict=verdicts[row.number],
        )
    record_action(
        action="review.judged",
        actor=reviewer.pk,
        object_ids={"item": item.pk, "answer": item.answer_id, "case": case and case.pk},
        facts={"cause": str(cause), "outcome_right": outcome_right, "verdicts": len(verdicts)},
    )
    return check
