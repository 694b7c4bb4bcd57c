"""Row-level security as migration operations. A leaf: imports no model.

`IsolateTenant("document")` forces row-level security on the model's table, so that a session sees
and writes rows of the tenant in `precept.tenant` only, and ties every reference to another tenant
table to the same tenant with a composite foreign key: a row cannot even point across tenants.
"""

from django.db import migrations
from django.db.migrations.operations.base import Operation

CURRENT_TENANT = "NULLIF(current_setting('precept.tenant', true), '')::uuid"


class IsolateTenant(Operation):
    """Isolate these models of the migration's app. Name tables that refer to each other together."""

    reversible = True
    reduces_to_sql = True

    def __init__(self, *model_names: str, column: str = "tenant_id"):
        self.model_names = model_names
        self.column = column

    def deconstruct(self):
        return (self.__class__.__name__, list(self.model_names), {"column": self.column})

    def state_forwards(self, app_label, state):
        pass

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        metas = [to_state.apps.get_model(app_label, name)._meta for name in self.model_names]
        rule = f"{self.column} = {CURRENT_TENANT}"
        statements = []
        for meta in metas:
            table = meta.db_table
            statements += [
                f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
                f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
                f"CREATE POLICY tenant_isolation ON {table} USING ({rule}) WITH CHECK ({rule})",
            ]
            if self.column == "tenant_id":
                statements.append(
                    f"ALTER TABLE {table} ADD CONSTRAINT {table}_same_tenant"
                    f" UNIQUE (tenant_id, {meta.pk.column})"
                )
        for meta in metas:
            statements += self._composite_keys(meta)
        for statement in statements:
            schema_editor.execute(statement, params=None)

    def _composite_keys(self, meta) -> list[str]:
        keys = []
        for field in meta.local_concrete_fields:
            target = field.remote_field.model._meta if field.remote_field else None
            if target is None or field.name == "tenant":
                continue
            if not any(f.name == "tenant" for f in target.local_concrete_fields):
                continue
            keys.append(
                f"ALTER TABLE {meta.db_table} ADD CONSTRAINT {meta.db_table}_{field.name}_tenant "
                f"FOREIGN KEY (tenant_id, {field.column}) "
                f"REFERENCES {target.db_table} (tenant_id, {target.pk.column}) "
                "DEFERRABLE INITIALLY DEFERRED"
            )
        return keys

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        for name in self.model_names:
            table = from_state.apps.get_model(app_label, name)._meta.db_table
            schema_editor.execute(f"DROP POLICY IF EXISTS tenant_isolation ON {table}", params=None)
            schema_editor.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY", params=None)

    def describe(self):
        return f"Force row-level security on {', '.join(self.model_names)}"


def let_owner_read(table: str) -> migrations.RunSQL:
    """Lets the migrating role read a table, for the narrow SECURITY DEFINER look-ups it owns."""
    return migrations.RunSQL(
        f"CREATE POLICY owner_reads ON {table} FOR SELECT TO CURRENT_USER USING (true)",
        f"DROP POLICY IF EXISTS owner_reads ON {table}",
    )


def revoke_from_everyone(privileges: str, table: str) -> migrations.RunSQL:
    """Takes privileges on a table from every role but its owner, whatever the roles are called."""
    return migrations.RunSQL(
        f"""
        DO $$
        DECLARE other text;
        BEGIN
            FOR other IN
                SELECT DISTINCT grantee FROM information_schema.role_table_grants
                WHERE table_name = '{table}' AND grantee <> current_user
            LOOP
                EXECUTE format('REVOKE {privileges} ON {table} FROM %I', other);
            END LOOP;
        END $$;
        """,
        migrations.RunSQL.noop,
    )
