"""The inventory: documents by bucket, department, owner and source, and what is to be done of each."""

from collections import Counter
from dataclasses import asdict

from documents.inventory import inventory_documents, inventory_rows, inventory_totals
from tenants.camel_case import camel, rename_keys
from tenants.commands import PreceptCommand


class Command(PreceptCommand):
    help = __doc__

    def run(self, **options):
        documents = inventory_documents(user=None)
        rows = inventory_rows(documents, user=None)
        totals = inventory_totals(documents)
        return {
            "documents": totals.documents,
            "byLifeCycle": dict(Counter(row.life_cycle for row in rows)),
            "byDepartment": dict(Counter(row.department for row in rows)),
            "byOwner": dict(Counter(row.owner for row in rows)),
            "bySource": dict(Counter(row.source for row in rows)),
            "latestVersion": dict(
                Counter(row.newest.status if row.newest else "empty" for row in rows)
            ),
            "totals": rename_keys({**asdict(totals), "unfit_percent": totals.unfit_percent}, camel),
            "rows": [rename_keys({**asdict(row), "fit": row.fit}, camel) for row in rows],
        }
