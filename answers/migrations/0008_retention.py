"""The words of an answer may be forgotten when its tenant's rules say so; nothing else of it changes."""

from django.db import migrations, models

from tenants.rls import revoke_from_everyone

REASONS = [
    ("no_evidence", "No permitted passage answers the question"),
    ("search", "The search was not available"),
    ("model", "The model was not available"),
    ("authority", "The authority was not available"),
    ("sources_changed", "The sources changed while the answer was made"),
    ("budget_exceeded", "The allowance of tokens ran out while it was made"),
    ("disconnected", "The connection was lost"),
    ("internal", "Something went wrong"),
    ("no_longer_kept", "Its words are no longer kept"),
]

FORGETTING = """
-- An answer is forgotten when it is older than its tenant keeps answers, or when a processor
-- received for it a document that was deleted longer ago than its tenant keeps those.
CREATE FUNCTION answers_may_be_forgotten(answer answers_answer) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT answer.state = 'finished' AND (
        coalesce(
            answer.created_at <= now() - make_interval(days => t.keep_answers_days), false)
        OR EXISTS (
            SELECT FROM answers_contextpermit p
            CROSS JOIN LATERAL jsonb_object_keys(p.document_versions) AS given (id)
            JOIN documents_document d ON d.id = given.id::uuid AND d.tenant_id = p.tenant_id
            WHERE p.answer_id = answer.id AND documents_past_retention(d)))
    FROM tenants_tenant t WHERE t.id = answer.tenant_id
$$;

CREATE FUNCTION answers_forget_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.purged_at IS DISTINCT FROM OLD.purged_at
       AND (OLD.purged_at IS NOT NULL OR answers_may_be_forgotten(OLD) IS NOT TRUE) THEN
        RAISE EXCEPTION 'Answer % is not past its retention, so its words stay.', OLD.id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.question IS DISTINCT FROM OLD.question
       AND NOT (NEW.question = '' AND NEW.purged_at IS NOT NULL) THEN
        RAISE EXCEPTION 'The question of answer % never changes.', OLD.id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER forgotten_once BEFORE UPDATE OF purged_at, question ON answers_answer
    FOR EACH ROW EXECUTE FUNCTION answers_forget_once();

-- Claims and citations never change, but that the words of a forgotten answer are emptied.
CREATE FUNCTION answers_claim_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF to_jsonb(NEW) = to_jsonb(OLD) || '{"text": ""}' AND EXISTS (
        SELECT FROM answers_answer a WHERE a.id = OLD.answer_id AND a.purged_at IS NOT NULL
    ) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'A row of % never changes once it is written.', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE FUNCTION answers_citation_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF to_jsonb(NEW) = to_jsonb(OLD) || '{"quote": "", "section": ""}' AND EXISTS (
        SELECT FROM answers_claim c JOIN answers_answer a ON a.id = c.answer_id
        WHERE c.id = OLD.claim_id AND a.purged_at IS NOT NULL
    ) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'A row of % never changes once it is written.', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
DROP TRIGGER immutable ON answers_claim;
DROP TRIGGER immutable ON answers_citation;
CREATE TRIGGER immutable BEFORE UPDATE ON answers_claim
    FOR EACH ROW EXECUTE FUNCTION answers_claim_changed();
CREATE TRIGGER immutable BEFORE UPDATE ON answers_citation
    FOR EACH ROW EXECUTE FUNCTION answers_citation_changed();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("answers", "0007_asked_through"),
        ("documents", "0006_retention"),
        ("tenants", "0004_retention"),
    ]
    operations = [
        migrations.AddField(
            "answer",
            "purged_at",
            models.DateTimeField(
                editable=False, help_text="Since then its words are no longer kept.", null=True
            ),
        ),
        migrations.AlterField(
            "answer", "reason", models.CharField(blank=True, choices=REASONS, max_length=32)
        ),
        migrations.AddIndex(
            "answer",
            models.Index(
                condition=models.Q(purged_at=None),
                fields=["tenant", "created_at"],
                name="answers_kept",
            ),
        ),
        migrations.RunSQL(FORGETTING, migrations.RunSQL.noop),
        revoke_from_everyone("DELETE, TRUNCATE", "answers_claim"),
        revoke_from_everyone("DELETE, TRUNCATE", "answers_citation"),
        revoke_from_everyone("DELETE, TRUNCATE", "answers_answer"),
    ]
