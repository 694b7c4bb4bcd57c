"""Two variants on the same cases: which cases differ, and by how much each measure does.

Intervals are of the paired bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
chapter 13, percentile method): cases are drawn with replacement, both of a case's results together.
The seed is fixed, so that the same results give the same interval.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.measures import MEASURES, Measure
from evaluation.models import EvalResult, EvalRun, Variant

RESAMPLES = 2000
LEVEL = 0.95
_SEED = 20260101


@dataclass(frozen=True, slots=True)
class Interval:
    """Of a mean difference, candidate minus serving, over `cases` cases."""

    mean: float
    low: float
    high: float
    cases: int

    def is_worse(self, better: str) -> bool:
        """Whether all of it lies on the bad side of zero."""
        return self.high < 0 if better == "higher" else self.low > 0


@dataclass(frozen=True, slots=True)
class Difference:
    measure: Measure
    serving: float
    candidate: float
    interval: Interval

    @property
    def verdict(self) -> str:
        if self.interval.is_worse(self.measure.better):
            return "worse"
        other = "lower" if self.measure.better == "higher" else "higher"
        return "better" if self.interval.is_worse(other) else "not told apart"


@dataclass(frozen=True, slots=True)
class Changed:
    """A case that came out differently."""

    serving: EvalResult
    candidate: EvalResult

    @property
    def case(self):
        return self.serving.case


@dataclass(frozen=True, slots=True)
class Comparison:
    differences: tuple[Difference, ...]
    changed: tuple[Changed, ...]
    cases: int


def paired_bootstrap(
    pairs: Sequence[tuple[float, float]],
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = _SEED,
) -> Interval:
    """The mean of second minus first, with its percentile interval. Raises ValueError for none."""
    if not pairs:
        raise ValueError("There is nothing to compare.")
    differences = np.array([second - first for first, second in pairs], dtype=float)
    draws = np.random.default_rng(seed).integers(0, len(differences), (resamples, len(differences)))
    means = differences[draws].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(differences.mean()), float(low), float(high), len(differences))


def compare(run: EvalRun) -> Comparison:
    """Of a run through both variants, cases that both have."""
    pairs = _pairs(run)
    differences = []
    for measure in MEASURES:
        both = [(measure.of(first), measure.of(second)) for first, second in pairs]
        known = [(a, b) for a, b in both if a is not None and b is not None]
        if known:
            differences.append(
                Difference(
                    measure,
                    serving=sum(a for a, _ in known) / len(known),
                    candidate=sum(b for _, b in known) / len(known),
                    interval=paired_bootstrap(known),
                )
            )
    changed = [Changed(first, second) for first, second in pairs if first.digest != second.digest]
    changed.sort(key=lambda one: (one.candidate.passed, one.serving.case.key))
    return Comparison(tuple(differences), tuple(changed), len(pairs))


def _pairs(run: EvalRun) -> list[tuple[EvalResult, EvalResult]]:
    rows: dict[tuple, dict[str, EvalResult]] = defaultdict(dict)
    for result in run.results.select_related("case").order_by("case__key", "repeat"):
        rows[result.case_id, result.repeat][result.variant] = result
    return [
        (both[Variant.SERVING], both[Variant.CANDIDATE]) for both in rows.values() if len(both) == 2
    ]


@dataclass(frozen=True, slots=True)
class Variation:
    """How much a repeated run disagrees with itself."""

    cases: int
    other_words: int
    other_verdict: int
    pass_rates: tuple[float, ...]


def variation(run: EvalRun) -> Variation:
    """Over the repeats of the variant that the run is about."""
    variant = run.variants[-1]
    by_case: dict[object, list[EvalResult]] = defaultdict(list)
    by_repeat: dict[int, list[bool]] = defaultdict(list)
    for result in run.results.filter(variant=variant):
        by_case[result.case_id].append(result)
        by_repeat[result.repeat].append(result.passed)
    return Variation(
        cases=len(by_case),
        other_words=sum(len({r.digest for r in rows}) > 1 for rows in by_case.values()),
        other_verdict=sum(len({r.passed for r in rows}) > 1 for rows in by_case.values()),
        pass_rates=tuple(round(sum(rows) / len(rows), 3) for _, rows in sorted(by_repeat.items())),
    )
