"""A candidate is tried on people only past the gate; one that was taken back finds it closed."""

from django.db import migrations

CANARY = """
-- A run, or an override, from before a canary was taken back says nothing any more.
CREATE OR REPLACE VIEW evaluation_candidates WITH (security_invoker = true) AS
    SELECT c.id, c.tenant_id, c.status, c.validated_at,
           greatest(c.retired_at, (
               SELECT max(y.ended_at) FROM answers_canary y
               WHERE y.tenant_id = c.tenant_id AND c.id IN (y.generation_id, y.configuration_id)
                 AND y.ending IN ('violation', 'worse'))) AS retired_at,
           c.kind
    FROM (
        SELECT id, tenant_id, status, validated_at, retired_at,
               'documents_indexgeneration'::regclass AS kind
        FROM documents_indexgeneration
        UNION ALL
        SELECT id, tenant_id, status, validated_at, retired_at,
               'answers_answerconfiguration'::regclass
        FROM answers_answerconfiguration
    ) c;

ALTER FUNCTION evaluation_blockers(uuid, uuid) RENAME TO evaluation_case_blockers;
-- What stands between a candidate and serving: what the cases say, and how its last trial ended.
CREATE FUNCTION evaluation_blockers(owner uuid, candidate uuid)
RETURNS TABLE (code text, count bigint, total bigint) LANGUAGE sql STABLE AS $$
    SELECT * FROM evaluation_case_blockers(owner, candidate)
    UNION ALL
    SELECT 'taken_back', 0, 0 FROM (
        SELECT ending FROM answers_canary
        WHERE tenant_id = owner AND candidate IN (generation_id, configuration_id)
          AND ended_at IS NOT NULL
        ORDER BY ended_at DESC LIMIT 1
    ) last WHERE ending IN ('violation', 'worse')
$$;

CREATE FUNCTION evaluation_canary_gate() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    candidate uuid := coalesce(NEW.generation_id, NEW.configuration_id);
    standing text[];
BEGIN
    SELECT coalesce(array_agg(code), '{}') INTO standing
        FROM evaluation_blockers(NEW.tenant_id, candidate);
    IF standing <> '{}' AND evaluation_waiver(NEW.tenant_id, candidate) IS NULL THEN
        RAISE EXCEPTION 'It may not be tried on people yet: %. What to do: manage.py gates.',
            array_to_string(standing, ', ')
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'promotion_gate';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER gate BEFORE INSERT ON answers_canary
    FOR EACH ROW EXECUTE FUNCTION evaluation_canary_gate();
"""


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0007_spot_checks"), ("answers", "0012_canary")]
    operations = [migrations.RunSQL(CANARY, migrations.RunSQL.noop)]
