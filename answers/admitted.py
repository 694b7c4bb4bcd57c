"""What a model was given for an answer, as a reviewer may see it."""

from dataclasses import dataclass
from uuid import UUID

from documents.access import readable_documents
from documents.models import Chunk
from tenants.models import User

from .models import Answer, PermitStep


@dataclass(frozen=True, slots=True)
class AdmittedPassage:
    """`text` and the rest are None where the reviewer may not read the document as it was."""

    title: str | None
    version: int | None
    page: int | None
    section: str | None
    text: str | None


def admitted_passages(*, reviewer: User, answer: Answer) -> list[AdmittedPassage]:
    """In the order the model had them; of versions that are still in force and readable here."""
    permit = answer.permits.filter(step=PermitStep.GENERATE).last()
    if permit is None or answer.purged_at is not None:
        return []
    order = [UUID(key) for key in permit.chunks]
    chunks = Chunk.objects.select_related("document", "version").in_bulk(order)
    readable = dict(
        readable_documents(user=reviewer)
        .filter(id__in=[chunk.document_id for chunk in chunks.values()])
        .values_list("id", "current_version_id")
    )
    passages = []
    for key in order:
        chunk = chunks.get(key)
        if chunk is None or readable.get(chunk.document_id) != chunk.version_id:
            passages.append(AdmittedPassage(None, None, None, None, None))
        else:
            passages.append(
                AdmittedPassage(
                    chunk.document.title,
                    chunk.version.number,
                    chunk.page,
                    chunk.section,
                    chunk.text,
                )
            )
    return passages
