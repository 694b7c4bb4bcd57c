"""A file that cannot be read is not tried for ever: its failure is remembered by its bytes.

What is remembered are the failed versions themselves. Trying one again ("Try version N again") that
then succeeds ends it, as does whatever happens to another version with the same bytes later.
"""

from audit.services import record_action
from documents.models import DocumentVersion, FailureCode, VersionStatus

# What follows from the bytes. Not what follows from a processor, a disk or a database that was away.
OF_THE_FILE = (
    FailureCode.ENCRYPTED,
    FailureCode.DAMAGED,
    FailureCode.NO_TEXT,
    FailureCode.TOO_LARGE,
    FailureCode.UNSUPPORTED,
    FailureCode.GAVE_UP,
)


def failed_before(version: DocumentVersion) -> bool:
    """Fail a version just received as its bytes failed in this tenant before. False if they did not.

    In the caller's transaction. The reason is that of the former attempt.
    """
    former = (
        DocumentVersion.objects.filter(sha256=version.sha256)
        .exclude(pk=version.pk)
        .exclude(failure_code=FailureCode.DELETED)
        .order_by("-created_at")
        .first()
    )
    if former is None or former.status != VersionStatus.FAILED:
        return False
    if former.failure_code not in OF_THE_FILE:
        return False
    version.status = VersionStatus.FAILED
    version.failure_code = former.failure_code
    version.failure_reason = former.failure_reason
    version.save(update_fields=["status", "failure_code", "failure_reason"])
    record_action(
        action="document.version_failed",
        actor=None,
        object_ids={
            "document": version.document_id,
            "version": version.id,
            "failed_before": former.id,
        },
        facts={"code": version.failure_code, "attempts": 0},
    )
    return True
