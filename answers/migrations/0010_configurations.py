"""Which generator, prompt and reranker serve a tenant, kept as the serving generation is."""

import uuid

import django.db.models.deletion
from django.db import migrations, models

import tenants.scope
from tenants.rls import IsolateTenant

SERVING = """
CREATE TRIGGER note_serving BEFORE INSERT OR UPDATE OR DELETE ON answers_answerconfiguration
    FOR EACH ROW EXECUTE FUNCTION precept_note_serving();
CREATE TRIGGER immutable BEFORE UPDATE ON answers_answerconfiguration FOR EACH ROW
    WHEN ((OLD.tenant_id, OLD.generator, OLD.version, OLD.reranker)
          IS DISTINCT FROM (NEW.tenant_id, NEW.generator, NEW.version, NEW.reranker))
    EXECUTE FUNCTION precept_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("answers", "0009_admissible_context"),
        ("documents", "0011_serving"),
        ("tenants", "0005_roleassignment_source"),
    ]

    operations = [
        migrations.AddField(
            model_name="answer",
            name="configuration_id_used",
            field=models.UUIDField(null=True),
        ),
        migrations.CreateModel(
            name="AnswerConfiguration",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=250)),
                (
                    "generator",
                    models.CharField(help_text="As PRECEPT_GENERATOR names it.", max_length=80),
                ),
                (
                    "version",
                    models.CharField(
                        help_text="Of its prompt and of the rules around it, in this release.",
                        max_length=80,
                    ),
                ),
                ("reranker", models.CharField(max_length=80)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("candidate", "Candidate"),
                            ("serving", "Serving"),
                            ("retired", "Retired"),
                        ],
                        default="candidate",
                        max_length=16,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("validated_at", models.DateTimeField(null=True)),
                ("retired_at", models.DateTimeField(null=True)),
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
                    "took_over_from",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="answers.answerconfiguration",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "generator", "version", "reranker"),
                        name="configuration_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("status", "serving")),
                        fields=("tenant",),
                        name="one_serving_configuration",
                    ),
                ],
            },
        ),
        IsolateTenant("answerconfiguration"),
        migrations.RunSQL(SERVING, migrations.RunSQL.noop),
    ]
