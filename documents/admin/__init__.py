"""Administration of documents. It shows metadata only: managing is no right to read."""

from .document import DocumentAdmin
from .uploads import DocumentVersionAdmin

__all__ = ["DocumentAdmin", "DocumentVersionAdmin"]
