"""A token names what it may be used for; those issued before may be used for everything."""

import django.contrib.postgres.fields
from django.db import migrations, models

import tenants.models


class Migration(migrations.Migration):
    dependencies = [("tenants", "0002_rules")]
    operations = [
        migrations.AddField(
            "apitoken",
            "uses",
            django.contrib.postgres.fields.ArrayField(
                models.CharField(
                    choices=[
                        ("read", "Read documents"),
                        ("ask", "Ask questions"),
                        ("documents", "Manage documents"),
                    ],
                    max_length=16,
                ),
                default=tenants.models.every_use,
                size=None,
            ),
        ),
        migrations.AddConstraint(
            "apitoken",
            models.CheckConstraint(
                name="token_has_known_uses",
                condition=models.Q(
                    uses__len__gt=0, uses__contained_by=["read", "ask", "documents"]
                ),
            ),
        ),
    ]
