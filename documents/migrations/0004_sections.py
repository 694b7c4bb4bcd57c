"""What a passage stands under; and generations that are built in the background, watched and reclaimed."""

import django.db.models.deletion
import pgvector.django.halfvec
from django.db import migrations, models

import tenants.scope
from tenants.rls import IsolateTenant, let_owner_read

GENERATIONS = """
-- The application role owns no index, so it asks the owner to drop that of a reclaimed generation.
CREATE FUNCTION documents_drop_vector_index(generation uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM documents_indexgeneration g
        WHERE g.id = generation AND g.reclaimed_at IS NOT NULL
          AND g.tenant_id = NULLIF(current_setting('precept.tenant', true), '')::uuid
    ) THEN
        RAISE EXCEPTION 'Only a reclaimed generation loses its index.';
    END IF;
    EXECUTE format('DROP INDEX IF EXISTS %I', 'hnsw_' || replace(generation::text, '-', ''));
END $$;

-- For the dispatcher: tenants with a generation whose builder died or was put off.
CREATE FUNCTION documents_tenants_with_generation_work() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT DISTINCT tenant_id FROM documents_indexgeneration
        WHERE status IN ('building', 'validated', 'shadow') AND lease_until < now()
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("documents", "0003_extraction"), ("tenants", "0003_token_uses")]
    operations = [
        migrations.AddField(
            model_name="chunk",
            name="context",
            field=models.TextField(
                blank=True,
                default="",
                help_text="Headings and table heads: searched, never quoted.",
            ),
        ),
        migrations.AddField(
            model_name="indexgeneration",
            name="probe",
            field=pgvector.django.halfvec.HalfVectorField(
                null=True,
                help_text="What the embedder made of a known text: it must make the same again.",
            ),
        ),
        migrations.AddField(
            model_name="indexgeneration",
            name="retired_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="indexgeneration",
            name="reclaimed_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="indexgeneration", name="lease", field=models.UUIDField(null=True)
        ),
        migrations.AddField(
            model_name="indexgeneration",
            name="lease_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="indexgeneration",
            name="attempts",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="indexgeneration",
            name="failure_reason",
            field=models.CharField(blank=True, default="", max_length=500),
        ),
        migrations.AddField(
            model_name="indexgeneration",
            name="progress_done",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="indexgeneration",
            name="progress_total",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="indexgeneration",
            name="passages_embedded",
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="indexgeneration",
            name="seconds_spent",
            field=models.FloatField(default=0),
        ),
        migrations.AlterField(
            model_name="outboxevent",
            name="kind",
            field=models.CharField(
                choices=[
                    ("version_received", "A version waits to be ingested"),
                    ("generation_behind", "A generation lacks searchable versions"),
                ],
                max_length=40,
            ),
        ),
        migrations.CreateModel(
            name="ShadowComparison",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("compared_at", models.DateTimeField(auto_now_add=True)),
                ("overlap", models.FloatField()),
                (
                    "generation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comparisons",
                        to="documents.indexgeneration",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        default=tenants.scope.tenant_of_new_row,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={"abstract": False},
        ),
        IsolateTenant("shadowcomparison"),
        let_owner_read("documents_indexgeneration"),
        migrations.RunSQL(GENERATIONS, migrations.RunSQL.noop),
    ]
