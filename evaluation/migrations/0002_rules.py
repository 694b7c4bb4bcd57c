"""Isolation."""

from django.db import migrations

from tenants.rls import IsolateTenant


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0001_initial"), ("answers", "0002_rules")]
    operations = [IsolateTenant("evalcase", "evalrun", "evalresult")]
