"""A token may be for running evaluation cases."""

import django.contrib.postgres.fields
from django.db import migrations, models

import tenants.models

USES = [
    ("read", "Read documents"),
    ("ask", "Ask questions"),
    ("documents", "Manage documents"),
    ("evaluate", "Run evaluation cases"),
]


class Migration(migrations.Migration):
    dependencies = [("tenants", "0005_roleassignment_source")]

    operations = [
        migrations.RemoveConstraint(model_name="apitoken", name="token_has_known_uses"),
        migrations.AlterField(
            model_name="apitoken",
            name="uses",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(choices=USES, max_length=16),
                default=tenants.models.every_use,
                size=None,
            ),
        ),
        migrations.AddConstraint(
            model_name="apitoken",
            constraint=models.CheckConstraint(
                condition=models.Q(uses__contained_by=[use for use, _ in USES], uses__len__gt=0),
                name="token_has_known_uses",
            ),
        ),
    ]
