"""Verify the hash chain of the audit record, of one tenant or of all."""

from audit.selectors import chain_head, verify_chain
from tenants import selectors
from tenants.commands import PreceptCommand
from tenants.scope import tenant_scope


class Command(PreceptCommand):
    help = __doc__

    def _scoped(self, **options):
        slug = options["tenant"]
        ids = [selectors.tenant_of_slug(slug)] if slug else selectors.all_tenant_ids()
        records, breaks, heads = 0, [], {}
        for tenant_id in ids:
            with tenant_scope(tenant_id):
                count, found = verify_chain()
                if head := chain_head():
                    heads[str(tenant_id)] = f"{head[0]}:{head[1]}"
            records += count
            breaks += [
                {"tenantId": str(tenant_id), "seq": one.seq, "reason": one.reason} for one in found
            ]
        return {"intact": not breaks, "records": records, "breaks": breaks, "heads": heads}

    def failed(self, result):
        return not result["intact"]
