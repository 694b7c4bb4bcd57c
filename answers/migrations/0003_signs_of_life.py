"""Attempts whose connection went silent are found by the sweep within a minute."""

from django.db import migrations, models

ABANDONED = """
DROP FUNCTION answers_tenants_with_abandoned(timestamptz);
-- For the sweep: tenants with attempts that ran too long, or whose process gives no sign of life.
CREATE FUNCTION answers_tenants_with_abandoned(older_than timestamptz, silent_since timestamptz)
    RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
    $$ SELECT DISTINCT tenant_id FROM answers_answer
       WHERE state = 'running' AND (created_at < older_than OR alive_at < silent_since) $$;
"""


class Migration(migrations.Migration):
    dependencies = [("answers", "0002_rules")]
    operations = [
        migrations.AddField(
            "answer",
            "alive_at",
            models.DateTimeField(
                help_text="Last sign of the connection that runs it; empty where none is kept.",
                null=True,
            ),
        ),
        migrations.AddField(
            "answer",
            "followed_at",
            models.DateTimeField(help_text="Last look of another connection.", null=True),
        ),
        migrations.RunSQL(ABANDONED, migrations.RunSQL.noop),
    ]
