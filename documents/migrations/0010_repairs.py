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
    ]
