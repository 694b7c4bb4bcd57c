"""Isolation, the eligibility rule, its triggers, and what keeps the index honest."""

from django.db import migrations

from tenants.rls import IsolateTenant, let_owner_read

ELIGIBILITY = """
-- The rule: which documents, in which version, may this person use as evidence now?
-- Every list, search leg, page, file and admission asks here and nowhere else.
CREATE FUNCTION documents_readable(reader uuid) RETURNS TABLE (document_id uuid, version_id uuid)
LANGUAGE sql STABLE AS $$
    SELECT d.id, d.current_version_id
    FROM documents_document d
    JOIN tenants_user u ON u.id = reader AND u.tenant_id = d.tenant_id AND u.is_active
    WHERE d.deleted_at IS NULL
      AND d.life_cycle IN ('vetted', 'archived')
      AND d.current_version_id IS NOT NULL
      AND EXISTS (
          SELECT FROM documents_grant g
          WHERE g.document_id = d.id AND g.tenant_id = d.tenant_id
            AND (g.user_id = reader OR g.group_id IN (
                SELECT m.group_id FROM tenants_groupmembership m
                WHERE m.user_id = reader AND m.tenant_id = d.tenant_id))
      )
$$;

CREATE FUNCTION documents_grant_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM precept_lock_exclusive('document', OLD.document_id);
        UPDATE documents_document SET access_revision = access_revision + 1
            WHERE id = OLD.document_id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM precept_lock_exclusive('document', NEW.document_id);
        UPDATE documents_document SET access_revision = access_revision + 1
            WHERE id = NEW.document_id;
        RETURN NEW;
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER eligibility BEFORE INSERT OR UPDATE OR DELETE ON documents_grant
    FOR EACH ROW EXECUTE FUNCTION documents_grant_changed();

CREATE FUNCTION documents_document_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM precept_lock_exclusive('document', OLD.id);
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    NEW.access_revision := OLD.access_revision + 1;
    RETURN NEW;
END $$;
CREATE TRIGGER eligibility
    BEFORE UPDATE OF deleted_at, life_cycle, current_version_id, tenant_id ON documents_document
    FOR EACH ROW EXECUTE FUNCTION documents_document_changed();
CREATE TRIGGER eligibility_delete BEFORE DELETE ON documents_document
    FOR EACH ROW EXECUTE FUNCTION documents_document_changed();

CREATE TRIGGER no_truncate BEFORE TRUNCATE ON documents_grant
    FOR EACH STATEMENT EXECUTE FUNCTION precept_refuse_truncate();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON documents_document
    FOR EACH STATEMENT EXECUTE FUNCTION precept_refuse_truncate();
"""

IMMUTABLE = """
-- The version in force is a version of the same document.
ALTER TABLE documents_document ADD CONSTRAINT documents_current_version_is_own
    FOREIGN KEY (current_version_id, id) REFERENCES documents_documentversion (id, document_id)
    DEFERRABLE INITIALLY DEFERRED;

CREATE FUNCTION precept_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'A row of % never changes once it is written.', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER immutable
    BEFORE UPDATE OF document_id, number, object_key, sha256, size, tenant_id
    ON documents_documentversion FOR EACH ROW
    WHEN ((OLD.document_id, OLD.number, OLD.object_key, OLD.sha256, OLD.size, OLD.tenant_id)
          IS DISTINCT FROM
          (NEW.document_id, NEW.number, NEW.object_key, NEW.sha256, NEW.size, NEW.tenant_id))
    EXECUTE FUNCTION precept_refuse_change();
CREATE TRIGGER text_immutable BEFORE UPDATE OF text_sha256 ON documents_documentversion
    FOR EACH ROW WHEN (OLD.text_sha256 <> '' AND NEW.text_sha256 <> OLD.text_sha256)
    EXECUTE FUNCTION precept_refuse_change();
CREATE TRIGGER immutable BEFORE UPDATE ON documents_chunk
    FOR EACH ROW EXECUTE FUNCTION precept_refuse_change();
"""

INDEX = """
-- `live` on the embedding row follows the document.
CREATE FUNCTION documents_is_live(document documents_document, version uuid) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT document.deleted_at IS NULL AND document.life_cycle IN ('vetted', 'archived')
       AND document.current_version_id IS NOT DISTINCT FROM version
$$;
CREATE FUNCTION documents_embedding_born() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Locked, so that a change of the document waits until its trigger below can see this row.
    SELECT documents_is_live(d, NEW.version_id) INTO NEW.live
        FROM documents_document d WHERE d.id = NEW.document_id FOR SHARE;
    RETURN NEW;
END $$;
CREATE TRIGGER live_at_birth BEFORE INSERT ON documents_chunkembedding
    FOR EACH ROW EXECUTE FUNCTION documents_embedding_born();
CREATE FUNCTION documents_embeddings_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE documents_chunkembedding e SET live = documents_is_live(NEW, e.version_id)
        WHERE e.document_id = NEW.id AND e.tenant_id = NEW.tenant_id
          AND e.live IS DISTINCT FROM documents_is_live(NEW, e.version_id);
    RETURN NULL;
END $$;
CREATE TRIGGER live_follows AFTER UPDATE OF deleted_at, life_cycle, current_version_id
    ON documents_document FOR EACH ROW EXECUTE FUNCTION documents_embeddings_follow();

-- BM25's statistics follow the term rows. Writers are serialised per generation by the publisher.
CREATE FUNCTION documents_terms_counted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE sign integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    INSERT INTO documents_termstatistics AS s (tenant_id, generation_id, term, document_frequency)
        SELECT tenant_id, generation_id, term, sign * count(*) FROM rows
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (generation_id, term)
        DO UPDATE SET document_frequency = s.document_frequency + EXCLUDED.document_frequency;
    INSERT INTO documents_corpusstatistics AS c
        (tenant_id, generation_id, chunk_count, total_length)
        SELECT tenant_id, generation_id, sign * count(*), sign * sum(length)
        FROM (SELECT DISTINCT tenant_id, generation_id, chunk_id, length FROM rows) chunks
        GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT (generation_id)
        DO UPDATE SET chunk_count = c.chunk_count + EXCLUDED.chunk_count,
                      total_length = c.total_length + EXCLUDED.total_length;
    RETURN NULL;
END $$;
CREATE TRIGGER counted AFTER INSERT ON documents_chunkterm
    REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION documents_terms_counted();
CREATE TRIGGER uncounted AFTER DELETE ON documents_chunkterm
    REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION documents_terms_counted();

-- The application role owns no table, so it asks the owner for a generation's vector index.
CREATE FUNCTION documents_build_vector_index(generation uuid, dims integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    EXECUTE format(
        'CREATE INDEX IF NOT EXISTS %I ON documents_chunkembedding'
        ' USING hnsw ((vector::halfvec(%s)) halfvec_cosine_ops)'
        ' WHERE generation_id = %L AND live',
        'hnsw_' || replace(generation::text, '-', ''), dims, generation);
END $$;
"""

OUTBOX = """
CREATE FUNCTION documents_outbox_announce() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('precept_outbox', '');
    RETURN NULL;
END $$;
CREATE TRIGGER announce AFTER INSERT ON documents_outboxevent
    FOR EACH STATEMENT EXECUTE FUNCTION documents_outbox_announce();

-- For the dispatcher: tenants that have undispatched events or work whose lease ran out.
CREATE FUNCTION documents_tenants_with_work() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT tenant_id FROM documents_outboxevent WHERE dispatched_at IS NULL
    UNION
    SELECT tenant_id FROM documents_documentversion
        WHERE (status IN ('received', 'accepted') AND lease_until < now())
           OR (waits_for_date AND effective_date <= current_date + 1)
$$;
"""

OWNED = [
    "document",
    "documentversion",
    "grant",
    "indexgeneration",
    "chunk",
    "chunkterm",
    "termstatistics",
    "corpusstatistics",
    "chunkembedding",
    "outboxevent",
]


class Migration(migrations.Migration):
    dependencies = [("documents", "0001_initial"), ("tenants", "0002_rules")]
    operations = [
        IsolateTenant(*OWNED),
        let_owner_read("documents_outboxevent"),
        let_owner_read("documents_documentversion"),
        migrations.RunSQL(ELIGIBILITY, migrations.RunSQL.noop),
        migrations.RunSQL(IMMUTABLE, migrations.RunSQL.noop),
        migrations.RunSQL(INDEX, migrations.RunSQL.noop),
        migrations.RunSQL(OUTBOX, migrations.RunSQL.noop),
    ]
