"""Who may read what: the one rule, asked three ways.

- may this person read this document: `may_read`, `get_readable_document`
- which documents may this person read: `readable_documents`
- who may read this document: `who_may_read`

The rule itself is the SQL function documents_readable(reader) of migration 0002. The retrieval legs
and the authority put it into their own statements; everything else comes through here. Through what
somebody reads, and who gains or loses by a change, is in `effective_access`; why something cannot be
read, in `standing`. Both ask the same function.
"""

from uuid import UUID

from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from tenants.models import Role, User
from tenants.scope import current_tenant_id
from tenants.selectors import NotFound, departments_administered_by, roles_of

from .models import Document, DocumentVersion


def readable_documents(*, user: User) -> QuerySet[Document]:
    """Which documents may this person read, in the version in force?"""
    readable = RawSQL("SELECT document_id FROM documents_readable(%s)", [user.id])
    return Document.objects.filter(id__in=readable).select_related("current_version", "department")


def may_read(*, user: User, document_id: UUID) -> bool:
    """May this person read this document, in the version in force?"""
    return readable_documents(user=user).filter(pk=document_id).exists()


def get_readable_document(*, user: User, document_id: UUID) -> Document:
    """The document, if this person may read it. Raises NotFound when not, or when there is none."""
    document = readable_documents(user=user).filter(pk=document_id).first()
    if document is None:
        raise NotFound("There is nothing here.")
    return document


def get_readable_version(*, user: User, document_id: UUID, number: int) -> DocumentVersion:
    """The version in force of a readable document; any other number is not there."""
    document = get_readable_document(user=user, document_id=document_id)
    version = document.current_version
    if version.number != number or not version.text_key:
        raise NotFound("There is nothing here.")
    return version


def who_may_read(*, document: Document) -> QuerySet[User]:
    """Who may read this document now?"""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT u.id FROM tenants_user u CROSS JOIN LATERAL documents_readable(u.id) r"
            " WHERE u.tenant_id = %s AND r.document_id = %s",
            [current_tenant_id(), document.id],
        )
        ids = [row[0] for row in cursor.fetchall()]
    return User.objects.filter(id__in=ids)


def manageable_documents(*, user: User) -> QuerySet[Document]:
    """Documents whose metadata, versions and grants this person administers. Gives no right to read."""
    roles = roles_of(user)
    documents = Document.objects.filter(deleted_at=None)
    if Role.TENANT_ADMIN in roles:
        return documents
    if Role.DEPARTMENT_ADMIN in roles:
        return documents.filter(department__in=departments_administered_by(user))
    return documents.none()


def overseen_documents(*, user: User) -> QuerySet[Document]:
    """Documents whose metadata this person sees: what they manage, or for auditors all."""
    if Role.AUDITOR in roles_of(user):
        return Document.objects.filter(deleted_at=None)
    return manageable_documents(user=user)


def get_manageable_document(*, user: User, document_id: UUID) -> Document:
    document = manageable_documents(user=user).filter(pk=document_id).first()
    if document is None:
        raise NotFound("There is nothing here.")
    return document
