"""Every number of the dashboard, computed again from raw rows by a query that shares nothing with it."""

import uuid
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings

from answers.models import Answer, Feedback, Outcome, Purpose, ReviewItem
from evaluation.cases import create_case
from evaluation.dashboard.weekly import dashboard, measured, mondays
from evaluation.models import CitationVerdict, EvalResult, EvalRun, SpotCheck
from evaluation.models.goal import PilotMeasure
from tenants.models import Role, User

ZONE = ZoneInfo(settings.TIME_ZONE)
# Three weeks over the end of a year.
WEEKS = [date(2025, 12, 22), date(2025, 12, 29), date(2026, 1, 5)]
TOLD = "('answered', 'excerpts', 'abstained', 'access_denied')"


def at(day: date, hour: int = 12) -> datetime:
    return datetime(day.year, day.month, day.day, hour, tzinfo=ZONE)


class Past:
    """Answers, feedback, judgements and runs of these weeks, with what must not be counted beside them."""

    def __init__(self, bank):
        self.bank = bank
        self.people = [bank.person(f"person{n}") for n in range(3)]
        self.reviewer = bank.person("reviewer", roles=[Role.REVIEWER])
        with bank.scope():
            User.objects.update(created_at=at(date(2025, 12, 1)))
            User.objects.filter(pk=self.people[2].pk).update(created_at=at(date(2026, 1, 6)))
            self.case = create_case(
                key="c", question="?", as_user=self.people[0], expected_outcome="answered", kind="k"
            )
            for number, monday in enumerate(WEEKS):
                self._week(number, monday)

    def _answer(
        self, person, when, *, outcome=Outcome.ANSWERED, seconds=2.0, question="", **fields
    ):
        answer = Answer.objects.create(
            user=person,
            request_id=uuid.uuid4().hex,
            payload_digest="",
            question=question or uuid.uuid4().hex,
            language="en",
            state="finished",
            outcome=outcome,
            finished_at=when + timedelta(seconds=seconds),
            **fields,
        )
        Answer.objects.filter(pk=answer.pk).update(created_at=when)
        return answer

    def _week(self, number: int, monday: date) -> None:
        first, last = at(monday, 0), at(monday + timedelta(days=6), 23) + timedelta(minutes=59)
        emma, joris = self.people[0], self.people[1]
        answers = [
            self._answer(emma, first, seconds=1.5, question="How many days of leave?"),
            self._answer(emma, last, seconds=4 + number, question="how many DAYS of leave"),
            self._answer(joris, at(monday), outcome=Outcome.ABSTAINED, seconds=9),
            self._answer(joris, at(monday, 13), outcome=Outcome.ACCESS_DENIED, seconds=0.5),
        ]
        self._answer(
            emma, at(monday), outcome=Outcome.CANCELLED, question="How many days of leave?"
        )
        self._answer(emma, at(monday), purpose=Purpose.EVALUATION)
        self._answer(joris, at(monday, 14), purged_at=at(monday, 15), question="")
        for answer, helpful in zip(answers, (True, False, True, number == 0), strict=True):
            said = Feedback.objects.create(answer=answer, user=answer.user, helpful=helpful)
            Feedback.objects.filter(pk=said.pk).update(created_at=at(monday, 16))
        for place, answer in enumerate(answers):
            item = ReviewItem.objects.create(answer=answer, kind="sample", reason="x")
            check = SpotCheck.objects.create(
                item=item,
                answer=answer,
                outcome_right=place != 2 or number == 1,
                cause="none",
                judged_by=self.reviewer,
            )
            SpotCheck.objects.filter(pk=check.pk).update(judged_at=at(monday, 17))
            for cited, verdict in enumerate(["supports", "partly", "supports"][: number + 1], 1):
                CitationVerdict.objects.create(
                    spot_check=check,
                    number=cited,
                    document_id_cited=uuid.uuid4(),
                    version_cited=1,
                    verdict=verdict,
                )
        for state, ended in (("finished", last), ("cancelled", at(monday))):
            run = EvalRun.objects.create(
                generator="x", state=state, variants=["serving"], finished_at=ended
            )
            for repeat in range(1, 4):
                EvalResult.objects.create(
                    run=run,
                    case=self.case,
                    repeat=repeat,
                    answer_id_given=uuid.uuid4(),
                    outcome="answered",
                    passed=repeat <= number + 1,
                    violations=["a", "b"] if number == 2 and repeat == 1 else [],
                )


@pytest.fixture(scope="module")
def past(database):
    from tests.bank import Bank

    past = Past(Bank.create())
    Past(Bank.create())  # another tenant, with the same in it
    return past


QUERIES = {
    PilotMeasure.ANSWER_SECONDS: f"""
        SELECT percentile_disc(0.5) WITHIN GROUP (
            ORDER BY extract(epoch FROM finished_at - created_at)), count(*)
        FROM answers_answer WHERE {{mine}} AND purpose = 'live' AND outcome IN {TOLD}
          AND created_at >= %(from)s AND created_at < %(to)s""",
    PilotMeasure.PASS_RATE: """
        SELECT avg(e.passed::int), count(*) FROM evaluation_evalresult e
        JOIN evaluation_evalrun r ON r.id = e.run_id
        WHERE e.{mine} AND r.state = 'finished'
          AND r.finished_at >= %(from)s AND r.finished_at < %(to)s""",
    PilotMeasure.VALID_CITATIONS: """
        SELECT avg((v.verdict = 'supports')::int), count(*) FROM evaluation_citationverdict v
        JOIN evaluation_spotcheck s ON s.id = v.spot_check_id
        WHERE v.{mine} AND s.judged_at >= %(from)s AND s.judged_at < %(to)s""",
    PilotMeasure.REPEATED: f"""
        WITH asked AS (
            SELECT id, created_at,
                btrim(regexp_replace(lower(question), '\\W+', ' ', 'g')) AS words
            FROM answers_answer WHERE {{mine}} AND purpose = 'live' AND outcome IN {TOLD}
              AND purged_at IS NULL)
        SELECT avg(EXISTS (SELECT FROM asked b WHERE b.words = a.words AND b.id <> a.id
                AND b.created_at <= a.created_at
                AND b.created_at >= a.created_at - interval '28 days')::int), count(*)
        FROM asked a WHERE created_at >= %(from)s AND created_at < %(to)s""",
    PilotMeasure.ADOPTION: f"""
        SELECT (SELECT count(DISTINCT user_id) FROM answers_answer
                WHERE {{mine}} AND purpose = 'live' AND outcome IN {TOLD}
                  AND created_at >= %(from)s AND created_at < %(to)s)::numeric / count(*), count(*)
        FROM tenants_user WHERE {{mine}} AND is_active AND created_at < %(to)s""",
    PilotMeasure.HELPFUL: """
        SELECT avg(f.helpful::int), count(*) FROM answers_feedback f
        JOIN answers_answer a ON a.id = f.answer_id
        WHERE f.{mine} AND a.purpose = 'live'
          AND f.created_at >= %(from)s AND f.created_at < %(to)s""",
    PilotMeasure.ABSTENTION: f"""
        SELECT avg((outcome IN ('abstained', 'access_denied'))::int), count(*)
        FROM answers_answer WHERE {{mine}} AND purpose = 'live' AND outcome IN {TOLD}
          AND created_at >= %(from)s AND created_at < %(to)s""",
    PilotMeasure.ABSTENTION_RIGHT: """
        SELECT avg(s.outcome_right::int), count(*) FROM evaluation_spotcheck s
        JOIN answers_answer a ON a.id = s.answer_id
        WHERE s.{mine} AND a.outcome IN ('abstained', 'access_denied')
          AND s.judged_at >= %(from)s AND s.judged_at < %(to)s""",
    PilotMeasure.VIOLATIONS: """
        SELECT sum(jsonb_array_length(e.violations)), count(*) FROM evaluation_evalresult e
        JOIN evaluation_evalrun r ON r.id = e.run_id
        WHERE e.{mine} AND r.state = 'finished'
          AND r.finished_at >= %(from)s AND r.finished_at < %(to)s""",
}


def test_there_is_a_query_for_every_measure():
    assert set(QUERIES) == set(PilotMeasure)


@pytest.mark.parametrize("measure", list(PilotMeasure))
def test_a_number_is_what_the_raw_rows_say(past, raw_sql, measure):
    with past.bank.scope():
        series = next(one for one in measured(WEEKS) if one.definition.measure == measure)
    values = []
    for monday, point in zip(WEEKS, series.points, strict=True):
        query = QUERIES[measure].replace("{mine}", "tenant_id = %(tenant)s")
        value, of = raw_sql.execute(
            query,
            {
                "tenant": past.bank.tenant.pk,
                "from": at(monday, 0),
                "to": at(monday + timedelta(days=7), 0),
            },
        ).fetchone()
        assert point.of == of > 0, monday
        assert point.value == pytest.approx(float(value), abs=1e-4), monday
        values.append(point.value)
    assert any(values)


def test_a_week_without_anything_has_no_value(past):
    with past.bank.scope():
        empty = measured([date(2024, 1, 1)])
    assert {one.points[0].value for one in empty} == {None}
    assert {one.points[0].of for one in empty} == {0}


def test_the_weeks_end_with_this_one():
    assert mondays(weeks=3, until=date(2026, 1, 7)) == WEEKS


def test_the_dashboard_is_refused_to_other_roles(past):
    from django.core.exceptions import PermissionDenied

    with past.bank.scope(), pytest.raises(PermissionDenied):
        dashboard(viewer=past.people[0])
