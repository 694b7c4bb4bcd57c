"""What can be done to many documents at once. Each document is its own transaction."""

from functools import partial

from tenants.admin_bulk import bulk_action
from tenants.models import Group

from .. import services
from ..effective_access import foresee_access
from ..models import LifeCycle, VersionStatus
from .forms import (
    ArchiveForm,
    LeavingForm,
    LifeCycleForm,
    OwnerForm,
    ReasonForm,
    SubjectForm,
    granted_subjects,
)


def _bound(request):
    return request.POST if "confirmed" in request.POST else None


def _grantees(request, documents) -> SubjectForm:
    return SubjectForm(_bound(request), subjects=granted_subjects(documents))


def _groups(request, documents) -> SubjectForm:
    return SubjectForm(_bound(request), subjects=list(Group.objects.all()))


def _move_to(life_cycle: LifeCycle | None = None):
    """Without one, to the one that the form says."""

    def move(request, document, given) -> bool:
        return services.set_life_cycle(
            actor=request.user,
            document=document,
            life_cycle=life_cycle or given["life_cycle"],
            withdrawn_date=given.get("withdrawn_on"),
            reason=given["reason"],
        )

    return move


def _set_owner(request, document, given) -> bool:
    if document.owner_id == (given["owner"] and given["owner"].pk):
        return False
    services.update_document(actor=request.user, document=document, owner=given["owner"])
    return True


def _retry_newest(request, document, given) -> bool:
    newest = document.versions.filter(withdrawn_at=None).order_by("-number").first()
    if newest is None or newest.status != VersionStatus.FAILED:
        return False
    services.retry_version(actor=request.user, version=newest)
    return True


# Each of these can change who reads what, so each says to whom before it does it. To know, it is
# tried and taken back, under the documents' locks: not for too many of them.
access_action = partial(
    bulk_action,
    at_most=100,
    foresee=foresee_access,
    foreseen_template="admin/documents/document/_access_change.html",
)

ACTIONS = [
    access_action(
        name="grant_access",
        label="Let a group read them…",
        button="Let them read",
        form=_groups,
        apply=lambda request, document, given: services.grant_access(
            actor=request.user, document=document, subject=given["subject"]
        ),
        changed="“{subject}” may now read",
        unchanged="“{subject}” could read already",
    ),
    access_action(
        name="revoke_access",
        label="Revoke a group's or person's access…",
        button="Revoke access",
        explanation="It takes effect at once, also for answers being made right now. Somebody who "
        "may read a document through another grant keeps that.",
        form=_grantees,
        apply=lambda request, document, given: services.revoke_access(
            actor=request.user, document=document, subject=given["subject"]
        ),
        changed="Access of “{subject}” revoked from",
        unchanged="“{subject}” had no grant to",
    ),
    access_action(
        name="archive",
        label="Archive…",
        button="Archive",
        explanation="Archived documents stay in answers and are marked as withdrawn.",
        form=lambda request, documents: ArchiveForm(_bound(request)),
        apply=_move_to(LifeCycle.ARCHIVED),
        changed="Archived",
        unchanged="Was archived already",
    ),
    access_action(
        name="move_to_draft",
        label="Move to draft…",
        button="Move to draft",
        explanation="Drafts are in no answer, and nobody can open them.",
        form=lambda request, documents: LeavingForm(_bound(request)),
        apply=_move_to(LifeCycle.DRAFT),
        changed="Moved to draft",
        unchanged="Was a draft already",
    ),
    access_action(
        name="vet",
        label="Mark as vetted…",
        button="Mark as vetted",
        explanation="Vetted documents are used in answers for everybody with a grant.",
        form=lambda request, documents: ReasonForm(_bound(request)),
        apply=_move_to(LifeCycle.VETTED),
        changed="Marked as vetted",
        unchanged="Was vetted already",
    ),
    access_action(
        name="set_life_cycle",
        label="Move to another life-cycle…",
        button="Move",
        explanation="Only vetted and archived documents are used in answers.",
        form=lambda request, documents: LifeCycleForm(_bound(request)),
        apply=_move_to(),
        changed="Moved to “{life_cycle.label}”",
        unchanged="Was “{life_cycle.label}” already",
    ),
    bulk_action(
        name="set_owner",
        label="Set the owner…",
        button="Set the owner",
        form=lambda request, documents: OwnerForm(_bound(request)),
        apply=_set_owner,
        changed="The owner was set",
        unchanged="Had this owner already",
    ),
    bulk_action(
        name="retry_failed",
        label="Try failed uploads again",
        apply=_retry_newest,
        changed="The newest upload is tried again",
        unchanged="The newest upload has not failed",
    ),
    access_action(
        name="delete_documents",
        label="Delete…",
        button="Delete",
        explanation="Nobody can read, find or cite them any more, and no answer that relied on "
        "them is shown again. What was recorded about them stays in the audit record.",
        apply=lambda request, document, _: services.delete_document(
            actor=request.user, document=document
        ),
        changed="Deleted",
        unchanged="Was deleted already",
    ),
]
