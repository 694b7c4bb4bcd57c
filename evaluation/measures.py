"""What a run's results amount to. Pure arithmetic; each formula is in docs/measures.md."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.conf import settings

from .models import EvalResult

RECALL_AT = 10
# An outcome that says there is no answer for this person.
REFUSALS = {"abstained", "access_denied"}
# How results may be looked at in parts: measure name → what of a result.
PARTS: dict[str, str] = {
    "kind": "kind",
    "language": "language",
    "department": "department",
    "person": "person",
    "generation": "generation_used",
    "prompt": "prompt_version",
    "model": "model",
}


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of one result; None where the measure says nothing of it. `better`: which way."""

    name: str
    label: str
    of: Callable[[EvalResult], float | None]
    better: str  # "higher" or "lower"


def _citation_share(result: EvalResult) -> float | None:
    if not result.citations or result.citations_right is None:
        return None
    return result.citations_right / result.citations


def _recall(result: EvalResult) -> float | None:
    return result.required_found / result.required if result.required else None


def _reciprocal_rank(result: EvalResult) -> float | None:
    if not result.required:
        return None
    return 1 / result.first_rank if result.first_rank else 0.0


def _answered_tokens(result: EvalResult) -> float | None:
    return float(result.tokens) if result.outcome == "answered" else None


def _cost(result: EvalResult) -> float | None:
    tokens = _answered_tokens(result)
    return None if tokens is None else tokens * settings.PRICE_PER_MILLION_TOKENS / 1_000_000


MEASURES: tuple[Measure, ...] = (
    Measure("passRate", "Cases passed", lambda r: float(r.passed), "higher"),
    Measure(
        "outcomeAccuracy",
        "Outcome as expected",
        lambda r: float(r.outcome == r.expected_outcome),
        "higher",
    ),
    Measure("citationCorrectness", "Citations of a required document", _citation_share, "higher"),
    Measure(f"recallAt{RECALL_AT}", "Required documents found", _recall, "higher"),
    Measure("mrr", "Reciprocal rank of the first one", _reciprocal_rank, "higher"),
    Measure("ungrounded", "Ungrounded sentences", lambda r: float(r.ungrounded), "lower"),
    Measure("violations", "Permission violations", lambda r: float(len(r.violations)), "lower"),
    Measure("answerMs", "Milliseconds to the answer", lambda r: float(r.answer_ms), "lower"),
    Measure("tokens", "Tokens of an answered question", _answered_tokens, "lower"),
)


def share(values: Sequence[bool]) -> float | None:
    """The share of true values, three decimals; None for no values."""
    return round(sum(values) / len(values), 3) if values else None


def mean(values: Iterable[float | None]) -> float | None:
    """Of those that are not None, three decimals."""
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 3) if known else None


def quantile(values: Sequence[int], fraction: float) -> int | None:
    """The smallest value that at least this share of the values does not exceed."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * fraction) - 1)]


def summary(results: Sequence[EvalResult]) -> dict[str, object]:
    """All measures of these results, JSON-ready."""
    passed = sum(result.passed for result in results)
    cited = [result for result in results if result.citations_right is not None]
    answered = [result for result in results if result.outcome == "answered"]
    refused = [result for result in results if result.outcome in REFUSALS]
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for result in results:
        by_kind[result.kind].append(result.passed)
    return {
        "cases": len(results),
        "passed": passed,
        "failed": len(results) - passed,
        "violations": sum(len(result.violations) for result in results),
        "quotesNotVerbatim": sum(result.not_verbatim for result in results),
        "ungroundedSentences": sum(result.ungrounded for result in results),
        "sentences": sum(result.sentences for result in results),
        "passRate": share([result.passed for result in results]),
        "outcomeAccuracy": share([r.outcome == r.expected_outcome for r in results]),
        "citationCorrectness": _ratio(
            sum(result.citations_right for result in cited),
            sum(result.citations for result in cited),
        ),
        "answeredRate": _ratio(len(answered), len(results)),
        "answeredJustified": share([r.expected_outcome == "answered" for r in answered]),
        "refusedRate": _ratio(len(refused), len(results)),
        "refusedJustified": share([r.expected_outcome in REFUSALS for r in refused]),
        "answerableAnswered": share(
            [r.outcome == "answered" for r in results if r.expected_outcome == "answered"]
        ),
        "unanswerableRefused": share(
            [r.outcome in REFUSALS for r in results if r.expected_outcome in REFUSALS]
        ),
        f"recallAt{RECALL_AT}": mean(_recall(result) for result in results),
        "mrr": mean(_reciprocal_rank(result) for result in results),
        "firstStatusMs": quantile([result.first_status_ms for result in results], 0.5),
        "answerMsMedian": quantile([result.answer_ms for result in results], 0.5),
        "answerMsP95": quantile([result.answer_ms for result in results], 0.95),
        "tokensPerAnswered": mean(_answered_tokens(result) for result in results),
        "costPerAnswered": mean(_cost(result) for result in results),
        "passedByKind": {kind: share(values) for kind, values in sorted(by_kind.items())},
        "casesByKind": {kind: len(values) for kind, values in sorted(by_kind.items())},
    }


def parts(results: Sequence[EvalResult], by: str) -> dict[str, dict[str, object]]:
    """The summary of each part; `by` is a key of PARTS. Raises KeyError for another."""
    groups: dict[str, list[EvalResult]] = defaultdict(list)
    for result in results:
        groups[str(getattr(result, PARTS[by]) or "")].append(result)
    return {name: summary(rows) for name, rows in sorted(groups.items())}


def _ratio(count: int, total: int) -> float | None:
    return round(count / total, 3) if total else None
