"""One case, asked through the pipeline that answers people, and what is seen of it."""

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from answers import services as answering
from answers.generation import Generator
from answers.models import Answer, AnswerConfiguration, PermitStep, Purpose
from answers.pipeline import answer_question
from answers.selectors import AnswerView, present_answer
from answers.services import Started
from answers.transport import answer_to_the_end
from documents.models import Chunk, Document, DocumentVersion, IndexGeneration
from documents.selectors import version_text
from evaluation.judging import Given, holds, judge
from evaluation.measures import RECALL_AT
from evaluation.models import EvalCase, EvalResult, EvalRun, Variant
from evaluation.second_opinion import not_permitted

from .giving_way import wait_between_steps


@dataclass(frozen=True, slots=True)
class Through:
    """What cases are run through. None leaves the system's own choice."""

    variant: Variant
    generator: Generator | None = None
    generation: IndexGeneration | None = None
    configuration: AnswerConfiguration | None = None


@dataclass(frozen=True, slots=True)
class _Seen:
    view: AnswerView
    first_status_ms: int
    answer_ms: int


def run_case(*, run: EvalRun, case: EvalCase, through: Through, repeat: int) -> EvalResult:
    """Asked once, whatever dies in between: the request id names run, case, variant and repeat."""
    started = answering.start_answer(
        user=case.as_user,
        request_id=f"evaluation-{run.id.hex}-{case.id.hex}-{through.variant}-{repeat}",
        question=case.question,
        language=case.language,
        purpose=Purpose.EVALUATION,
    )
    seen = _ask(case, started, through)
    view, answer = seen.view, seen.view.answer
    judgement = judge(case=case, given=_given(view), unreadable=unreadable_documents(answer))
    quotes = [_is_verbatim(cited) for cited in view.citations]
    right = [cited.document_id in _required(case) for cited in view.citations]
    ranks = _ranks(case, answer)
    return EvalResult.objects.create(
        run=run,
        case=case,
        variant=through.variant,
        repeat=repeat,
        answer_id_given=answer.id,
        expected_outcome=case.expected_outcome,
        outcome=view.outcome,
        passed=judgement.passed,
        failures=list(judgement.failures),
        violations=list(judgement.violations),
        kind=case.kind,
        language=case.language,
        person=case.as_user_id,
        department=_department(case),
        generation_used=answer.generation_id_used,
        prompt_version=answer.prompt_version,
        model=answer.model,
        sentences=len(view.claims),
        ungrounded=_ungrounded(view, quotes),
        citations=len(view.citations),
        citations_right=sum(right) if case.required_documents and view.citations else None,
        not_verbatim=quotes.count(False),
        required=len(case.required_documents),
        required_found=sum(rank is not None and rank <= RECALL_AT for rank in ranks),
        first_rank=min((rank for rank in ranks if rank is not None), default=None),
        first_status_ms=seen.first_status_ms,
        answer_ms=seen.answer_ms,
        tokens=answer.tokens_in + answer.tokens_out,
        digest=_digest(view),
    )


def _ask(case: EvalCase, started: Started, through: Through) -> _Seen:
    began = time.monotonic()
    first, gave_way = None, 0.0
    if started.is_new:
        for _ in answer_question(
            answer=started.answer,
            generator=through.generator,
            generation=through.generation,
            configuration=through.configuration,
        ):
            first = first or time.monotonic()
            gave_way += wait_between_steps()
        view = present_answer(user=case.as_user, answer=started.answer)
    else:  # a run that died with this question open: what came of it is taken as it is
        view = answer_to_the_end(user=case.as_user, started=started)
    ended = time.monotonic()
    return _Seen(view, _ms(began, first or ended), _ms(began, ended - gave_way))


def _ms(began: float, ended: float) -> int:
    return round((ended - began) * 1000)


def _given(view: AnswerView) -> Given:
    words = [claim.text for claim in view.claims] + [cited.quote for cited in view.citations]
    return Given(
        outcome=view.outcome,
        words="\n".join(words),
        documents=frozenset(cited.document_id for cited in view.citations),
        sections=frozenset(cited.section for cited in view.citations),
    )


def unreadable_documents(answer: Answer) -> set[UUID]:
    """Documents in any permit that the person may not read now; cases run with stable rights."""
    seen = {UUID(key) for permit in answer.permits.all() for key in permit.document_versions}
    return not_permitted(user=answer.user, documents=seen)


def _is_verbatim(cited) -> bool:
    """Whether a quote is exactly text[start:end] of the cited version."""
    version = DocumentVersion.objects.get(document_id=cited.document_id, number=cited.version)
    text = version_text(version)
    return (
        text[cited.start_offset : cited.end_offset] == cited.quote
        and hashlib.sha256(text.encode()).hexdigest() == version.text_sha256
    )


def _ungrounded(view: AnswerView, verbatim: Sequence[bool]) -> int:
    """Sentences that not one verbatim quote stands behind."""
    good = {cited.n for cited, right in zip(view.citations, verbatim, strict=True) if right}
    return sum(not good.intersection(claim.citations) for claim in view.claims)


def _required(case: EvalCase) -> list[UUID]:
    return [UUID(str(document)) for document in case.required_documents]


def _ranks(case: EvalCase, answer: Answer) -> list[int | None]:
    """For each required document, where its first fitting passage stood among the candidates.

    From 1; None where it was not among them. Where no passage of the document holds any of the
    required words, any of its passages fits.
    """
    permit = answer.permits.filter(step=PermitStep.RERANK).last()
    order = [UUID(key) for key in permit.chunks] if permit else []
    place = {key: rank for rank, key in enumerate(order, start=1)}
    found: list[int | None] = []
    for document in _required(case):
        chunks = list(Chunk.objects.filter(id__in=order, document_id=document))
        fitting = [
            chunk for chunk in chunks if any(holds(chunk.text, w) for w in case.required_text)
        ]
        ranks = [place[chunk.id] for chunk in (fitting or chunks)]
        found.append(min(ranks, default=None))
    return found


def _department(case: EvalCase) -> str:
    required = _required(case)
    if not required:
        return ""
    document = Document.objects.filter(pk=required[0]).select_related("department").first()
    return document.department.name if document else ""


def _digest(view: AnswerView) -> str:
    said = [
        view.outcome,
        [claim.text for claim in view.claims],
        [[str(c.document_id), c.version, c.start_offset, c.end_offset] for c in view.citations],
    ]
    return hashlib.sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()
