"""Isolation; permits and released words never change."""

from django.db import migrations

from tenants.rls import IsolateTenant, let_owner_read, revoke_from_everyone

PERMITS = """
CREATE TRIGGER immutable BEFORE UPDATE ON answers_contextpermit
    FOR EACH ROW EXECUTE FUNCTION precept_refuse_change();
CREATE TRIGGER immutable BEFORE UPDATE ON answers_claim
    FOR EACH ROW EXECUTE FUNCTION precept_refuse_change();
CREATE TRIGGER immutable BEFORE UPDATE ON answers_citation
    FOR EACH ROW EXECUTE FUNCTION precept_refuse_change();

-- A release permit is consumed once and is otherwise immutable.
CREATE FUNCTION answers_release_consumed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.consumed_at IS NOT NULL OR NEW.consumed_at IS NULL
       OR (OLD.id, OLD.answer_id, OLD.attempt, OLD.digest, OLD.caller, OLD.tenant_id)
          IS DISTINCT FROM
          (NEW.id, NEW.answer_id, NEW.attempt, NEW.digest, NEW.caller, NEW.tenant_id) THEN
        RAISE EXCEPTION 'A release permit is consumed once and never changed.'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER consumed_once BEFORE UPDATE ON answers_releasepermit
    FOR EACH ROW EXECUTE FUNCTION answers_release_consumed();

-- An attempt that ended stays ended.
CREATE FUNCTION answers_end_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'Answer % has ended as %; an ended attempt never changes.', OLD.id, OLD.outcome
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER ends_once BEFORE UPDATE OF state, outcome, digest ON answers_answer
    FOR EACH ROW WHEN (OLD.state = 'finished'
        AND (OLD.state, OLD.outcome, OLD.digest) IS DISTINCT FROM (NEW.state, NEW.outcome, NEW.digest))
    EXECUTE FUNCTION answers_end_once();

"""

ABANDONED = """
-- For the sweep: tenants with attempts that have run for longer than any attempt may.
CREATE FUNCTION answers_tenants_with_abandoned(older_than timestamptz) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
    $$ SELECT DISTINCT tenant_id FROM answers_answer
       WHERE state = 'running' AND created_at < older_than $$;
"""

OWNED = ["answer", "claim", "citation", "contextpermit", "releasepermit", "feedback", "reviewitem"]


class Migration(migrations.Migration):
    dependencies = [("answers", "0001_initial"), ("documents", "0002_rules")]
    operations = [
        IsolateTenant(*OWNED),
        migrations.RunSQL(PERMITS, migrations.RunSQL.noop),
        migrations.RunSQL(ABANDONED, migrations.RunSQL.noop),
        let_owner_read("answers_answer"),
        revoke_from_everyone("DELETE, TRUNCATE", "answers_contextpermit"),
        revoke_from_everyone("DELETE, TRUNCATE", "answers_releasepermit"),
    ]
