"""Who gets what, and weekly reports that stay as they were."""

import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import tenants.scope
from tenants.rls import IsolateTenant

KEPT = """
-- A report's numbers are written once, and it is signed once.
CREATE FUNCTION evaluation_report_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR OLD.signed_by_id IS NOT NULL AND
        (OLD.signed_by_id, OLD.signed_at, OLD.comment)
            IS DISTINCT FROM (NEW.signed_by_id, NEW.signed_at, NEW.comment)
        OR (OLD.monday, OLD.numbers, OLD.digest, OLD.made_at, OLD.tenant_id)
            IS DISTINCT FROM (NEW.monday, NEW.numbers, NEW.digest, NEW.made_at, NEW.tenant_id)
    THEN
        RAISE EXCEPTION 'A report stays as it was made and signed.'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER stays BEFORE UPDATE OR DELETE ON evaluation_weeklyreport
    FOR EACH ROW EXECUTE FUNCTION evaluation_report_stays();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0009_goals"),
        ("tenants", "0007_review_sample"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PersonaDiff",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("title", models.CharField(max_length=120)),
                (
                    "questions",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), size=None
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Waiting"),
                            ("running", "Running"),
                            ("finished", "Finished"),
                            ("cancelled", "Cancelled"),
                            ("stopped", "Stopped: its budget was spent"),
                        ],
                        default="queued",
                        max_length=12,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("alive_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "requested_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        default=tenants.scope.tenant_of_new_row,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="PersonaDiffPerson",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "diff",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="columns",
                        to="evaluation.personadiff",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        default=tenants.scope.tenant_of_new_row,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="personadiff",
            name="people",
            field=models.ManyToManyField(
                related_name="+",
                through="evaluation.PersonaDiffPerson",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.CreateModel(
            name="WeeklyReport",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("monday", models.DateField(verbose_name="week of")),
                ("numbers", models.JSONField()),
                ("digest", models.CharField(help_text="SHA-256 of the PDF.", max_length=64)),
                ("made_at", models.DateTimeField(auto_now_add=True)),
                ("sent_at", models.DateTimeField(null=True)),
                ("signed_at", models.DateTimeField(null=True)),
                ("comment", models.TextField(blank=True, max_length=2000)),
                (
                    "signed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        default=tenants.scope.tenant_of_new_row,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "ordering": ["-monday"],
            },
        ),
        migrations.CreateModel(
            name="PersonaAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("question", models.PositiveSmallIntegerField(help_text="From 0.")),
                ("answer_id_given", models.UUIDField()),
                (
                    "tenant",
                    models.ForeignKey(
                        default=tenants.scope.tenant_of_new_row,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "diff",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answers",
                        to="evaluation.personadiff",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("diff", "question", "user"), name="cell_once_in_diff"
                    )
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="personadiffperson",
            constraint=models.UniqueConstraint(fields=("diff", "user"), name="person_once_in_diff"),
        ),
        migrations.AddConstraint(
            model_name="weeklyreport",
            constraint=models.UniqueConstraint(
                fields=("tenant", "monday"), name="one_report_a_week"
            ),
        ),
        migrations.AddConstraint(
            model_name="weeklyreport",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("comment", ""), ("signed_at", None), ("signed_by", None)),
                    models.Q(
                        ("signed_at__isnull", False),
                        ("signed_by__isnull", False),
                        models.Q(("comment", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="signed_by_somebody_with_a_comment",
            ),
        ),
        IsolateTenant("personadiff", "personadiffperson", "personaanswer", "weeklyreport"),
        migrations.RunSQL(KEPT, migrations.RunSQL.noop),
    ]
