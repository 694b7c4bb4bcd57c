"""Running cases through the pipeline that answers people, with each person's own permissions."""

import hashlib
from collections import defaultdict
from collections.abc import Callable
from uuid import UUID

from django.utils import timezone

from answers import services as answering
from answers.generation import Generator
from answers.models import Answer, Purpose
from answers.pipeline import default_generator
from answers.selectors import AnswerView
from answers.transport import answer_to_the_end
from audit.services import record_action
from documents.models import DocumentVersion, IndexGeneration
from documents.selectors import version_text

from .judging import Given, Judgement, judge, share
from .models import CaseState, EvalCase, EvalResult, EvalRun
from .second_opinion import not_permitted


def run_evaluation(
    *,
    generator: Generator | None = None,
    generation: IndexGeneration | None = None,
    keys: list[str] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> EvalRun:
    """Run the active cases. Answers are marked as evaluation and shown to nobody.

    `generation`: through this one, which need not serve.
    """
    cases = EvalCase.objects.filter(state=CaseState.ACTIVE).select_related("as_user")
    if keys:
        cases = cases.filter(key__in=keys)
    run = EvalRun.objects.create(generator=(generator or default_generator(generation)).name)
    judged: list[tuple[EvalCase, AnswerView, Judgement]] = []
    for done, case in enumerate(cases, start=1):
        judged.append(_run_case(run, case, generator, generation))
        progress(done, len(cases))
    run.measures = _measures(judged)
    run.finished_at = timezone.now()
    run.save(update_fields=["measures", "finished_at"])
    record_action(
        action="evaluation.run",
        actor=None,
        object_ids={"run": run.id},
        facts={key: run.measures[key] for key in ("cases", "passed", "failed", "violations")},
    )
    return run


def _run_case(
    run: EvalRun,
    case: EvalCase,
    generator: Generator | None,
    generation: IndexGeneration | None,
) -> tuple[EvalCase, AnswerView, Judgement]:
    started = answering.start_answer(
        user=case.as_user,
        request_id=f"evaluation-{run.id.hex}-{case.id.hex}",
        question=case.question,
        language=case.language,
        purpose=Purpose.EVALUATION,
    )
    view = answer_to_the_end(
        user=case.as_user, started=started, generator=generator, generation=generation
    )
    judgement = judge(case=case, given=_given(view), unreadable=_unreadable(view.answer))
    EvalResult.objects.create(
        run=run,
        case=case,
        answer_id_given=view.answer.id,
        outcome=view.outcome,
        passed=judgement.passed,
        failures=list(judgement.failures),
        violations=list(judgement.violations),
    )
    return case, view, judgement


def _given(view: AnswerView) -> Given:
    words = [claim.text for claim in view.claims] + [cited.quote for cited in view.citations]
    return Given(
        outcome=view.outcome,
        words="\n".join(words),
        documents=frozenset(cited.document_id for cited in view.citations),
    )


def _unreadable(answer: Answer) -> set[UUID]:
    """Documents in any permit that the person may not read now; cases run with stable rights."""
    seen = {UUID(key) for permit in answer.permits.all() for key in permit.document_versions}
    return not_permitted(user=answer.user, documents=seen)


def _measures(judged) -> dict[str, object]:
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for case, _, judgement in judged:
        by_kind[case.kind].append(judgement.passed)
    outcomes = [view.outcome == case.expected_outcome for case, view, _ in judged]
    passed = sum(judgement.passed for _, _, judgement in judged)
    return {
        "cases": len(judged),
        "passed": passed,
        "failed": len(judged) - passed,
        "violations": sum(len(judgement.violations) for _, _, judgement in judged),
        "quotesNotVerbatim": sum(_not_verbatim(view) for _, view, _ in judged),
        "outcomeAccuracy": share(outcomes),
        "passedByKind": {kind: share(values) for kind, values in sorted(by_kind.items())},
        "casesByKind": {kind: len(values) for kind, values in sorted(by_kind.items())},
    }


def _not_verbatim(view: AnswerView) -> int:
    """Quotes that are not exactly text[start:end] of the cited version; must be zero."""
    wrong = 0
    for cited in view.citations:
        version = DocumentVersion.objects.get(document_id=cited.document_id, number=cited.version)
        text = version_text(version)
        wrong += text[cited.start_offset : cited.end_offset] != cited.quote
        wrong += hashlib.sha256(text.encode()).hexdigest() != version.text_sha256
    return wrong
