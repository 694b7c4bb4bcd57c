"""What an admission reads includes what a passage stands under: one read, where there were two."""

from django.db import migrations

READ = """
DROP FUNCTION answers_admissible(uuid, uuid[]);
-- The passages among `chunks` that `reader` may use now. To be called after the locks, in a
-- statement of its own. A function, so that its plan is made once for each connection; one passage
-- after the other, so that the plan stays good whatever the statistics say.
CREATE FUNCTION answers_admissible(reader uuid, chunks uuid[]) RETURNS TABLE (
    chunk_id uuid, document_id uuid, version_id uuid, version_number integer, title varchar,
    reference varchar, text text, sha256 varchar, start integer, "end" integer, page integer,
    section varchar, language varchar, effective_date date, withdrawn_date date,
    life_cycle varchar, document_revision bigint, reader_revision bigint, context text
) LANGUAGE plpgsql STABLE ROWS 10 AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH wanted AS MATERIALIZED (
        SELECT c.* FROM documents_chunk c WHERE c.id = ANY (chunks)
    )
    SELECT c.id, c.document_id, c.version_id, v.number, d.title, d.reference, c.text, c.sha256,
           c.start, c."end", c.page, c.section, c.language, d.effective_date, d.withdrawn_date,
           d.life_cycle, d.access_revision, u.access_revision, c.context
    FROM wanted c
    CROSS JOIN LATERAL (
        SELECT FROM documents_readable(reader) r
        WHERE r.document_id = c.document_id AND r.version_id = c.version_id OFFSET 0
    ) readable
    JOIN documents_documentversion v ON v.id = c.version_id AND v.status = 'searchable'
    JOIN documents_document d ON d.id = c.document_id
    JOIN tenants_user u ON u.id = reader;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("answers", "0008_retention"), ("documents", "0004_sections")]
    operations = [migrations.RunSQL(READ, migrations.RunSQL.noop)]
