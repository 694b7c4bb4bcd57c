"""Isolation, the look-up of a token, and that a provisioned account stays the same person's."""

from django.db import migrations

from tenants.rls import IsolateTenant, let_owner_read

LOOKUP = """
CREATE FUNCTION precept_tenant_of_scim_token(wanted text) RETURNS uuid
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
    $$ SELECT tenant_id FROM provisioning_scimtoken WHERE digest = wanted $$;
"""

ACCOUNT = """
CREATE FUNCTION provisioning_account_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'Whose account a directory looks after does not change.'
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER account_stays BEFORE UPDATE ON provisioning_provisionedaccount
    FOR EACH ROW WHEN ((OLD.provider_id, OLD.user_id, OLD.tenant_id)
        IS DISTINCT FROM (NEW.provider_id, NEW.user_id, NEW.tenant_id))
    EXECUTE FUNCTION provisioning_account_stays();
"""


class Migration(migrations.Migration):
    dependencies = [("provisioning", "0001_initial"), ("identity", "0002_rules")]
    operations = [
        IsolateTenant(
            "scimtoken", "provisionedaccount", "provisionedgroup", "provisionedmembership"
        ),
        let_owner_read("provisioning_scimtoken"),
        migrations.RunSQL(LOOKUP, migrations.RunSQL.noop),
        migrations.RunSQL(ACCOUNT, migrations.RunSQL.noop),
    ]
