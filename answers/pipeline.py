"""The path of an answer, top to bottom. No transaction is open while a model runs."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import structlog
from django.conf import settings
from django.db import DatabaseError, connection, transaction

from documents.embedding import get_embedder
from documents.generations import serving_generation
from documents.models import IndexGeneration
from documents.retrieval.search import SearchResult, SearchUnavailable, search

from . import authority, limits, services
from .canaries import Drawn, draw
from .configurations import generator_of, serving_configuration
from .evidence import Evidence
from .excerpts import excerpts
from .gaps import missing_words
from .generation import Draft, Generator, GeneratorUnavailable
from .generation.calls import NoLongerWanted, while_wanted
from .grounding import GroundedAnswer, GroundingFailed, check, check_each
from .models import Answer, AnswerConfiguration, Outcome, PermitStep, Reason
from .progress import Finished, Stage, Status
from .question_language import detect_question_language
from .refusals import NO_EVIDENCE, refusal
from .reranking import RankingSettings, question_terms, rerank
from .shadowing import compare_later

log = structlog.get_logger("precept.answers")

MAX_ATTEMPTS = 3  # the first, and twice again when a change of eligibility takes a source away


class Cancelled(Exception):
    """The asker cancelled, or the attempt was ended from outside."""


def default_generator(
    generation: IndexGeneration | None = None, configuration: AnswerConfiguration | None = None
) -> Generator:
    """The tenant's. The extractive one compares meanings with the embedder that searched."""
    return generator_of(
        configuration or serving_configuration(),
        embedder=get_embedder((generation or serving_generation()).embedder),
    )


def answer_question(
    *,
    answer: Answer,
    generator: Generator | None = None,
    generation: IndexGeneration | None = None,
    configuration: AnswerConfiguration | None = None,
) -> Iterator[Status | Finished]:
    """Run a started attempt to its one outcome, yielding its stages.

    `generation`, `configuration`: search and write with these and not with those that serve.
    Whatever happens, the attempt ends exactly once and leaves one audit record: closing the
    iterator early ends it as interrupted, an unforeseen error as unavailable.
    """
    run = _Run(answer, generation)
    try:
        if not (generator or generation or configuration):
            drawn = run.draw()
            generation, configuration = drawn.generation, drawn.configuration
        if generator is None:
            run.configuration = configuration or serving_configuration()
        run.use(generator or default_generator(generation, run.configuration))
        for attempt in range(1, MAX_ATTEMPTS + 1):
            answer.attempt = attempt
            try:
                yield from run.attempt()
                break
            except authority.SourcesChanged as changed:
                log.info("sources changed", answer=str(answer.id), attempt=attempt)
                run.restarts.append({"attempt": attempt, "counted_out": changed.counted_out})
        else:
            run.end(Outcome.UNAVAILABLE, Reason.SOURCES_CHANGED)
    except (Cancelled, NoLongerWanted):
        run.end(Outcome.CANCELLED)
    except limits.BudgetExceeded:
        run.end(Outcome.UNAVAILABLE, Reason.BUDGET_EXCEEDED)
    except SearchUnavailable:
        log.exception("search", answer=str(answer.id))
        run.end(Outcome.UNAVAILABLE, Reason.SEARCH)
    except (authority.AuthorityUnavailable, DatabaseError):
        log.exception("authority", answer=str(answer.id))
        connection.close_if_unusable_or_obsolete()  # the ending needs one that works
        run.end(Outcome.UNAVAILABLE, Reason.AUTHORITY)
    except GeneratorExit:
        run.end(Outcome.INTERRUPTED, Reason.DISCONNECTED)
        raise
    except Exception:
        log.exception("internal", answer=str(answer.id))
        run.end(Outcome.UNAVAILABLE, Reason.INTERNAL)
    compare_later(answer)
    yield Finished(released=run.released)


class _Run:
    """One question's attempts: what they share, and the bookkeeping around the steps."""

    def __init__(self, answer: Answer, generation: IndexGeneration | None):
        self.answer = answer
        self.generation = generation
        self.configuration: AnswerConfiguration | None = None  # none: a generator was given
        self.released = False
        self.timings: dict[str, int] = {}
        self.restarts: list[dict[str, object]] = []
        self.fields: dict[str, object] = {}

    def draw(self) -> Drawn:
        """Which of two answers, while a candidate is tried."""
        drawn = draw(self.answer)
        self.generation = drawn.generation
        self.fields |= {"canary_id_asked": drawn.canary and drawn.canary.pk, "arm": drawn.arm}
        return drawn

    def use(self, generator: Generator) -> None:
        self.generator = generator
        self.fields |= {
            "generator": generator.name,
            "configuration_id_used": self.configuration and self.configuration.pk,
        }

    def attempt(self) -> Iterator[Status]:
        """One attempt. Each line is one step and one call to one room."""
        answer = self.answer
        self.fields.pop("reason", None)  # an earlier attempt's
        answer.language = detect_question_language(answer.question, default=answer.language)

        yield from self.reach(Stage.SEARCHING)
        with self.timed("search"):
            found = search(user=answer.user, question=answer.question, generation=self.generation)
        self.fields |= {"generation_id_used": found.generation.id}
        cosines = {candidate.chunk_id: candidate.cosine for candidate in found.candidates}
        if self.configuration:
            # Another generation may have begun to serve since the attempt began: similarities of
            # two embedders must not meet.
            self.use(default_generator(found.generation, self.configuration))

        yield from self.reach(Stage.CHECKING_ACCESS)
        with self.timed("admit_rerank"):
            admitted = authority.admit(
                answer=answer,
                step=PermitStep.RERANK,
                processor=settings.RERANKER,
                chunk_ids=found.chunk_ids,
                cosines=cosines,
            )
        if admitted.permit.rejected:
            # What replaces it, a new version for one, was not looked for.
            raise authority.SourcesChanged(admitted.permit.counted_out)

        yield from self.reach(Stage.RANKING)
        with self.timed("rerank"):
            ranked = rerank(
                terms=question_terms(answer.question, answer.language),
                evidence=admitted.evidence,
                cosines=cosines,
                settings=RankingSettings.from_json(found.ranking.rerank),
            )
        self.note_search(found, best=ranked[0].score if ranked else 0.0)

        yield from self.reach(Stage.WRITING)
        with self.timed("admit_generate"):
            context = authority.admit(
                answer=answer,
                step=PermitStep.GENERATE,
                processor=self.generator.processor,
                chunk_ids=[chunk.chunk_id for chunk in ranked],
                cosines=cosines,
                scores={chunk.chunk_id: chunk.score for chunk in ranked},
                all_or_nothing=True,
            )
        if not context.evidence:
            self.refuse(found)
            return
        try:
            with (
                self.timed("generate"),
                limits.token_budget(answer=answer, evidence=context.evidence) as budget,
                while_wanted(lambda: services.is_wanted(answer=answer)),
            ):
                draft = self.generator.generate(
                    question=answer.question, language=answer.language, evidence=context.evidence
                )
                budget.spent(draft.tokens_in + draft.tokens_out)
            outcome = Outcome.ANSWERED
        except GeneratorUnavailable as failure:
            log.warning("generator", answer=str(answer.id), reason=str(failure.reason))
            draft, outcome = excerpts(context.evidence), Outcome.EXCERPTS
            self.fields |= {"reason": Reason.MODEL}
            self.fields["signals"] |= {"model_failure": str(failure.reason)}
        self.note_draft(draft)

        yield from self.reach(Stage.VERIFYING)
        if not draft.claims:
            self.refuse(found)
            return
        try:
            with self.timed("verify"):
                grounded = self.ground(draft, context.evidence)
        except GroundingFailed as failure:
            self.block(draft, context.evidence, failure)
            return

        yield from self.reach(Stage.RELEASING)
        with self.timed("release"):
            self.release(context, grounded, outcome)

    def reach(self, stage: Stage) -> Iterator[Status]:
        if not services.note_stage(answer=self.answer, stage=stage, known=self.known()):
            raise Cancelled
        yield Status(stage=stage)

    def release(
        self, context: authority.Admission, grounded: GroundedAnswer, outcome: Outcome
    ) -> None:
        """Only once this has committed, with its audit record, may anything leave."""
        released = authority.release(
            answer=self.answer,
            context=context.permit,
            grounded=grounded,
            evidence=context.evidence,
            finish=self.closing() | {"outcome": outcome},
        )
        if released is None:
            raise Cancelled
        self.released = authority.consume(permit=released.permit, caller=self.answer.user_id)

    def ground(self, draft: Draft, evidence: Sequence[Evidence]) -> GroundedAnswer:
        """Raises GroundingFailed: for any claim that fails or, under `strip`, when none is left."""
        checked = {"draft": draft, "evidence": evidence, "language": self.answer.language}
        if settings.CLAIM_POLICY != "strip":
            return check(**checked)
        grounded, failures = check_each(**checked)
        if not grounded.claims:
            raise failures[0]
        self.fields["signals"] |= {"claims_removed": [failure.rule for failure in failures]}
        return grounded

    def refuse(self, found: SearchResult) -> None:
        ending = refusal(self.answer)
        if ending == NO_EVIDENCE:
            self.fields["signals"] |= {
                "missing_words": missing_words(
                    user=self.answer.user,
                    question=self.answer.question,
                    language=self.answer.language,
                    generation=found.generation,
                )
            }
        self.end(*ending)

    def block(self, draft, evidence, failure: GroundingFailed) -> None:
        """A draft that fails any check is seen by reviewers only, and the asker gets a refusal."""
        sources = {chunk.number: str(chunk.document_id) for chunk in evidence}
        ending = refusal(self.answer)
        with transaction.atomic():
            services.block_draft(
                answer=self.answer,
                reason=f"Claim {failure.ordinal}: {failure.rule.value}: {failure.reason}",
                draft=[
                    {
                        "text": claim.text,
                        "quotes": [
                            {"document": sources.get(quote.source), "quote": quote.quote}
                            for quote in claim.quotes
                        ],
                    }
                    for claim in draft.claims
                ],
            )
            self.end(*ending)

    def end(self, outcome: Outcome, reason: Reason | str = "") -> None:
        services.end_answer(answer=self.answer, outcome=outcome, reason=reason, fields=self.known())

    def known(self) -> dict[str, object]:
        """What is known by now, whatever the outcome will be."""
        return {name: value for name, value in self.closing().items() if name != "reason"}

    def closing(self) -> dict[str, object]:
        restarts = {"restarts": self.restarts} if self.restarts else {}
        return {
            **self.fields,
            "signals": {**self.fields.get("signals", {}), **restarts},
            "language": self.answer.language,
            "attempt": self.answer.attempt,
            "stage_timings": self.timings,
        }

    def note_search(self, found: SearchResult, *, best: float) -> None:
        self.fields |= {
            "signals": {"candidates": len(found.candidates), "best_score": round(best, 4)},
        }

    def note_draft(self, draft) -> None:
        self.fields |= {
            "generator": draft.generator,
            "model": draft.model,
            "prompt_version": draft.prompt_version,
            "tokens_in": draft.tokens_in,
            "tokens_out": draft.tokens_out,
            "signals": {**self.fields["signals"], **draft.explanation},
        }

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            spent = round((time.monotonic() - started) * 1000)
            self.timings[step] = self.timings.get(step, 0) + spent
