"""Take in files, or folders of them, as documents."""

import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from documents import services
from documents.ingestion.extracted import ExtractionFailed, FailureCode
from documents.ingestion.extraction.sniff import sniff
from documents.ingestion.job import ingest_version
from documents.models import Document, DocumentVersion, LifeCycle, Priority, VersionStatus
from documents.selectors import document_with_bytes
from tenants.commands import PreceptCommand
from tenants.selectors import NotFound, subject_by_name
from tenants.services import get_or_create_department

LOOK_EVERY_SECONDS = 0.5
FINAL = {VersionStatus.SEARCHABLE, VersionStatus.FAILED}


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("paths", nargs="+", metavar="PATH")
        parser.add_argument("--title", help="default: the file's name")
        parser.add_argument("--department", default="General")
        parser.add_argument(
            "--grant", action="append", default=[], help="group:NAME or user:E-MAIL"
        )
        parser.add_argument(
            "--life-cycle", default="vetted", choices=[str(value) for value in LifeCycle]
        )
        parser.add_argument("--document", help="id: take the file in as its next version")
        parser.add_argument("--reference", default="")
        parser.add_argument("--effective-date", type=date.fromisoformat)
        parser.add_argument(
            "--inline", action="store_true", help="work here instead of queueing for the worker"
        )

    def run(self, *, paths, inline, **options):
        files = [file for path in paths for file in _files(Path(path))]
        if options["document"] and len(files) > 1:
            raise CommandError("--document takes one file.")
        priority = Priority.BULK if len(files) > 1 else Priority.SINGLE
        submitted = [(file, *self._submit(file, options, priority)) for file in files]
        return [self._finish(*one, inline=inline) for one in submitted]

    def _submit(
        self, file: Path, options, priority: Priority
    ) -> tuple[DocumentVersion | None, str]:
        """(version, early state): a file that cannot be taken at all has no version."""
        try:
            upload = services.Upload(data=file.read_bytes(), name=file.name)
        except OSError as error:
            return None, f"The file cannot be read: {error.strerror}."
        try:
            if options["document"]:
                submission = services.submit_version(
                    actor=None,
                    document=_document(options["document"]),
                    upload=upload,
                    effective_date=options["effective_date"],
                )
                return submission.version, "" if submission.is_new else "duplicate"
            if known := document_with_bytes(upload.data):
                return known, "duplicate"
            _, submission = services.create_document(
                actor=None,
                title=options["title"] or file.stem,
                department=get_or_create_department(name=options["department"]),
                upload=upload,
                reference=options["reference"],
                life_cycle=LifeCycle(options["life_cycle"]),
                effective_date=options["effective_date"],
                subjects=[subject_by_name(name) for name in options["grant"]],
                priority=priority,
            )
            return submission.version, ""
        except ValidationError as error:
            return None, " ".join(error.messages)

    def _finish(self, file: Path, version: DocumentVersion | None, early: str, *, inline: bool):
        if version is None:
            self.say(f"{file.name}: failed. {early}")
            return _result(file, None, "failed", early)
        if early == "duplicate" and version.status in FINAL:
            failed = version.status == VersionStatus.FAILED
            self.say(f"{file.name}: these bytes are here already")
            state = "failed" if failed else "duplicate"
            return _result(file, version, state, version.failure_reason)
        self.say(f"{file.name}: reading")
        version = ingest_version(version_id=version.id) if inline else self._wait(file, version)
        self.say(f"{file.name}: {version.status} {version.failure_reason}".rstrip())
        return _result(file, version, version.status, version.failure_reason)

    def _wait(self, file: Path, version: DocumentVersion) -> DocumentVersion:
        seen = None
        while True:
            version = DocumentVersion.objects.select_related("document").get(pk=version.pk)
            if version.status in FINAL:
                return version
            progress = (version.status, version.progress_done, version.progress_total)
            if progress != seen:
                self.say(f"{file.name}: {progress[0]}, {progress[1]} of {progress[2]} passages")
                seen = progress
            time.sleep(LOOK_EVERY_SECONDS)

    def failed(self, result):
        return any(one["state"] == "failed" for one in result)


def _files(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise CommandError(f"There is no file or folder {path}.")
    if path.is_dir():
        yield from sorted(p for p in path.rglob("*") if _is_readable(p))
    else:
        yield path


def _is_readable(path: Path) -> bool:
    """Whether a file found in a folder is a document, by its content. Hidden ones are left alone."""
    if not path.is_file() or path.name.startswith((".", "~$")):
        return False
    try:
        sniff(path.read_bytes())
    except OSError:
        return True  # named in the result as one that cannot be read
    except ExtractionFailed as failure:
        return failure.code != FailureCode.UNSUPPORTED
    return True


def _document(document_id: str) -> Document:
    try:
        document = Document.objects.filter(pk=UUID(document_id), deleted_at=None).first()
    except ValueError:
        document = None
    if document is None:
        raise NotFound(f"There is no document {document_id} in this tenant.")
    return document


def _result(file: Path, version: DocumentVersion | None, state: str, reason: str):
    return {
        "path": str(file),
        "documentId": version and str(version.document_id),
        "version": version and version.number,
        "state": state,
        "reason": reason or None,
    }
