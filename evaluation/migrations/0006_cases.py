"""Cases have a history, a life the database keeps, and ask for review when what they rest on changes."""

import django.contrib.postgres.indexes
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import tenants.scope
from tenants.rls import IsolateTenant

LIFE = """
-- Written once; its words go with a purge.
CREATE TRIGGER immutable BEFORE UPDATE ON evaluation_evalcaseversion
    FOR EACH ROW EXECUTE FUNCTION precept_refuse_change();

-- draft → reviewed → active; back to draft from anywhere; to review from anywhere, and out of it
-- only as a draft or, confirmed with the rights of now, active.
CREATE FUNCTION evaluation_case_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.state <> 'needs_review' THEN
        NEW.review_why := '';
        NEW.review_object := NULL;
    END IF;
    IF OLD.state || '>' || NEW.state IN (
        'draft>reviewed', 'reviewed>active', 'needs_review>active',
        'reviewed>draft', 'active>draft', 'needs_review>draft')
        OR NEW.state = 'needs_review' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'A case that is % does not become %.', OLD.state, NEW.state
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER moves BEFORE UPDATE OF state ON evaluation_evalcase
    FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state)
    EXECUTE FUNCTION evaluation_case_moves();
"""

WATCH = """
-- Cases that rest on something which changed ask for review. `about`: the person whose cases;
-- `document`: only those that require it; `refusals`: of the others, those that expect a refusal.
CREATE FUNCTION evaluation_ask_review(
    owner uuid, people uuid[], document uuid, refusals boolean, why text, object uuid)
RETURNS void LANGUAGE sql AS $$
    UPDATE evaluation_evalcase
    SET state = 'needs_review', review_why = why, review_object = object
    WHERE tenant_id = owner AND state IN ('active', 'reviewed')
      AND (people IS NULL OR as_user_id = ANY (people))
      AND (document IS NULL OR required_documents ? document::text
           OR (refusals AND expected_outcome <> 'answered'))
$$;

CREATE FUNCTION evaluation_membership_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM evaluation_ask_review(
            OLD.tenant_id, ARRAY[OLD.user_id], NULL, false, 'group_left', OLD.group_id);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM evaluation_ask_review(
            NEW.tenant_id, ARRAY[NEW.user_id], NULL, false, 'group_joined', NEW.group_id);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER cases_ask_review AFTER INSERT OR DELETE OR UPDATE OF user_id, group_id
    ON tenants_groupmembership FOR EACH ROW EXECUTE FUNCTION evaluation_membership_changed();

CREATE FUNCTION evaluation_role_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM evaluation_ask_review(
            OLD.tenant_id, ARRAY[OLD.user_id], NULL, false, 'role_taken', OLD.user_id);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM evaluation_ask_review(
            NEW.tenant_id, ARRAY[NEW.user_id], NULL, false, 'role_given', NEW.user_id);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER cases_ask_review AFTER INSERT OR DELETE OR UPDATE OF user_id, role, department_id
    ON tenants_roleassignment FOR EACH ROW EXECUTE FUNCTION evaluation_role_changed();

CREATE FUNCTION evaluation_person_switched() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM evaluation_ask_review(
        NEW.tenant_id, ARRAY[NEW.id], NULL, false, 'person_switched', NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER cases_ask_review AFTER UPDATE OF is_active ON tenants_user
    FOR EACH ROW WHEN (OLD.is_active IS DISTINCT FROM NEW.is_active)
    EXECUTE FUNCTION evaluation_person_switched();

-- Of those whom a grant lets in: cases that require the document, and those that expect a refusal.
-- What everyone may read says nothing about one person's rights, so it undoes no refusal.
CREATE FUNCTION evaluation_grant_moved(
    owner uuid, document uuid, person uuid, grp uuid, why text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    people uuid[] := ARRAY[person];
    is_everyone boolean := false;
BEGIN
    IF grp IS NOT NULL THEN
        SELECT coalesce(array_agg(user_id), '{}') INTO people
            FROM tenants_groupmembership WHERE tenant_id = owner AND group_id = grp;
        SELECT built_in INTO is_everyone FROM tenants_group WHERE id = grp;
    END IF;
    PERFORM evaluation_ask_review(
        owner, people, document, NOT coalesce(is_everyone, false), why, document);
END $$;

CREATE FUNCTION evaluation_grant_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM evaluation_grant_moved(
            OLD.tenant_id, OLD.document_id, OLD.user_id, OLD.group_id, 'grant_taken');
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM evaluation_grant_moved(
            NEW.tenant_id, NEW.document_id, NEW.user_id, NEW.group_id, 'grant_given');
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER cases_ask_review AFTER INSERT OR DELETE OR UPDATE OF document_id, user_id, group_id
    ON documents_grant FOR EACH ROW EXECUTE FUNCTION evaluation_grant_changed();

-- Another version than the one a case was reviewed with, or none any more.
CREATE FUNCTION evaluation_document_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    former integer;
    present integer;
BEGIN
    IF (OLD.life_cycle, OLD.deleted_at) IS DISTINCT FROM (NEW.life_cycle, NEW.deleted_at) THEN
        PERFORM evaluation_ask_review(
            NEW.tenant_id, NULL, NEW.id, false, 'document_moved', NEW.id);
    END IF;
    IF OLD.current_version_id IS DISTINCT FROM NEW.current_version_id THEN
        SELECT number INTO former FROM documents_documentversion WHERE id = OLD.current_version_id;
        SELECT number INTO present FROM documents_documentversion WHERE id = NEW.current_version_id;
        UPDATE evaluation_evalcase
        SET state = 'needs_review', review_why = 'new_version', review_object = NEW.id
        WHERE tenant_id = NEW.tenant_id AND state IN ('active', 'reviewed')
          AND required_documents ? NEW.id::text
          AND (present IS NULL
               OR present > coalesce((bound_versions ->> NEW.id::text)::integer, 0)
               OR (former IS NOT NULL AND present < former));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER cases_ask_review AFTER UPDATE OF current_version_id, life_cycle, deleted_at
    ON documents_document FOR EACH ROW EXECUTE FUNCTION evaluation_document_changed();
"""

KEYS = """
ALTER TABLE evaluation_evalcase ADD CONSTRAINT evaluation_evalcase_created_by_tenant
    FOREIGN KEY (tenant_id, created_by_id) REFERENCES tenants_user (tenant_id, id)
    DEFERRABLE INITIALLY DEFERRED;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0005_configurations"),
        ("tenants", "0006_token_for_evaluation"),
        ("documents", "0011_serving"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="EvalCaseVersion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("content", models.JSONField()),
                ("made_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["-number"],
            },
        ),
        migrations.AddField(
            model_name="evalcase",
            name="bound_versions",
            field=models.JSONField(
                default=dict, help_text="{document id: number of the version it was reviewed with}"
            ),
        ),
        migrations.AddField(
            model_name="evalcase",
            name="created_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="evalcase",
            name="from_answer",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="evalcase",
            name="required_sections",
            field=models.JSONField(default=list, help_text="Headings, as citations tell them."),
        ),
        migrations.AddField(
            model_name="evalcase",
            name="review_object",
            field=models.UUIDField(help_text="Group, document or person it is about.", null=True),
        ),
        migrations.AddField(
            model_name="evalcase",
            name="review_why",
            field=models.CharField(
                blank=True,
                choices=[
                    ("group_joined", "the person joined a group"),
                    ("group_left", "the person left a group"),
                    ("role_given", "the person was given a role"),
                    ("role_taken", "a role was taken from the person"),
                    ("grant_given", "access to a document was given"),
                    ("grant_taken", "access to a document was taken"),
                    ("person_switched", "the account was activated or deactivated"),
                    ("new_version", "another version of a required document is in force"),
                    ("document_moved", "a required document was moved, withdrawn or deleted"),
                    (
                        "words_purged",
                        "a required document was purged, and the case's words with it",
                    ),
                ],
                default="",
                max_length=24,
            ),
        ),
        migrations.AddField(
            model_name="evalcase",
            name="version",
            field=models.PositiveIntegerField(default=1),
        ),
        migrations.AlterField(
            model_name="evalcase",
            name="expected_outcome",
            field=models.CharField(
                choices=[
                    ("answered", "Answered"),
                    ("abstained", "Not enough evidence"),
                    ("access_denied", "Access missing"),
                ],
                max_length=16,
            ),
        ),
        migrations.AddIndex(
            model_name="evalcase",
            index=django.contrib.postgres.indexes.GinIndex(
                fields=["required_documents"], name="cases_by_document"
            ),
        ),
        migrations.AddField(
            model_name="evalcaseversion",
            name="case",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="versions",
                to="evaluation.evalcase",
            ),
        ),
        migrations.AddField(
            model_name="evalcaseversion",
            name="changed_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="evalcaseversion",
            name="tenant",
            field=models.ForeignKey(
                default=tenants.scope.tenant_of_new_row,
                editable=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="tenants.tenant",
            ),
        ),
        migrations.AddConstraint(
            model_name="evalcaseversion",
            constraint=models.UniqueConstraint(fields=("case", "number"), name="case_version_once"),
        ),
        IsolateTenant("evalcaseversion"),
        migrations.RunSQL(LIFE, migrations.RunSQL.noop),
        migrations.RunSQL(WATCH, migrations.RunSQL.noop),
        migrations.RunSQL(KEYS, migrations.RunSQL.noop),
    ]
