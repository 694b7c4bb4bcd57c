"""Encrypt every stored secret with the first key of PRECEPT_SECRET_STORE_KEYS."""

from tenants.commands import PreceptCommand
from tenants.factors.services import reseal_factors
from tenants.identity.services import reseal_secrets
from tenants.scope import tenant_scope
from tenants.selectors import all_tenant_ids


class Command(PreceptCommand):
    help = __doc__
    needs_tenant = False

    def run(self, **options):
        count = 0
        for tenant_id in all_tenant_ids():
            with tenant_scope(tenant_id):
                count += reseal_secrets() + reseal_factors()
        return {"secrets": count}
