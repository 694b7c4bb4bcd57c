"""Who may read what, worked out a second time and in another way, for runs to judge the product by.

The product asks one SQL function. Were that function wrong, a run that asked it too would find
everything in order. So this reads grants, groups and documents itself. For runs only.
"""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q

from documents.models import Document, Grant
from documents.models.document import CITABLE
from tenants.models import GroupMembership, User


def not_permitted(*, user: User, documents: Collection[UUID]) -> set[UUID]:
    """Those of the documents that this person has no right to as evidence now."""
    person = User.objects.get(pk=user.pk)
    if not person.is_active:
        return set(documents)
    groups = set(GroupMembership.objects.filter(user=person).values_list("group_id", flat=True))
    granted = set(
        Grant.objects.filter(
            Q(user=person) | Q(group__in=groups), document__in=documents
        ).values_list("document_id", flat=True)
    )
    usable = {
        document.pk
        for document in Document.objects.filter(pk__in=granted)
        if document.deleted_at is None
        and document.life_cycle in CITABLE
        and document.current_version_id is not None
    }
    return set(documents) - usable
