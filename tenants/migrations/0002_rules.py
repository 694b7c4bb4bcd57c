"""Isolation, eligibility triggers on people, and the narrow look-ups made before a tenant is known."""

from django.db import migrations

from tenants.rls import IsolateTenant, let_owner_read

LOCKS = """
-- One key space for the authority's advisory locks: user:UUID and document:UUID.
CREATE FUNCTION precept_lock_key(kind text, id uuid) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
    $$ SELECT hashtextextended(kind || ':' || id::text, 0) $$;

CREATE FUNCTION precept_lock_exclusive(kind text, id uuid) RETURNS void
    LANGUAGE sql VOLATILE STRICT AS
    $$ SELECT pg_advisory_xact_lock(precept_lock_key(kind, id)) $$;
"""

PEOPLE = """
-- Whoever changes what a person may read waits for that person's admissions, and they for him.
CREATE FUNCTION tenants_membership_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM precept_lock_exclusive('user', OLD.user_id);
        UPDATE tenants_user SET access_revision = access_revision + 1 WHERE id = OLD.user_id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM precept_lock_exclusive('user', NEW.user_id);
        UPDATE tenants_user SET access_revision = access_revision + 1 WHERE id = NEW.user_id;
        RETURN NEW;
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER eligibility BEFORE INSERT OR UPDATE OR DELETE ON tenants_groupmembership
    FOR EACH ROW EXECUTE FUNCTION tenants_membership_changed();

CREATE FUNCTION tenants_user_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM precept_lock_exclusive('user', OLD.id);
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    NEW.access_revision := OLD.access_revision + 1;
    RETURN NEW;
END $$;
CREATE TRIGGER eligibility BEFORE UPDATE OF is_active, tenant_id ON tenants_user
    FOR EACH ROW EXECUTE FUNCTION tenants_user_changed();
CREATE TRIGGER eligibility_delete BEFORE DELETE ON tenants_user
    FOR EACH ROW EXECUTE FUNCTION tenants_user_changed();

-- TRUNCATE passes row triggers, so it is refused.
CREATE FUNCTION precept_refuse_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'TRUNCATE of % is refused: it would change access without the authority.',
        TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tenants_groupmembership
    FOR EACH STATEMENT EXECUTE FUNCTION precept_refuse_truncate();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tenants_user
    FOR EACH STATEMENT EXECUTE FUNCTION precept_refuse_truncate();

-- "everyone" exists in each tenant and holds every account, also one made in SQL.
CREATE FUNCTION tenants_make_everyone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tenants_group (id, tenant_id, name, built_in, external_id, source)
        VALUES (gen_random_uuid(), NEW.id, 'everyone', true, '', 'local');
    RETURN NEW;
END $$;
CREATE TRIGGER make_everyone AFTER INSERT ON tenants_tenant
    FOR EACH ROW EXECUTE FUNCTION tenants_make_everyone();

CREATE FUNCTION tenants_join_everyone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tenants_groupmembership (id, tenant_id, group_id, user_id, source, created_at)
        SELECT gen_random_uuid(), NEW.tenant_id, g.id, NEW.id, 'local', now()
        FROM tenants_group g WHERE g.tenant_id = NEW.tenant_id AND g.built_in;
    RETURN NEW;
END $$;
CREATE TRIGGER join_everyone AFTER INSERT ON tenants_user
    FOR EACH ROW EXECUTE FUNCTION tenants_join_everyone();
"""

LOOKUPS = """
-- Asked before a tenant is known. Each returns the least that is needed, and only for an exact key.
CREATE FUNCTION precept_tenant_of_email(wanted text) RETURNS uuid
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
    $$ SELECT tenant_id FROM tenants_user WHERE lower(email) = lower(wanted) $$;
CREATE FUNCTION precept_tenant_of_user(wanted uuid) RETURNS uuid
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
    $$ SELECT tenant_id FROM tenants_user WHERE id = wanted AND is_active $$;
CREATE FUNCTION precept_tenant_of_token(wanted text) RETURNS uuid
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
    $$ SELECT tenant_id FROM tenants_apitoken WHERE digest = wanted $$;
CREATE FUNCTION precept_tenant_of_slug(wanted text) RETURNS uuid
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
    $$ SELECT id FROM tenants_tenant WHERE slug = wanted $$;
CREATE FUNCTION precept_tenant_ids() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
    $$ SELECT id FROM tenants_tenant $$;
"""

OWNED = ["department", "user", "roleassignment", "group", "groupmembership", "apitoken"]


class Migration(migrations.Migration):
    dependencies = [("tenants", "0001_initial")]
    operations = [
        IsolateTenant("tenant", column="id"),
        IsolateTenant(*OWNED),
        let_owner_read("tenants_tenant"),
        let_owner_read("tenants_user"),
        let_owner_read("tenants_apitoken"),
        migrations.RunSQL(LOCKS, migrations.RunSQL.noop),
        migrations.RunSQL(PEOPLE, migrations.RunSQL.noop),
        migrations.RunSQL(LOOKUPS, migrations.RunSQL.noop),
    ]
