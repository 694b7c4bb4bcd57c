"""What served when is written by the database: rolling back and the promotion gate rely on it."""

import django.db.models.deletion
from django.db import migrations, models

SERVING = """
-- For any table of configurations of which one serves a tenant (columns status, retired_at,
-- took_over_from_id, validated_at). What serves now, or served last, apart from one of them.
CREATE FUNCTION precept_served_last(served regclass, owner uuid, apart uuid) RETURNS uuid
LANGUAGE plpgsql STABLE AS $$
DECLARE found uuid;
BEGIN
    EXECUTE format(
        'SELECT id FROM %s WHERE tenant_id = $1 AND id <> $2'
        ' AND (status = ''serving'' OR retired_at IS NOT NULL)'
        ' ORDER BY status = ''serving'' DESC, retired_at DESC LIMIT 1', served)
        INTO found USING owner, apart;
    RETURN found;
END $$;

-- Whether `candidate` served before `present` took over, directly or further back.
CREATE FUNCTION precept_served_before(served regclass, candidate uuid, present uuid) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE found boolean;
BEGIN
    EXECUTE format(
        'WITH RECURSIVE former AS ('
        ' SELECT took_over_from_id AS id FROM %1$s WHERE id = $2'
        ' UNION SELECT t.took_over_from_id FROM %1$s t JOIN former ON former.id = t.id'
        ') SELECT EXISTS (SELECT FROM former WHERE id = $1)', served)
        INTO found USING candidate, present;
    RETURN found;
END $$;

-- The history of what served is the database's own to write.
CREATE FUNCTION precept_note_serving() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE former uuid;
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.status = 'serving' OR OLD.retired_at IS NOT NULL THEN
            RAISE EXCEPTION '% served and stays on record.', OLD.id
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN OLD;
    END IF;
    IF TG_OP = 'INSERT' THEN
        NEW.retired_at := NULL;
        NEW.took_over_from_id := NULL;
        NEW.validated_at := CASE WHEN NEW.status <> 'building' THEN clock_timestamp() END;
        IF NEW.status = 'serving' THEN
            NEW.took_over_from_id := precept_served_last(TG_RELID, NEW.tenant_id, NEW.id);
        END IF;
        RETURN NEW;
    END IF;
    NEW.validated_at := CASE
        WHEN OLD.status = 'building' AND NEW.status <> 'building' THEN clock_timestamp()
        ELSE OLD.validated_at END;
    NEW.retired_at := OLD.retired_at;
    NEW.took_over_from_id := OLD.took_over_from_id;
    IF OLD.status = 'serving' AND NEW.status <> 'serving' THEN
        NEW.retired_at := clock_timestamp();
    ELSIF OLD.status <> 'serving' AND NEW.status = 'serving' THEN
        former := precept_served_last(TG_RELID, NEW.tenant_id, NEW.id);
        NEW.retired_at := NULL;
        IF NOT precept_served_before(TG_RELID, NEW.id, former) IS TRUE THEN
            NEW.took_over_from_id := former;
        END IF;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER note_serving BEFORE INSERT OR UPDATE OR DELETE ON documents_indexgeneration
    FOR EACH ROW EXECUTE FUNCTION precept_note_serving();

-- What a generation is made of is decided when it is made: another way to rank is another generation.
CREATE TRIGGER immutable BEFORE UPDATE ON documents_indexgeneration FOR EACH ROW
    WHEN ((OLD.tenant_id, OLD.chunking, OLD.tokeniser, OLD.embedder, OLD.dims, OLD.ranking)
          IS DISTINCT FROM
          (NEW.tenant_id, NEW.chunking, NEW.tokeniser, NEW.embedder, NEW.dims, NEW.ranking))
    EXECUTE FUNCTION precept_refuse_change();

ALTER TABLE documents_indexgeneration
    ADD CONSTRAINT documents_indexgeneration_took_over_from_tenant
    FOREIGN KEY (tenant_id, took_over_from_id) REFERENCES documents_indexgeneration (tenant_id, id)
    DEFERRABLE INITIALLY DEFERRED;
"""

# Generations that took over before this was kept: each from the one that was retired last before it.
# In each tenant's own scope, since the migrating role is held by row-level security too.
BEFORE = """
DO $$
DECLARE owner uuid;
BEGIN
    FOR owner IN SELECT precept_tenant_ids() LOOP
        PERFORM set_config('precept.tenant', owner::text, true);
        UPDATE documents_indexgeneration SET validated_at = created_at WHERE status <> 'building';
        UPDATE documents_indexgeneration g SET took_over_from_id = (
            SELECT f.id FROM documents_indexgeneration f
            WHERE f.tenant_id = owner AND f.id <> g.id AND f.retired_at IS NOT NULL
              AND (g.status = 'serving' OR f.retired_at < g.retired_at)
            ORDER BY f.retired_at DESC LIMIT 1)
        WHERE g.tenant_id = owner AND (g.status = 'serving' OR g.retired_at IS NOT NULL);
    END LOOP;
    PERFORM set_config('precept.tenant', '', true);
END $$;
SET CONSTRAINTS ALL IMMEDIATE;
"""


class Migration(migrations.Migration):
    dependencies = [("documents", "0010_repairs")]
    operations = [
        migrations.AddField("indexgeneration", "validated_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "indexgeneration",
            "took_over_from",
            models.ForeignKey(
                help_text="What served when it began to serve.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="documents.indexgeneration",
            ),
        ),
        migrations.RunSQL(BEFORE, migrations.RunSQL.noop),
        migrations.RunSQL(SERVING, migrations.RunSQL.noop),
    ]
