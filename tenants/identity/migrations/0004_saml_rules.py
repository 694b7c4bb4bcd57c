"""Isolation of used assertions, and that a provider's protocol stays as its issuer does."""

from django.db import migrations

from tenants.rls import IsolateTenant

PROTOCOL = """
-- Subjects of another protocol are other people, even under the same issuer.
CREATE TRIGGER protocol_stays BEFORE UPDATE ON identity_identityprovider
    FOR EACH ROW WHEN (OLD.protocol IS DISTINCT FROM NEW.protocol)
    EXECUTE FUNCTION identity_issuer_stays();
"""


class Migration(migrations.Migration):
    dependencies = [("identity", "0003_saml")]
    operations = [
        IsolateTenant("usedassertion"),
        migrations.RunSQL(PROTOCOL, migrations.RunSQL.noop),
    ]
