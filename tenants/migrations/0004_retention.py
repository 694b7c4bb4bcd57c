"""How long the content of deleted documents and the words of answers are kept."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tenants", "0003_token_uses")]
    operations = [
        migrations.AddField(
            "tenant",
            "keep_deleted_days",
            models.PositiveIntegerField(
                default=30, help_text="Days until the content of a deleted document is purged."
            ),
        ),
        migrations.AddField(
            "tenant",
            "keep_answers_days",
            models.PositiveIntegerField(
                blank=True,
                default=730,
                help_text="Days that questions and the words of answers are kept. Empty: for ever.",
                null=True,
            ),
        ),
    ]
