"""Isolation, also of allauth's table: a factor is seen with its person, and only in that person's tenant."""

from django.db import migrations

from tenants.rls import IsolateTenant

# The person's own row is under row-level security, so the look-up finds people of the tenant only.
FACTORS = """
ALTER TABLE mfa_authenticator ENABLE ROW LEVEL SECURITY;
ALTER TABLE mfa_authenticator FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON mfa_authenticator
    USING (EXISTS (SELECT FROM tenants_user WHERE id = user_id
        AND tenant_id = NULLIF(current_setting('precept.tenant', true), '')::uuid))
    WITH CHECK (EXISTS (SELECT FROM tenants_user WHERE id = user_id
        AND tenant_id = NULLIF(current_setting('precept.tenant', true), '')::uuid));
"""
BACK = """
DROP POLICY tenant_isolation ON mfa_authenticator;
ALTER TABLE mfa_authenticator DISABLE ROW LEVEL SECURITY;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("factors", "0001_initial"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("tenants", "0002_rules"),
    ]
    operations = [IsolateTenant("factorpolicy"), migrations.RunSQL(FACTORS, BACK)]
