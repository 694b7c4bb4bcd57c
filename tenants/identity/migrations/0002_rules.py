"""Isolation, the look-ups made before a tenant is known, and that an issuer stays what it was."""

from django.db import migrations

from tenants.rls import IsolateTenant, let_owner_read

LOOKUPS = """
CREATE FUNCTION precept_tenant_of_provider(wanted uuid) RETURNS uuid
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
    $$ SELECT tenant_id FROM identity_identityprovider WHERE id = wanted AND state = 'on' $$;
CREATE FUNCTION precept_provider_of_domain(wanted text) RETURNS uuid
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
    $$ SELECT p.id FROM identity_emaildomain d JOIN identity_identityprovider p
        ON p.id = d.provider_id AND p.tenant_id = d.tenant_id
        WHERE d.domain = lower(wanted) AND d.proven_at IS NOT NULL AND p.state = 'on' $$;
"""

ISSUER = """
-- Accounts are found by issuer and subject: another issuer's subjects are other people.
CREATE FUNCTION identity_issuer_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM identity_externalidentity WHERE provider_id = OLD.id) THEN
        RAISE EXCEPTION 'People sign in through this provider; its issuer stays as it is.'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER issuer_stays BEFORE UPDATE ON identity_identityprovider
    FOR EACH ROW WHEN (OLD.issuer IS DISTINCT FROM NEW.issuer)
    EXECUTE FUNCTION identity_issuer_stays();

-- A subject never becomes somebody else's.
CREATE FUNCTION identity_subject_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'Whose account a subject is does not change; remove the link and make another.'
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER subject_stays BEFORE UPDATE ON identity_externalidentity
    FOR EACH ROW WHEN ((OLD.provider_id, OLD.subject, OLD.user_id, OLD.tenant_id)
        IS DISTINCT FROM (NEW.provider_id, NEW.subject, NEW.user_id, NEW.tenant_id))
    EXECUTE FUNCTION identity_subject_stays();
"""

OWNED = [
    "identityprovider",
    "externalidentity",
    "linkpermission",
    "emaildomain",
    "grouprule",
    "signinpolicy",
]


class Migration(migrations.Migration):
    dependencies = [("identity", "0001_initial")]
    operations = [
        IsolateTenant(*OWNED),
        let_owner_read("identity_identityprovider"),
        let_owner_read("identity_emaildomain"),
        migrations.RunSQL(LOOKUPS, migrations.RunSQL.noop),
        migrations.RunSQL(ISSUER, migrations.RunSQL.noop),
    ]
