"""What two documents that look alike are to each other: somebody decides, and it is done."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from audit.services import record_action
from tenants.models import User

from .. import services, storage
from ..access import get_manageable_document
from ..models import Document, DuplicateFinding, LifeCycle, Verdict


@transaction.atomic
def decide(
    *,
    actor: User | None,
    finding: DuplicateFinding,
    verdict: Verdict,
    set_aside: Document | None = None,
    reason: str = "",
) -> str:
    """Decide an open finding; returns a sentence that says what was done.

    `set_aside`, one of the two, is the document that is a duplicate, or a new version, of the other:
    it leaves the documents that are used. As a new version, its newest file becomes the next version
    of the other first. Two that are different are not offered again.
    Raises NotFound unless the actor administers both, ValidationError when it cannot be done.
    """
    pair = {finding.document_id: finding.other_id, finding.other_id: finding.document_id}
    if actor is not None:
        for document_id in pair:
            get_manageable_document(user=actor, document_id=document_id)
    services.lock_documents(pair)
    finding.refresh_from_db()
    if finding.state != Verdict.OPEN:
        raise ValidationError("Somebody has decided this meanwhile. Load the page again.")
    if verdict == Verdict.DIFFERENT:
        aside, done = None, "They are kept apart and not offered again."
    elif verdict in (Verdict.DUPLICATE, Verdict.NEW_VERSION):
        if set_aside is None or set_aside.pk not in pair:
            raise ValidationError("Say which of the two documents is set aside.")
        aside = Document.objects.get(pk=set_aside.pk, deleted_at=None)
        kept = Document.objects.get(pk=pair[aside.pk], deleted_at=None)
        done = _set_aside(actor, aside, kept, verdict, reason)
    else:
        raise ValidationError("Choose what the two documents are to each other.")
    DuplicateFinding.objects.filter(pk=finding.pk).update(
        state=verdict,
        set_aside=aside,
        reason=reason[:300],
        decided_by=actor,
        decided_at=timezone.now(),
    )
    record_action(
        action="document.duplicate_decided",
        actor=actor and actor.id,
        object_ids={"document": finding.document_id, "other": finding.other_id},
        facts={"verdict": verdict, "set_aside": aside and aside.pk, "reason": reason},
    )
    return done


def _set_aside(
    actor: User | None, aside: Document, kept: Document, verdict: Verdict, reason: str
) -> str:
    done = f"“{aside}” is set aside as a duplicate of “{kept}”."
    if verdict == Verdict.NEW_VERSION:
        newest = aside.versions.filter(withdrawn_at=None).order_by("-number").first()
        if newest is None:
            raise ValidationError(f"“{aside}” has no file that could become a new version.")
        submission = services.submit_version(
            actor=actor,
            document=kept,
            upload=services.Upload(data=storage.get(newest.object_key), name=newest.file_name),
            effective_date=newest.effective_date,
        )
        if not submission.is_new:
            raise ValidationError(
                f"“{kept}” has this very file as its newest version: choose that “{aside}” is a "
                "duplicate."
            )
        number = submission.version.number
        done = f"The file is now version {number} of “{kept}”, and “{aside}” is set aside."
    services.set_life_cycle(
        actor=actor,
        document=aside,
        life_cycle=LifeCycle.DUPLICATE,
        reason=reason or f"Decided: {Verdict(verdict).label.lower()}",
    )
    return done
