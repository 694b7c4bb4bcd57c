"""The gate before whatever may serve: kept by the database, so that nothing goes round it."""

import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
import django.db.models.lookups
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import tenants.scope
from tenants.rls import IsolateTenant

CASES = """
-- A run counts for cases as they are: every change of one is dated here.
CREATE FUNCTION evaluation_case_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        NEW.changed_at := OLD.changed_at;
        IF NEW IS NOT DISTINCT FROM OLD THEN
            RETURN NEW;
        END IF;
    END IF;
    NEW.changed_at := clock_timestamp();
    RETURN NEW;
END $$;
-- Named so that it runs after every other trigger that changes the row.
CREATE TRIGGER zz_changed BEFORE INSERT OR UPDATE ON evaluation_evalcase
    FOR EACH ROW EXECUTE FUNCTION evaluation_case_changed();
"""

BLOCKERS = """
-- The one generation that all answers of a run were searched in; none when there were several.
CREATE FUNCTION evaluation_ran_through(run uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN count(DISTINCT a.generation_id_used) = 1
                THEN (array_agg(a.generation_id_used)
                      FILTER (WHERE a.generation_id_used IS NOT NULL))[1] END
    FROM evaluation_evalresult e JOIN answers_answer a ON a.id = e.answer_id_given
    WHERE e.run_id = run
$$;

-- The latest finished run of all active cases through the candidate.
CREATE FUNCTION evaluation_full_run(owner uuid, candidate uuid, since timestamptz)
RETURNS TABLE (id uuid, started_at timestamptz, measures jsonb) LANGUAGE sql STABLE AS $$
    SELECT r.id, r.started_at, r.measures
    FROM evaluation_evalrun r
    WHERE r.tenant_id = owner AND r.finished_at IS NOT NULL AND r.started_at >= since
      AND NOT EXISTS (
          SELECT FROM evaluation_evalcase c
          WHERE c.tenant_id = owner AND c.state = 'active' AND NOT EXISTS (
              SELECT FROM evaluation_evalresult e WHERE e.run_id = r.id AND e.case_id = c.id))
      AND evaluation_ran_through(r.id) = candidate
    ORDER BY r.started_at DESC LIMIT 1
$$;

CREATE FUNCTION evaluation_least_pass_rate(owner uuid) RETURNS double precision
LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT least_pass_rate FROM evaluation_gatepolicy WHERE tenant_id = owner), 0.9)
$$;

-- What stands between a candidate and serving, as (code, how many, of how many). Everything that
-- asks whether a candidate may serve asks here: the gate itself, the administration, the commands.
CREATE FUNCTION evaluation_blockers(owner uuid, candidate uuid)
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
    FROM evaluation_evalresult e, run WHERE e.run_id = run.id
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
    FROM run JOIN evaluation_evalresult e ON e.run_id = run.id
    JOIN serving ON true
    JOIN evaluation_evalresult s ON s.run_id = serving.id AND s.case_id = e.case_id
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

-- The recent, approved override that covers all that stands against a candidate now; none for a
-- leak or for words that no source has.
CREATE FUNCTION evaluation_waiver(owner uuid, candidate uuid) RETURNS uuid
LANGUAGE sql STABLE AS $$
    WITH standing AS (
        SELECT array_agg(code) AS codes FROM evaluation_blockers(owner, candidate)
    )
    SELECT o.id FROM evaluation_gateoverride o
    JOIN documents_indexgeneration g ON g.id = o.generation_id, standing s
    WHERE o.tenant_id = owner AND g.id = candidate
      AND o.approved_at > greatest(now() - interval '7 days', g.retired_at)
      AND s.codes <@ o.waives::text[] AND NOT s.codes && '{violations,quotes}'
    ORDER BY o.approved_at DESC LIMIT 1
$$;
"""

GATE = """
CREATE FUNCTION evaluation_gate() RETURNS trigger LANGUAGE plpgsql AS $$
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
        (tenant_id, generation_id, passed_at, passed_by, run_id, override_id)
        VALUES (NEW.tenant_id, NEW.id, clock_timestamp(), way, green, waiver);
    RETURN NEW;
END $$;
-- Runs before `note_serving`, which forgets when it was taken back.
CREATE TRIGGER gate_insert BEFORE INSERT ON documents_indexgeneration
    FOR EACH ROW WHEN (NEW.status = 'serving') EXECUTE FUNCTION evaluation_gate();
CREATE TRIGGER gate_update BEFORE UPDATE OF status ON documents_indexgeneration
    FOR EACH ROW WHEN (NEW.status = 'serving' AND OLD.status <> 'serving')
    EXECUTE FUNCTION evaluation_gate();
"""

TWO_PEOPLE = """
-- One person writes an override and another approves it, once: neither alone, not in one statement.
CREATE FUNCTION evaluation_override_moved() RETURNS trigger LANGUAGE plpgsql AS $$
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
       OR (OLD.id, OLD.tenant_id, OLD.generation_id, OLD.waives, OLD.reason, OLD.asked_by_id,
           OLD.asked_at)
          IS DISTINCT FROM
          (NEW.id, NEW.tenant_id, NEW.generation_id, NEW.waives, NEW.reason, NEW.asked_by_id,
           NEW.asked_at) THEN
        RAISE EXCEPTION 'An override is written once and approved once.'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    NEW.approved_at := CASE WHEN NEW.approved_by_id IS NOT NULL THEN clock_timestamp() END;
    RETURN NEW;
END $$;
CREATE TRIGGER two_people BEFORE INSERT OR UPDATE OR DELETE ON evaluation_gateoverride
    FOR EACH ROW EXECUTE FUNCTION evaluation_override_moved();

CREATE TRIGGER immutable BEFORE UPDATE OR DELETE ON evaluation_gatepass
    FOR EACH ROW EXECUTE FUNCTION precept_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0011_serving"),
        ("evaluation", "0002_rules"),
        ("tenants", "0004_retention"),
        ("answers", "0009_admissible_context"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="evalcase",
            name="changed_at",
            field=models.DateTimeField(
                default=django.utils.timezone.now,
                editable=False,
                help_text="Whatever in it; written by the database alone.",
            ),
        ),
        migrations.CreateModel(
            name="GateOverride",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "waives",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        help_text="Codes of what it waives.",
                        size=None,
                    ),
                ),
                ("reason", models.TextField()),
                ("asked_at", models.DateTimeField(auto_now_add=True)),
                ("approved_at", models.DateTimeField(null=True)),
                (
                    "approved_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "asked_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "generation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="documents.indexgeneration",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        default=tenants.scope.tenant_of_new_row,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "ordering": ["-asked_at"],
            },
        ),
        migrations.CreateModel(
            name="GatePass",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("passed_at", models.DateTimeField(auto_now_add=True)),
                (
                    "passed_by",
                    models.CharField(
                        choices=[
                            ("first", "Nothing served before"),
                            ("return", "It served before"),
                            ("run", "A green run"),
                            ("override", "An override by two people"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "generation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="passes",
                        to="documents.indexgeneration",
                    ),
                ),
                (
                    "override",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evaluation.gateoverride",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evaluation.evalrun",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        default=tenants.scope.tenant_of_new_row,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "ordering": ["-passed_at"],
            },
        ),
        migrations.CreateModel(
            name="GatePolicy",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("least_pass_rate", models.FloatField()),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "tenant",
                    models.ForeignKey(
                        default=tenants.scope.tenant_of_new_row,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="gateoverride",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("approved_at", None), ("approved_by", None)),
                    models.Q(
                        ("approved_at__isnull", False),
                        ("approved_by__isnull", False),
                        models.Q(("approved_by", models.F("asked_by")), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="override_by_two_people",
            ),
        ),
        migrations.AddConstraint(
            model_name="gateoverride",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.GreaterThanOrEqual(
                    django.db.models.functions.text.Length(
                        django.db.models.functions.text.Trim("reason")
                    ),
                    20,
                ),
                name="override_has_a_reason",
            ),
        ),
        migrations.AddConstraint(
            model_name="gatepolicy",
            constraint=models.UniqueConstraint(fields=("tenant",), name="one_gate_policy"),
        ),
        migrations.AddConstraint(
            model_name="gatepolicy",
            constraint=models.CheckConstraint(
                condition=models.Q(("least_pass_rate__gte", 0.5), ("least_pass_rate__lte", 1)),
                name="pass_rate_in_range",
            ),
        ),
        IsolateTenant("gatepolicy", "gateoverride", "gatepass"),
        migrations.RunSQL(CASES, migrations.RunSQL.noop),
        migrations.RunSQL(BLOCKERS, migrations.RunSQL.noop),
        migrations.RunSQL(GATE, migrations.RunSQL.noop),
        migrations.RunSQL(TWO_PEOPLE, migrations.RunSQL.noop),
    ]
