"""Feedback keeps which versions it was about; spot checks are a stream of the queue."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("answers", "0010_configurations"),
        ("tenants", "0007_review_sample"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="feedback",
            name="generation_id_used",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="feedback",
            name="model",
            field=models.CharField(blank=True, default="", max_length=80),
        ),
        migrations.AddField(
            model_name="feedback",
            name="prompt_version",
            field=models.CharField(blank=True, default="", max_length=80),
        ),
        migrations.AddField(
            model_name="feedback",
            name="source_versions",
            field=models.JSONField(
                default=dict, help_text="{document id: number of the version that was cited}"
            ),
        ),
        migrations.AlterField(
            model_name="reviewitem",
            name="kind",
            field=models.CharField(
                choices=[
                    ("blocked_draft", "Blocked draft"),
                    ("feedback", "Feedback"),
                    ("sample", "Spot check"),
                ],
                max_length=20,
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewitem",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "blocked_draft"), _negated=True),
                fields=("answer", "kind"),
                name="one_review_of_a_kind",
            ),
        ),
    ]
