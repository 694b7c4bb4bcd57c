"""Why a version cannot be used by somebody any more. It explains the rule and decides nothing."""

from collections.abc import Collection
from enum import StrEnum
from uuid import UUID

from django.db import connection


class Standing(StrEnum):
    """The first cause in this order; READABLE is what documents_readable() says itself."""

    READABLE = "readable"
    INACTIVE = "inactive"
    DELETED = "deleted"
    LIFE_CYCLE = "life_cycle"
    SUPERSEDED = "superseded"
    NO_GRANT = "no_grant"
    UNKNOWN = "unknown"


IN_WORDS = {
    Standing.READABLE: "may still be read",
    Standing.INACTIVE: "the account was deactivated",
    Standing.DELETED: "the document was deleted",
    Standing.LIFE_CYCLE: "the document is no longer vetted or archived",
    Standing.SUPERSEDED: "another version is in force, or none",
    Standing.NO_GRANT: "no grant any more",
    Standing.UNKNOWN: "for a reason that cannot be told",
}

_STANDING = """
SELECT p.document, p.version, CASE
    WHEN r.document_id IS NOT NULL THEN 'readable'
    WHEN u.id IS NULL OR NOT u.is_active THEN 'inactive'
    WHEN d.id IS NULL OR d.deleted_at IS NOT NULL THEN 'deleted'
    WHEN d.life_cycle NOT IN ('vetted', 'archived') THEN 'life_cycle'
    WHEN d.current_version_id IS DISTINCT FROM p.version THEN 'superseded'
    WHEN NOT EXISTS (
        SELECT FROM documents_grant g
        WHERE g.document_id = d.id AND (g.user_id = u.id OR g.group_id IN (
            SELECT m.group_id FROM tenants_groupmembership m WHERE m.user_id = u.id)))
        THEN 'no_grant'
    ELSE 'unknown' END
FROM unnest(%(documents)s::uuid[], %(versions)s::uuid[]) p (document, version)
LEFT JOIN tenants_user u ON u.id = %(reader)s
LEFT JOIN documents_document d ON d.id = p.document AND d.tenant_id = u.tenant_id
LEFT JOIN documents_readable(%(reader)s) r
    ON r.document_id = p.document AND r.version_id = p.version
"""


def standing_of(
    *, reader: UUID, versions: Collection[tuple[UUID, UUID]]
) -> dict[tuple[UUID, UUID], Standing]:
    """How each (document, version) stands for this person now, in one statement."""
    pairs = list(versions)
    with connection.cursor() as cursor:
        cursor.execute(
            _STANDING,
            {
                "reader": reader,
                "documents": [document for document, _ in pairs],
                "versions": [version for _, version in pairs],
            },
        )
        return {(row[0], row[1]): Standing(row[2]) for row in cursor.fetchall()}
