"""The one way to write the record."""

from uuid import UUID

from .models import AuditRecord


def record_action(
    *,
    action: str,
    actor: UUID | None,
    object_ids: dict[str, object] | None = None,
    facts: dict[str, object] | None = None,
) -> AuditRecord:
    """Append one record to the current tenant's chain, in the caller's transaction.

    Call it last in the transaction: it holds the chain's lock until commit. `facts` carries ids,
    counts, codes and versions; never a question, a passage or a title.
    """
    return AuditRecord.objects.create(
        action=action,
        actor=actor,
        object_ids=_plain(object_ids or {}),
        facts=_plain(facts or {}),
    )


def _plain(values: dict[str, object]) -> dict[str, object]:
    return {key: _plain_value(value) for key, value in values.items()}


def _plain_value(value: object) -> object:
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain_value(item) for key, item in value.items()}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)
