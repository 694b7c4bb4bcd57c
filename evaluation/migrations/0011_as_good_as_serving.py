"""A candidate that passes no less than what serves is not held to a share that what serves misses too."""

from django.db import migrations

FULL_RUN = """
-- The latest finished run of all active cases through the candidate, and as which variant. One run
-- after the other, latest first, so that it costs what one run does and not what all of them do.
CREATE OR REPLACE FUNCTION evaluation_full_run(owner uuid, candidate uuid, since timestamptz)
RETURNS TABLE (id uuid, started_at timestamptz, variant text) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE one record;
BEGIN
    FOR one IN
        SELECT r.id AS run, r.started_at AS began, v.name::text AS variant
        FROM evaluation_evalrun r, unnest(r.variants) AS v (name)
        WHERE r.tenant_id = owner AND r.state = 'finished' AND r.started_at >= since
        ORDER BY r.started_at DESC
    LOOP
        IF evaluation_ran_through(one.run, one.variant, candidate) AND NOT EXISTS (
            SELECT FROM evaluation_evalcase c
            WHERE c.tenant_id = owner AND c.state = 'active' AND NOT EXISTS (
                SELECT FROM evaluation_evalresult e
                WHERE e.run_id = one.run AND e.case_id = c.id AND e.variant = one.variant))
        THEN
            RETURN QUERY SELECT one.run, one.began, one.variant;
            RETURN;
        END IF;
    END LOOP;
END $$;
"""

BLOCKERS = """
CREATE OR REPLACE FUNCTION evaluation_case_blockers(owner uuid, candidate uuid)
RETURNS TABLE (code text, count bigint, total bigint) LANGUAGE sql STABLE AS $$
WITH cases AS (
    SELECT count(*) FILTER (WHERE state = 'active') AS active,
           count(*) FILTER (WHERE state = 'needs_review') AS waiting
    FROM evaluation_evalcase WHERE tenant_id = owner
),
-- A run made before the candidate was whole, or before it was taken back, says nothing about it.
candidate_row AS (
    SELECT status, greatest(validated_at, retired_at) AS since
    FROM evaluation_candidates WHERE tenant_id = owner AND id = candidate
),
run AS (
    SELECT r.* FROM candidate_row c, evaluation_full_run(owner, candidate, c.since) r
),
changed AS (
    SELECT count(*) AS n FROM evaluation_evalcase c, run
    WHERE c.tenant_id = owner AND c.changed_at > run.started_at
      AND (c.state IN ('active', 'needs_review') OR EXISTS (
          SELECT FROM evaluation_evalresult e WHERE e.run_id = run.id AND e.case_id = c.id))
),
-- Also those of runs that were cut short, or of some cases only.
violated AS (
    SELECT count(*) AS n
    FROM evaluation_evalresult e
    JOIN evaluation_evalrun r ON r.id = e.run_id
    JOIN answers_answer a ON a.id = e.answer_id_given
        AND candidate IN (a.generation_id_used, a.configuration_id_used),
    candidate_row c
    WHERE e.tenant_id = owner AND e.violations <> '[]'
      AND r.started_at >= coalesce((SELECT started_at FROM run), c.since)
),
passed AS (
    SELECT count(*) FILTER (WHERE e.passed) AS n, count(*) AS total,
           sum(e.not_verbatim + e.ungrounded) AS untrue
    FROM evaluation_evalresult e, run WHERE e.run_id = run.id AND e.variant = run.variant
),
-- What serves, on the same cases; only where it was run on them as they are.
serving AS (
    SELECT r.* FROM evaluation_candidates c,
        evaluation_full_run(owner, precept_served_last(c.kind, owner, candidate), '-infinity') r
    WHERE c.tenant_id = owner AND c.id = candidate
      AND NOT EXISTS (SELECT FROM evaluation_evalcase c WHERE c.tenant_id = owner
                      AND c.state = 'active' AND c.changed_at > r.started_at)
),
worse AS (
    SELECT count(*) FILTER (WHERE s.passed) AS serving, count(*) FILTER (WHERE e.passed) AS own
    FROM run JOIN evaluation_evalresult e ON e.run_id = run.id AND e.variant = run.variant
    JOIN serving ON true
    JOIN evaluation_evalresult s ON s.run_id = serving.id AND s.variant = serving.variant
        AND s.case_id = e.case_id AND s.repeat = e.repeat
)
SELECT 'not_built', 0::bigint, 0::bigint FROM candidate_row WHERE status = 'building'
UNION ALL SELECT 'no_cases', 0, 0 FROM cases WHERE active = 0
UNION ALL SELECT 'cases_need_review', waiting, active + waiting FROM cases WHERE waiting > 0
UNION ALL SELECT 'no_run', active, active FROM cases WHERE active > 0 AND NOT EXISTS (SELECT FROM run)
UNION ALL SELECT 'cases_changed', n, (SELECT active FROM cases) FROM changed WHERE n > 0
UNION ALL SELECT 'violations', n, (SELECT total FROM passed) FROM violated WHERE n > 0
UNION ALL SELECT 'quotes', untrue, 0 FROM passed WHERE untrue > 0
UNION ALL SELECT 'too_few_passed', n, total FROM passed
    WHERE total > 0 AND n < total * evaluation_least_pass_rate(owner) - 1e-9
      AND NOT (EXISTS (SELECT FROM serving) AND (SELECT own >= worse.serving FROM worse))
UNION ALL SELECT 'worse_than_serving', own, serving FROM worse WHERE own < serving
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0010_reports")]
    operations = [
        migrations.RunSQL(FULL_RUN, migrations.RunSQL.noop),
        migrations.RunSQL(BLOCKERS, migrations.RunSQL.noop),
    ]
