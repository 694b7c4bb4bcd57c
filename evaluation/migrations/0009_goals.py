"""Baselines and targets of the pilot's measures."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import tenants.scope
from tenants.rls import IsolateTenant


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0008_canary"),
        ("tenants", "0007_review_sample"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Goal",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "measure",
                    models.CharField(
                        choices=[
                            ("answer_seconds", "Seconds to the answer (median)"),
                            ("pass_rate", "Evaluation cases passed"),
                            ("valid_citations", "Valid citations"),
                            ("repeated", "Repeated questions"),
                            ("adoption", "Adoption"),
                            ("helpful", "Helpful answers"),
                            ("abstention", "Abstentions"),
                            ("abstention_right", "Justified abstentions"),
                            ("violations", "Permission violations"),
                        ],
                        max_length=24,
                    ),
                ),
                ("baseline", models.FloatField(blank=True, null=True)),
                (
                    "is_measured",
                    models.BooleanField(
                        default=False, help_text="The baseline was measured here, and not entered."
                    ),
                ),
                ("target", models.FloatField(blank=True, null=True)),
                ("note", models.CharField(blank=True, max_length=300)),
                ("set_at", models.DateTimeField(auto_now=True)),
                (
                    "set_by",
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
                "ordering": ["measure"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "measure"), name="one_goal_per_measure"
                    )
                ],
            },
        ),
        IsolateTenant("goal"),
    ]
