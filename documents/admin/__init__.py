"""Administration of documents. It shows metadata only: managing is no right to read."""

from .document import DocumentAdmin
from .duplicates import DuplicateFindingAdmin
from .generation import IndexGenerationAdmin
from .inventory import InventoryAdmin
from .uploads import DocumentVersionAdmin

__all__ = [
    "DocumentAdmin",
    "DocumentVersionAdmin",
    "DuplicateFindingAdmin",
    "IndexGenerationAdmin",
    "InventoryAdmin",
]
