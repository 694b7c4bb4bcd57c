"""Where each chain ends, so that records cut off at its end are missed too."""

from django.db import migrations

from tenants.rls import CURRENT_TENANT, revoke_from_everyone

HEAD = f"""
CREATE TABLE audit_head (
    tenant_id uuid PRIMARY KEY,
    seq bigint NOT NULL,
    hash varchar(64) NOT NULL
);
ALTER TABLE audit_head ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_head FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON audit_head FOR SELECT USING (tenant_id = {CURRENT_TENANT});
CREATE POLICY owner_notes ON audit_head TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE audit_auditrecord NO FORCE ROW LEVEL SECURITY;
INSERT INTO audit_head (tenant_id, seq, hash)
    SELECT DISTINCT ON (tenant_id) tenant_id, seq, hash FROM audit_auditrecord
    ORDER BY tenant_id, seq DESC;
ALTER TABLE audit_auditrecord FORCE ROW LEVEL SECURITY;

CREATE FUNCTION audit_note_head() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO audit_head (tenant_id, seq, hash) VALUES (NEW.tenant_id, NEW.seq, NEW.hash)
        ON CONFLICT (tenant_id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_head AFTER INSERT ON audit_auditrecord
    FOR EACH ROW EXECUTE FUNCTION audit_note_head();
"""  # noqa: S608
UNDO = """
DROP TRIGGER audit_note_head ON audit_auditrecord;
DROP FUNCTION audit_note_head();
DROP TABLE audit_head;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_rules")]
    operations = [
        migrations.RunSQL(HEAD, UNDO),
        revoke_from_everyone("INSERT, UPDATE, DELETE, TRUNCATE", "audit_head"),
    ]
