"""Why candidates were counted out of an admission, by kind."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("answers", "0004_usage_limits")]
    operations = [
        migrations.AddField(
            "contextpermit",
            "counted_out",
            models.JSONField(
                default=dict, help_text="{kind: candidates} of those counted out; never which."
            ),
        ),
    ]
