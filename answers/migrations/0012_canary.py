"""A share of live questions answered by a candidate, and which of the two answered."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import tenants.scope
from tenants.rls import IsolateTenant

ONCE = """
-- What was tried stays on record: it ends once, and is looked at meanwhile.
CREATE FUNCTION answers_canary_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.started_at := clock_timestamp();
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE' OR OLD.ended_at IS NOT NULL
       OR to_jsonb(OLD) - '{looked_at,ended_at,ended_by_id,ending,found}'::text[]
       <> to_jsonb(NEW) - '{looked_at,ended_at,ended_by_id,ending,found}'::text[] THEN
        RAISE EXCEPTION 'A canary is started once, ends once, and stays on record.'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.ended_at IS NOT NULL THEN
        NEW.ended_at := clock_timestamp();
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER moved BEFORE INSERT OR UPDATE OR DELETE ON answers_canary
    FOR EACH ROW EXECUTE FUNCTION answers_canary_moved();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("answers", "0011_review_streams"),
        ("documents", "0011_serving"),
        ("tenants", "0006_token_for_evaluation"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Canary",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "share",
                    models.PositiveSmallIntegerField(help_text="Of live questions, in percent."),
                ),
                ("started_at", models.DateTimeField(auto_now_add=True)),
                (
                    "looked_at",
                    models.DateTimeField(help_text="When it was last compared.", null=True),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "ending",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("stopped", "Stopped by a person"),
                            (
                                "violation",
                                "Taken back: something was used or quoted that must not be",
                            ),
                            ("worse", "Taken back: it does worse"),
                            ("moved", "Over: the candidate serves now, or was given up"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "found",
                    models.JSONField(default=dict, help_text="The comparison when it ended."),
                ),
            ],
            options={
                "ordering": ["-started_at"],
            },
        ),
        migrations.AddField(
            model_name="answer",
            name="arm",
            field=models.CharField(blank=True, default="", max_length=12),
        ),
        migrations.AddField(
            model_name="answer",
            name="canary_id_asked",
            field=models.UUIDField(help_text="The canary that ran then, if any.", null=True),
        ),
        migrations.AddIndex(
            model_name="answer",
            index=models.Index(
                condition=models.Q(("canary_id_asked__isnull", False)),
                fields=["canary_id_asked", "arm"],
                name="answers_of_canary",
            ),
        ),
        migrations.AddField(
            model_name="canary",
            name="configuration",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="answers.answerconfiguration",
            ),
        ),
        migrations.AddField(
            model_name="canary",
            name="ended_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="canary",
            name="generation",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="documents.indexgeneration",
            ),
        ),
        migrations.AddField(
            model_name="canary",
            name="started_by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="canary",
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
            model_name="canary",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at", None)),
                fields=("tenant",),
                name="one_running_canary",
            ),
        ),
        migrations.AddConstraint(
            model_name="canary",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("configuration", None), ("generation__isnull", False)),
                    models.Q(("configuration__isnull", False), ("generation", None)),
                    _connector="OR",
                ),
                name="canary_of_one_candidate",
            ),
        ),
        migrations.AddConstraint(
            model_name="canary",
            constraint=models.CheckConstraint(
                condition=models.Q(("share__gte", 1), ("share__lte", 50)), name="canary_is_a_share"
            ),
        ),
        migrations.AddConstraint(
            model_name="canary",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at", None), ("ending", "")),
                    models.Q(("ended_at__isnull", False), models.Q(("ending", ""), _negated=True)),
                    _connector="OR",
                ),
                name="canary_that_ended_says_why",
            ),
        ),
        IsolateTenant("canary"),
        migrations.RunSQL(ONCE, migrations.RunSQL.noop),
    ]
