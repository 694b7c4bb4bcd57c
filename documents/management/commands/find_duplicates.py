"""Compare the texts of documents that were taken in before they were compared at upload."""

from django.db import transaction

from documents.duplicates.findings import fingerprint, note_text, open_findings
from documents.ingestion.accept import accepted_text
from documents.models import DocumentVersion, TextProfile
from documents.services import lock_documents
from documents.storage import ObjectMissing
from tenants.commands import PreceptCommand


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument(
            "--again", action="store_true", help="also those that have a fingerprint already"
        )

    def run(self, *, again, **options):
        versions = DocumentVersion.objects.exclude(text_key="").filter(document__deleted_at=None)
        if not again:
            versions = versions.exclude(pk__in=TextProfile.objects.values("version"))
        compared, missing = 0, 0
        for version in versions.order_by("created_at").iterator(chunk_size=100):
            try:
                found = fingerprint(accepted_text(version))
            except ObjectMissing as error:
                self.say(str(error))
                missing += 1
                continue
            with transaction.atomic():
                lock_documents([version.document_id])
                note_text(version, found)
            compared += 1
        return {"compared": compared, "missing": missing, "open": open_findings(user=None).count()}

    def failed(self, result):
        return bool(result["missing"])
