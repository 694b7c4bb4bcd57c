"""A case remembers whose words it was filled in with; an item opened again is judged again."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("answers", "0012_canary"),
        ("evaluation", "0012_names"),
    ]

    operations = [
        migrations.AddField(
            model_name="evalcase",
            name="source_documents",
            field=models.JSONField(
                default=list, help_text="Ids of documents whose words it was filled in with."
            ),
        ),
        migrations.AlterField(
            model_name="spotcheck",
            name="item",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="spot_checks",
                to="answers.reviewitem",
            ),
        ),
    ]
