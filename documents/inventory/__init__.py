"""The inventory: of every document one oversees, which version holds, and can it be relied on."""

from .facts import InventoryRow, Rival, Totals, Twin, Unfit, VersionFacts
from .listing import inventory_documents, inventory_rows, inventory_totals, older_than

__all__ = [
    "InventoryRow",
    "Rival",
    "Totals",
    "Twin",
    "Unfit",
    "VersionFacts",
    "inventory_documents",
    "inventory_rows",
    "inventory_totals",
    "older_than",
]
