"""The gate stands before answer configurations as before index generations."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

BLOCKERS = """
DROP FUNCTION evaluation_full_run(uuid, uuid, timestamptz);
DROP FUNCTION evaluation_ran_through(uuid, text);

-- Everything that has to pass the gate. As the caller sees it: row-level security stays in force.
CREATE VIEW evaluation_candidates WITH (security_invoker = true) AS
    SELECT id, tenant_id, status, validated_at, retired_at,
           'documents_indexgeneration'::regclass AS kind
    FROM documents_indexgeneration
    UNION ALL
    SELECT id, tenant_id, status, validated_at, retired_at, 'answers_answerconfiguration'::regclass
    FROM answers_answerconfiguration;

-- Whether all answers of a variant that got as far as a search came of the candidate, and otherwise of
-- what serves: a good generation with another prompt says nothing of it with today's.
CREATE FUNCTION evaluation_ran_through(run uuid, wanted text, candidate uuid) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT coalesce(bool_and(
        (g.id = candidate AND c.status = 'serving') OR (c.id = candidate AND g.status = 'serving')
    ), false)
    FROM (
        SELECT DISTINCT a.generation_id_used, a.configuration_id_used
        FROM evaluation_evalresult e JOIN answers_answer a ON a.id = e.answer_id_given
        WHERE e.run_id = run AND e.variant = wanted AND a.generation_id_used IS NOT NULL
    ) used
    LEFT JOIN documents_indexgeneration g ON g.id = used.generation_id_used
    LEFT JOIN answers_answerconfiguration c ON c.id = used.configuration_id_used
$$;

-- The latest finished run of all active cases through the candidate, and as which variant.
CREATE FUNCTION evaluation_full_run(owner uuid, candidate uuid, since timestamptz)
RETURNS TABLE (id uuid, started_at timestamptz, variant text) LANGUAGE sql STABLE AS $$
    SELECT r.id, r.started_at, v.name::text
    FROM evaluation_evalrun r, unnest(r.variants) AS v (name)
    WHERE r.tenant_id = owner AND r.state = 'finished' AND r.started_at >= since
      AND NOT EXISTS (
          SELECT FROM evaluation_evalcase c
          WHERE c.tenant_id = owner AND c.state = 'active' AND NOT EXISTS (
              SELECT FROM evaluation_evalresult e
              WHERE e.run_id = r.id AND e.case_id = c.id AND e.variant = v.name))
      AND evaluation_ran_through(r.id, v.name, candidate)
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
UNION ALL SELECT 'worse_than_serving', own, serving FROM worse WHERE own < serving
$$;

-- The recent, approved override that covers all that stands against a candidate now; none for a
-- leak or for words that no source has.
CREATE OR REPLACE FUNCTION evaluation_waiver(owner uuid, candidate uuid) RETURNS uuid
LANGUAGE sql STABLE AS $$
    WITH standing AS (
        SELECT array_agg(code) AS codes FROM evaluation_blockers(owner, candidate)
    )
    SELECT o.id FROM evaluation_gateoverride o
    JOIN evaluation_candidates g ON g.id IN (o.generation_id, o.configuration_id), standing s
    WHERE o.tenant_id = owner AND g.tenant_id = owner AND g.id = candidate
      AND o.approved_at > greatest(now() - interval '7 days', g.retired_at)
      AND s.codes <@ o.waives::text[] AND NOT s.codes && '{violations,quotes}'
    ORDER BY o.approved_at DESC LIMIT 1
$$;
"""

GATE = """
CREATE OR REPLACE FUNCTION evaluation_gate() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    present uuid := precept_served_last(TG_RELID, NEW.tenant_id, NEW.id);
    standing text[];
    waiver uuid;
    green uuid;
    way text;
BEGIN
    IF present IS NULL THEN
        way := 'first';
    ELSIF precept_served_before(TG_RELID, NEW.id, present) THEN
        way := 'return';
    ELSE
        SELECT coalesce(array_agg(code), '{}') INTO standing
            FROM evaluation_blockers(NEW.tenant_id, NEW.id);
        IF standing = '{}' THEN
            way := 'run';
            SELECT r.id INTO green FROM evaluation_full_run(NEW.tenant_id, NEW.id, '-infinity') r;
        ELSE
            waiver := evaluation_waiver(NEW.tenant_id, NEW.id);
            IF waiver IS NULL THEN
                RAISE EXCEPTION '% may not serve yet: %. What to do: manage.py gates.',
                    NEW.name, array_to_string(standing, ', ')
                    USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'promotion_gate';
            END IF;
            way := 'override';
        END IF;
    END IF;
    INSERT INTO evaluation_gatepass
        (tenant_id, generation_id, configuration_id, passed_at, passed_by, run_id, override_id)
        VALUES (NEW.tenant_id,
                CASE WHEN TG_TABLE_NAME = 'documents_indexgeneration' THEN NEW.id END,
                CASE WHEN TG_TABLE_NAME = 'answers_answerconfiguration' THEN NEW.id END,
                clock_timestamp(), way, green, waiver);
    RETURN NEW;
END $$;

CREATE TRIGGER gate_insert BEFORE INSERT ON answers_answerconfiguration
    FOR EACH ROW WHEN (NEW.status = 'serving') EXECUTE FUNCTION evaluation_gate();
CREATE TRIGGER gate_update BEFORE UPDATE OF status ON answers_answerconfiguration
    FOR EACH ROW WHEN (NEW.status = 'serving' AND OLD.status <> 'serving')
    EXECUTE FUNCTION evaluation_gate();
"""

TWO_PEOPLE = """
CREATE OR REPLACE FUNCTION evaluation_override_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'An override stays on record.'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF TG_OP = 'INSERT' THEN
        NEW.asked_at := clock_timestamp();
        IF NEW.approved_by_id IS NOT NULL OR NEW.approved_at IS NOT NULL THEN
            RAISE EXCEPTION 'An override is approved after it was written, by somebody else.'
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END IF;
    IF OLD.approved_at IS NOT NULL
       OR (OLD.id, OLD.tenant_id, OLD.generation_id, OLD.configuration_id,
           OLD.waives, OLD.reason, OLD.asked_by_id,
           OLD.asked_at)
          IS DISTINCT FROM
          (NEW.id, NEW.tenant_id, NEW.generation_id, NEW.configuration_id,
           NEW.waives, NEW.reason, NEW.asked_by_id,
           NEW.asked_at) THEN
        RAISE EXCEPTION 'An override is written once and approved once.'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    NEW.approved_at := CASE WHEN NEW.approved_by_id IS NOT NULL THEN clock_timestamp() END;
    RETURN NEW;
END $$;
"""

KEYS = """
ALTER TABLE evaluation_gateoverride ADD CONSTRAINT evaluation_gateoverride_configuration_tenant
    FOREIGN KEY (tenant_id, configuration_id)
    REFERENCES answers_answerconfiguration (tenant_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE evaluation_gatepass ADD CONSTRAINT evaluation_gatepass_configuration_tenant
    FOREIGN KEY (tenant_id, configuration_id)
    REFERENCES answers_answerconfiguration (tenant_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE evaluation_evalrun ADD CONSTRAINT evaluation_evalrun_candidate_configuration_tenant
    FOREIGN KEY (tenant_id, candidate_configuration_id)
    REFERENCES answers_answerconfiguration (tenant_id, id) DEFERRABLE INITIALLY DEFERRED;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("answers", "0010_configurations"),
        ("documents", "0011_serving"),
        ("evaluation", "0004_runs"),
        ("tenants", "0006_token_for_evaluation"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="evalrun",
            name="candidate_configuration",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="answers.answerconfiguration",
            ),
        ),
        migrations.AddField(
            model_name="gateoverride",
            name="configuration",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="answers.answerconfiguration",
            ),
        ),
        migrations.AddField(
            model_name="gatepass",
            name="configuration",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="answers.answerconfiguration",
            ),
        ),
        migrations.AlterField(
            model_name="gateoverride",
            name="generation",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="documents.indexgeneration",
            ),
        ),
        migrations.AlterField(
            model_name="gatepass",
            name="generation",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="documents.indexgeneration",
            ),
        ),
        migrations.AddConstraint(
            model_name="gateoverride",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("configuration", None), ("generation__isnull", False)),
                    models.Q(("configuration__isnull", False), ("generation", None)),
                    _connector="OR",
                ),
                name="override_of_one_candidate",
            ),
        ),
        migrations.AddConstraint(
            model_name="gatepass",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("configuration", None), ("generation__isnull", False)),
                    models.Q(("configuration__isnull", False), ("generation", None)),
                    _connector="OR",
                ),
                name="pass_of_one_candidate",
            ),
        ),
        migrations.RunSQL(KEYS, migrations.RunSQL.noop),
        migrations.RunSQL(BLOCKERS, migrations.RunSQL.noop),
        migrations.RunSQL(GATE, migrations.RunSQL.noop),
        migrations.RunSQL(TWO_PEOPLE, migrations.RunSQL.noop),
    ]
