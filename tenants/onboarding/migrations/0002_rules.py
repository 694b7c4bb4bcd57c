"""Isolation, the look-up made before a tenant is known, and that an invitation stays what it was."""

from django.db import migrations

from tenants.rls import IsolateTenant, let_owner_read

LOOKUP = """
CREATE FUNCTION precept_tenant_of_invitation(wanted text) RETURNS uuid
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
    $$ SELECT tenant_id FROM onboarding_invitation WHERE digest = wanted
        AND accepted_at IS NULL AND withdrawn_at IS NULL AND expires_at > now() $$;
"""

STAYS = """
-- Who is invited to what, and by whom, does not change; and what was used up stays used up.
CREATE FUNCTION onboarding_invitation_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'An invitation stays what it was; withdraw it and make another.'
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER invitation_stays BEFORE UPDATE ON onboarding_invitation
    FOR EACH ROW WHEN (
        (OLD.tenant_id, OLD.email, OLD.role, OLD.department_id, OLD.invited_by_id)
            IS DISTINCT FROM (NEW.tenant_id, NEW.email, NEW.role, NEW.department_id, NEW.invited_by_id)
        OR OLD.accepted_at IS NOT NULL OR OLD.withdrawn_at IS NOT NULL)
    EXECUTE FUNCTION onboarding_invitation_stays();
"""


class Migration(migrations.Migration):
    dependencies = [("onboarding", "0001_initial"), ("tenants", "0002_rules")]
    operations = [
        IsolateTenant("invitation"),
        let_owner_read("onboarding_invitation"),
        migrations.RunSQL(LOOKUP, migrations.RunSQL.noop),
        migrations.RunSQL(STAYS, migrations.RunSQL.noop),
    ]
