"""Usage counters and counted attempts, isolated by tenant; a reason for an exhausted budget."""

import django.db.models.deletion
from django.db import migrations, models

import tenants.scope
from tenants.rls import IsolateTenant

REASONS = [
    ("no_evidence", "No permitted passage answers the question"),
    ("search", "The search was not available"),
    ("model", "The model was not available"),
    ("authority", "The authority was not available"),
    ("sources_changed", "The sources changed while the answer was made"),
    ("budget_exceeded", "The allowance of tokens ran out while it was made"),
    ("disconnected", "The connection was lost"),
    ("internal", "Something went wrong"),
]


def tenant() -> models.ForeignKey:
    return models.ForeignKey(
        default=tenants.scope.tenant_of_new_row,
        editable=False,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to="tenants.tenant",
    )


class Migration(migrations.Migration):
    dependencies = [("answers", "0003_signs_of_life"), ("tenants", "0002_rules")]
    operations = [
        migrations.AlterField(
            "answer", "reason", models.CharField(blank=True, choices=REASONS, max_length=32)
        ),
        migrations.CreateModel(
            "UsageCounter",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("questions", "Questions asked"),
                            ("tokens", "Tokens read and written by models"),
                        ],
                        max_length=16,
                    ),
                ),
                ("subject", models.UUIDField()),
                ("window_start", models.DateTimeField()),
                ("used", models.BigIntegerField()),
                ("tenant", tenant()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "kind", "subject"), name="one_usage_counter"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(used__gte=0), name="used_is_not_negative"
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            "CountedAttempt",
            [
                ("answer_id_counted", models.UUIDField(primary_key=True, serialize=False)),
                ("person", models.UUIDField()),
                ("taken_at", models.DateTimeField()),
                ("tenant", tenant()),
            ],
        ),
        IsolateTenant("usagecounter", "countedattempt"),
    ]
