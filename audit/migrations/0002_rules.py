"""Append-only and hash-chained by the database itself, whoever writes."""

from django.db import migrations

from tenants.rls import IsolateTenant, revoke_from_everyone

CHAIN = """
CREATE FUNCTION audit_canonical(r audit_auditrecord) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_array(
        r.tenant_id, r.seq, extract(epoch FROM r.at)::numeric(20, 6), r.actor, r.action,
        r.object_ids, r.facts, r.previous_hash
    )::text
$$;

CREATE FUNCTION audit_append() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE last record;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('audit:' || NEW.tenant_id::text, 0));
    SELECT seq, hash INTO last FROM audit_auditrecord
        WHERE tenant_id = NEW.tenant_id ORDER BY seq DESC LIMIT 1;
    NEW.seq := coalesce(last.seq, 0) + 1;
    NEW.at := clock_timestamp();
    NEW.previous_hash := coalesce(last.hash, '');
    NEW.hash := encode(sha256(convert_to(audit_canonical(NEW), 'UTF8')), 'hex');
    RETURN NEW;
END $$;
CREATE TRIGGER audit_append BEFORE INSERT ON audit_auditrecord
    FOR EACH ROW EXECUTE FUNCTION audit_append();

CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The audit record is append-only: % refused.', TG_OP
        USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit_auditrecord
    FOR EACH ROW EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit_auditrecord
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]
    operations = [
        IsolateTenant("auditrecord"),
        migrations.RunSQL(CHAIN, migrations.RunSQL.noop),
        revoke_from_everyone("UPDATE, DELETE, TRUNCATE", "audit_auditrecord"),
    ]
