"""Judgements of answers: each citation, the cause, and the case made of it."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import tenants.scope
from tenants.rls import IsolateTenant


class Migration(migrations.Migration):
    dependencies = [
        ("answers", "0011_review_streams"),
        ("evaluation", "0006_cases"),
        ("tenants", "0007_review_sample"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SpotCheck",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "outcome_right",
                    models.BooleanField(
                        help_text="Whether answering, or refusing, was right for this person."
                    ),
                ),
                (
                    "cause",
                    models.CharField(
                        choices=[
                            ("none", "Nothing is wrong"),
                            ("retrieval", "Retrieval: the right passage was not found"),
                            ("document_outdated", "The document is outdated"),
                            ("document_missing", "No document says it"),
                            ("wrong_version", "The wrong version was used"),
                            ("generator", "The generator misread its evidence"),
                            ("permission", "Somebody may read too much or too little"),
                            ("wording", "The wording"),
                        ],
                        max_length=24,
                    ),
                ),
                ("note", models.TextField(blank=True, max_length=2000)),
                ("judged_at", models.DateTimeField(auto_now_add=True)),
                (
                    "answer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="spot_checks",
                        to="answers.answer",
                    ),
                ),
                (
                    "case",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="evaluation.evalcase",
                    ),
                ),
                (
                    "item",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="spot_check",
                        to="answers.reviewitem",
                    ),
                ),
                (
                    "judged_by",
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
                "ordering": ["-judged_at"],
            },
        ),
        migrations.CreateModel(
            name="CitationVerdict",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("document_id_cited", models.UUIDField()),
                ("version_cited", models.PositiveIntegerField()),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("supports", "Supports the sentence"),
                            ("partly", "Supports part of it"),
                            ("does_not", "Does not support it"),
                        ],
                        max_length=12,
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
                    "spot_check",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="verdicts",
                        to="evaluation.spotcheck",
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("spot_check", "number"), name="one_verdict_per_citation"
                    )
                ],
            },
        ),
        IsolateTenant("spotcheck", "citationverdict"),
        migrations.RunSQL(
            """
            CREATE TRIGGER immutable BEFORE UPDATE ON evaluation_citationverdict
                FOR EACH ROW EXECUTE FUNCTION precept_refuse_change();
            """,
            migrations.RunSQL.noop,
        ),
    ]
