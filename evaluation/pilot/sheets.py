"""Sheets that people fill in before and during the pilot, as CSV."""

import csv
import io
import statistics
from dataclasses import dataclass

from django.core.exceptions import ValidationError

from evaluation.dashboard.goals import set_goal
from evaluation.exchange import COLUMNS
from evaluation.models import Goal
from evaluation.models.goal import PilotMeasure

TIMING_COLUMNS = ("question", "department", "seconds", "found")
_EXAMPLES = (
    ("How many days of annual leave may be carried over?", "Operations", "540", "yes"),
    ("Who approves a gift of 120 euro?", "Sales", "1260", "no"),
)
FIRST_SET = 50


@dataclass(frozen=True, slots=True)
class Timing:
    """How long people took without Precept; `found` is the share that found an answer at all."""

    rows: int
    median_seconds: float
    found: float
    goal: Goal


def timing_sheet() -> str:
    """The sheet, with two lines to be replaced."""
    return _written(TIMING_COLUMNS, _EXAMPLES)


def question_sheet() -> str:
    """A sheet for collecting questions; `manage.py import_cases` takes it in."""
    example = {
        "id": "carry-over",
        "question": "How many days of annual leave may be carried over?",
        "language": "en",
        "kind": "number",
        "as_user": "somebody@bank.example",
        "outcome": "answered",
        "correct_answer": "5 days.",
        "required_text": "5 days",
        "required_documents": "HR-2024-003",
    }
    return _written(COLUMNS, [[example.get(name, "") for name in COLUMNS]])


def take_timing(text: str) -> Timing:
    """The median becomes the baseline of the time to an answer. Raises ValidationError by row."""
    rows = list(csv.DictReader(io.StringIO(text.lstrip("\ufeff"))))
    if not rows or not set(TIMING_COLUMNS) <= set(rows[0]):
        raise ValidationError(f"The sheet must have the columns {', '.join(TIMING_COLUMNS)}.")
    seconds, found, wrong = [], [], []
    for number, row in enumerate(rows, start=1):
        try:
            spent = float(row["seconds"])
            if not 0 < spent < 86_400 or row["found"] not in ("yes", "no"):
                raise ValueError
        except (ValueError, TypeError):
            wrong.append(f"Row {number}: seconds is a number below a day, found is yes or no.")
            continue
        seconds.append(spent)
        found.append(row["found"] == "yes")
    if wrong:
        raise ValidationError([*wrong[:20], "Nothing was taken in."])
    median = round(statistics.median(seconds), 1)
    former = Goal.objects.filter(measure=PilotMeasure.ANSWER_SECONDS).first()
    goal = set_goal(
        measure=PilotMeasure.ANSWER_SECONDS,
        baseline=median,
        target=former and former.target,
        note=f"Median of {len(seconds)} timed questions before the pilot",
    )
    return Timing(len(seconds), median, round(sum(found) / len(found), 3), goal)


def _written(head, rows) -> str:
    target = io.StringIO()
    writer = csv.writer(target)
    writer.writerow(head)
    writer.writerows(rows)
    return target.getvalue()
