"""What commands about one document share."""

from uuid import UUID

from django.core.management.base import CommandError

from tenants.commands import EachTenantCommand
from tenants.selectors import NotFound

from .models import Document


class DocumentCommand(EachTenantCommand):
    """A command about the document named by its id."""

    def add_command_arguments(self, parser):
        parser.add_argument("document_id")

    def run(self, *, document_id, **options):
        try:
            key = UUID(document_id)
        except ValueError:
            raise CommandError(f"'{document_id}' is not a document id.") from None
        document = Document.objects.filter(pk=key, deleted_at=None).first()
        if document is None:
            raise NotFound(f"There is no document {key}.")
        try:
            return self.run_on(document, **options)
        except NotFound as error:  # it names something else: no reason to look in other tenants
            raise CommandError(str(error)) from None

    def run_on(self, document: Document, **options) -> object:
        raise NotImplementedError
