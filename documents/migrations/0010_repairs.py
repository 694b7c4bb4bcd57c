"""What was mended in a version's text, or left out of it, is shown with the version."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("documents", "0006_retention")]
    operations = [
        migrations.AddField(
            "documentversion",
            "repairs",
            models.JSONField(
                default=list, help_text="What was mended in its text or left out of it, by code."
            ),
        ),
        migrations.AlterField(
            "documentversion",
            "structure_key",
            models.CharField(
                blank=True, help_text="Its blocks; empty: none are known.", max_length=200
            ),
        ),
    ]
