"""Purging what was deleted, and nothing else; what the queue has, and what it should have first."""

from django.db import migrations, models

RETENTION = """
-- Content of a document is purged once, when it was deleted for as long as its tenant's rule says.
-- Whoever connects is held by this; and what was purged never comes back.
CREATE FUNCTION documents_past_retention(document documents_document) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT coalesce(document.deleted_at <= now() - make_interval(days => t.keep_deleted_days), false)
    FROM tenants_tenant t WHERE t.id = document.tenant_id
$$;

CREATE FUNCTION documents_purge_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.purged_at IS NOT NULL
       AND (OLD.purged_at, OLD.deleted_at) IS DISTINCT FROM (NEW.purged_at, NEW.deleted_at) THEN
        RAISE EXCEPTION 'The content of document % was purged; it does not come back.', OLD.id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF OLD.purged_at IS NULL AND NEW.purged_at IS NOT NULL
       AND documents_past_retention(OLD) IS NOT TRUE THEN
        RAISE EXCEPTION 'Document % is not past its retention, so its content stays.', OLD.id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.files_purged_at IS NOT NULL AND NEW.purged_at IS NULL THEN
        RAISE EXCEPTION 'Of document %, the words are purged before the files.', OLD.id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER purged_once BEFORE UPDATE OF deleted_at, purged_at, files_purged_at
    ON documents_document FOR EACH ROW EXECUTE FUNCTION documents_purge_once();

-- Whatever was still being built for it when it was purged cannot be written any more.
CREATE FUNCTION documents_refuse_purged() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM rows r JOIN documents_document d ON d.id = r.document_id
               WHERE d.purged_at IS NOT NULL) THEN
        RAISE EXCEPTION 'A document whose content was purged has no passages.'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER not_of_purged AFTER INSERT ON documents_chunk
    REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION documents_refuse_purged();
CREATE TRIGGER not_of_purged AFTER INSERT ON documents_chunkembedding
    REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION documents_refuse_purged();
"""

FAILURES = [
    ("encrypted", "Needs a password"),
    ("damaged", "Damaged"),
    ("no_text", "Holds no text"),
    ("too_large", "Too large"),
    ("unsupported", "Of a kind that cannot be read"),
    ("stopped", "Could not be read within its limits"),
    ("gave_up", "Gave up after several attempts"),
    ("invalid", "Failed its validation"),
    ("processor", "A processor was not available"),
    ("deleted", "The document was deleted"),
]


class Migration(migrations.Migration):
    dependencies = [("documents", "0005_inventory"), ("tenants", "0004_retention")]
    operations = [
        migrations.AddField(
            "document", "purged_at", models.DateTimeField(editable=False, null=True)
        ),
        migrations.AddField(
            "document", "files_purged_at", models.DateTimeField(editable=False, null=True)
        ),
        migrations.AddIndex(
            "document",
            models.Index(
                condition=models.Q(deleted_at__isnull=False, files_purged_at=None),
                fields=["tenant", "deleted_at"],
                name="document_to_purge",
            ),
        ),
        migrations.AlterField(
            "documentversion",
            "failure_code",
            models.CharField(blank=True, choices=FAILURES, max_length=16),
        ),
        migrations.AddField(
            "documentversion",
            "priority",
            models.PositiveSmallIntegerField(
                choices=[
                    (0, "A file or new version that somebody waits for"),
                    (10, "One of many"),
                ],
                default=0,
            ),
        ),
        migrations.AddField(
            "documentversion", "queued", models.BooleanField(default=False, editable=False)
        ),
        migrations.AddField(
            "outboxevent",
            "priority",
            models.PositiveSmallIntegerField(default=0, help_text="Lower is handed out first."),
        ),
        migrations.AddIndex(
            "outboxevent",
            models.Index(
                condition=models.Q(dispatched_at=None),
                fields=["tenant", "priority", "created_at"],
                name="outbox_by_priority",
            ),
        ),
        migrations.RunSQL(RETENTION, migrations.RunSQL.noop),
    ]
