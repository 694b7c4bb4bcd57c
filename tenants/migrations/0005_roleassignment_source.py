"""Who gave a role: somebody here, or the identity provider, which alone takes its own away again."""

from django.db import migrations, models

SOURCES = [
    ("local", "Managed here"),
    ("identity_provider", "Synchronised from the identity provider"),
]


class Migration(migrations.Migration):
    dependencies = [("tenants", "0004_retention")]

    operations = [
        migrations.AddField(
            model_name="roleassignment",
            name="source",
            field=models.CharField(choices=SOURCES, default="local", max_length=32),
        ),
    ]
