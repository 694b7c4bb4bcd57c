"""Runs that the worker carries out, resumes and compares; results with what is measured of them."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from tenants.rls import let_owner_read

EARLIER = """
ALTER TABLE evaluation_evalrun NO FORCE ROW LEVEL SECURITY;
UPDATE evaluation_evalrun SET created_at = started_at, variants = '{serving}',
    state = CASE WHEN finished_at IS NULL THEN 'cancelled' ELSE 'finished' END,
    finished_at = coalesce(finished_at, started_at);
ALTER TABLE evaluation_evalrun FORCE ROW LEVEL SECURITY;
"""

GATES = """
-- A run may go through what serves and through a candidate; each is looked at by itself.
DROP FUNCTION evaluation_full_run(uuid, uuid, timestamptz);
DROP FUNCTION evaluation_ran_through(uuid);

-- The one generation that a variant's answers were searched in; none when there were several.
CREATE FUNCTION evaluation_ran_through(run uuid, wanted text) RETURNS uuid
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN count(DISTINCT a.generation_id_used) = 1
                THEN (array_agg(a.generation_id_used)
                      FILTER (WHERE a.generation_id_used IS NOT NULL))[1] END
    FROM evaluation_evalresult e JOIN answers_answer a ON a.id = e.answer_id_given
    WHERE e.run_id = run AND e.variant = wanted
$$;

-- The latest finished run of all active cases through the candidate, and as which variant.
CREATE FUNCTION evaluation_full_run(owner uuid, candidate uuid, since timestamptz)
RETURNS TABLE (id uuid, started_at timestamptz, measures jsonb, variant text)
LANGUAGE sql STABLE AS $$
    SELECT r.id, r.started_at, r.measures, v.name::text
    FROM evaluation_evalrun r, unnest(r.variants) AS v (name)
    WHERE r.tenant_id = owner AND r.state = 'finished' AND r.started_at >= since
      AND NOT EXISTS (
          SELECT FROM evaluation_evalcase c
          WHERE c.tenant_id = owner AND c.state = 'active' AND NOT EXISTS (
              SELECT FROM evaluation_evalresult e
              WHERE e.run_id = r.id AND e.case_id = c.id AND e.variant = v.name))
      AND evaluation_ran_through(r.id, v.name) = candidate
    ORDER BY r.started_at DESC LIMIT 1
$$;

-- What stands between a candidate and serving, as (code, how many, of how many). Everything that
-- asks whether a candidate may serve asks here: the gate itself, the administration, the commands.
CREATE OR REPLACE FUNCTION evaluation_blockers(owner uuid, candidate uuid)
RETURNS TABLE (code text, count bigint, total bigint) LANGUAGE sql STABLE AS $$
WITH cases AS (
    SELECT count(*) FILTER (WHERE state = 'active') AS active,
           count(*) FILTER (WHERE state = 'needs_review') AS waiting
    FROM evaluation_evalcase WHERE tenant_id = owner
),
-- A run made before the candidate was whole, or before it was taken back, says nothing about it.
candidate_row AS (
    SELECT status, greatest(validated_at, coalesce(retired_at, validated_at)) AS since
    FROM documents_indexgeneration WHERE tenant_id = owner AND id = candidate
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
    JOIN answers_answer a ON a.id = e.answer_id_given AND a.generation_id_used = candidate,
    candidate_row c
    WHERE e.tenant_id = owner AND e.violations <> '[]'
      AND r.started_at >= coalesce((SELECT started_at FROM run), c.since)
),
passed AS (
    SELECT count(*) FILTER (WHERE e.passed) AS n, count(*) AS total
    FROM evaluation_evalresult e, run WHERE e.run_id = run.id AND e.variant = run.variant
),
-- What serves, on the same cases; only where it was run on them as they are.
serving AS (
    SELECT r.* FROM documents_indexgeneration g,
        evaluation_full_run(owner, g.id, '-infinity') r
    WHERE g.id = precept_served_last('documents_indexgeneration', owner, candidate)
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
UNION ALL SELECT 'quotes', coalesce((measures ->> 'quotesNotVerbatim')::bigint, 0), 0 FROM run
    WHERE (measures ->> 'quotesNotVerbatim') IS DISTINCT FROM '0'
UNION ALL SELECT 'too_few_passed', n, total FROM passed
    WHERE total > 0 AND n < total * evaluation_least_pass_rate(owner) - 1e-9
UNION ALL SELECT 'worse_than_serving', own, serving FROM worse WHERE own < serving
$$;
"""

KEYS = """
ALTER TABLE evaluation_evalrun
    ADD CONSTRAINT evaluation_evalrun_requested_by_tenant
        FOREIGN KEY (tenant_id, requested_by_id) REFERENCES tenants_user (tenant_id, id)
        DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT evaluation_evalrun_generation_tenant
        FOREIGN KEY (tenant_id, generation_id)
        REFERENCES documents_indexgeneration (tenant_id, id) DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT evaluation_evalrun_candidate_generation_tenant
        FOREIGN KEY (tenant_id, candidate_generation_id)
        REFERENCES documents_indexgeneration (tenant_id, id) DEFERRABLE INITIALLY DEFERRED;
"""

SILENT = """
-- For the sweep: tenants with runs whose process gives no sign of life.
CREATE FUNCTION evaluation_tenants_with_silent_runs(silent_since timestamptz)
    RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
    $$ SELECT DISTINCT tenant_id FROM evaluation_evalrun
       WHERE state = 'running' AND alive_at < silent_since $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0010_repairs"),
        ("evaluation", "0003_gates"),
        ("tenants", "0005_roleassignment_source"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="evalrun",
            options={"ordering": ["-created_at"]},
        ),
        migrations.RemoveConstraint(
            model_name="evalresult",
            name="case_once_per_run",
        ),
        migrations.AddField(
            model_name="evalresult",
            name="answer_ms",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="citations",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="citations_right",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="department",
            field=models.CharField(
                blank=True, default="", help_text="Of the first required document.", max_length=120
            ),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="digest",
            field=models.CharField(
                blank=True, default="", help_text="Of outcome, words and quotes.", max_length=64
            ),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="expected_outcome",
            field=models.CharField(blank=True, default="", max_length=16),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="first_rank",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="first_status_ms",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="generation_used",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="kind",
            field=models.CharField(blank=True, default="", max_length=40),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="language",
            field=models.CharField(blank=True, default="", max_length=8),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="model",
            field=models.CharField(blank=True, default="", max_length=80),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="not_verbatim",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="person",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="prompt_version",
            field=models.CharField(blank=True, default="", max_length=80),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="repeat",
            field=models.PositiveSmallIntegerField(default=1),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="required",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="required_found",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="sentences",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="tokens",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="ungrounded",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="evalresult",
            name="variant",
            field=models.CharField(
                choices=[("serving", "As it serves"), ("candidate", "Candidate")],
                default="serving",
                max_length=12,
            ),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="alive_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="cancel_requested",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="candidate_generation",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="documents.indexgeneration",
            ),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="candidate_generator",
            field=models.CharField(blank=True, default="", max_length=80),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="created_at",
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="done",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="generation",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="documents.indexgeneration",
            ),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="keys",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=120),
                default=list,
                help_text="Empty: all.",
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="most_minutes",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="most_tokens",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="not_run",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="repeats",
            field=models.PositiveSmallIntegerField(default=1),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="requested_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="state",
            field=models.CharField(
                choices=[
                    ("queued", "Waiting"),
                    ("running", "Running"),
                    ("finished", "Finished"),
                    ("cancelled", "Cancelled"),
                    ("stopped", "Stopped: its budget was spent"),
                ],
                default="queued",
                max_length=12,
            ),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="total",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="variants",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[("serving", "As it serves"), ("candidate", "Candidate")], max_length=12
                ),
                default=list,
                size=None,
            ),
        ),
        migrations.AlterField(
            model_name="evalrun",
            name="started_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.RunSQL(EARLIER, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name="evalresult",
            constraint=models.UniqueConstraint(
                fields=("run", "case", "variant", "repeat"), name="case_once_per_run_and_variant"
            ),
        ),
        migrations.AddConstraint(
            model_name="evalrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("finished_at", None), ("state__in", ["queued", "running"])),
                    models.Q(
                        ("finished_at__isnull", False),
                        models.Q(("state__in", ["queued", "running"]), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="run_that_ended_says_when",
            ),
        ),
        migrations.RunSQL(GATES, migrations.RunSQL.noop),
        migrations.RunSQL(KEYS, migrations.RunSQL.noop),
        let_owner_read("evaluation_evalrun"),
        migrations.RunSQL(SILENT, migrations.RunSQL.noop),
    ]
