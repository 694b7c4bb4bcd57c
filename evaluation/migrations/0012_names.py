"""What the administration calls these rows."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0011_as_good_as_serving"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="evalcase",
            options={"ordering": ["key"], "verbose_name": "evaluation case"},
        ),
        migrations.AlterModelOptions(
            name="evalrun",
            options={"ordering": ["-created_at"], "verbose_name": "evaluation run"},
        ),
        migrations.AlterModelOptions(
            name="personadiff",
            options={
                "ordering": ["-created_at"],
                "verbose_name": "comparison of people",
                "verbose_name_plural": "comparisons of people",
            },
        ),
        migrations.AlterModelOptions(
            name="spotcheck",
            options={"ordering": ["-judged_at"], "verbose_name": "judgement"},
        ),
    ]
