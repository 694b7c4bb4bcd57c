"""Delete a document: nobody can find or cite it from now on."""

from documents import services
from documents.commands import DocumentCommand


class Command(DocumentCommand):
    help = __doc__

    def run_on(self, document, **options):
        changed = services.delete_document(actor=None, document=document)
        return {"documentId": str(document.id), "deleted": changed}
