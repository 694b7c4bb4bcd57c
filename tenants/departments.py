"""Every write about departments."""

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from audit.services import record_action

from .models import Department, RoleAssignment, User


@transaction.atomic
def create_department(*, name: str, actor: User | None = None) -> Department:
    """Raises ValidationError for a blank or taken name."""
    department = Department()
    _name_department(department, name)
    record_action(
        action="department.created",
        actor=actor and actor.id,
        object_ids={"department": department.id},
    )
    return department


@transaction.atomic
def rename_department(*, department: Department, name: str, actor: User | None = None) -> None:
    """Raises ValidationError for a blank or taken name."""
    _name_department(department, name)
    record_action(
        action="department.renamed",
        actor=actor and actor.id,
        object_ids={"department": department.id},
    )


@transaction.atomic
def delete_department(*, department: Department, actor: User | None = None) -> None:
    """Raises ValidationError while documents or administrators belong to it."""
    department_id, name = department.id, department.name
    if RoleAssignment.objects.filter(department=department).exists():
        raise ValidationError(
            f"'{name}' still has department administrators; end their role first."
        )
    try:
        department.delete()
    except ProtectedError:
        raise ValidationError(
            f"'{name}' still has documents, also deleted ones count; rename it instead."
        ) from None
    record_action(
        action="department.deleted",
        actor=actor and actor.id,
        object_ids={"department": department_id},
    )


def _name_department(department: Department, name: str) -> None:
    department.name = name.strip()
    department.clean_fields()
    try:
        with transaction.atomic():
            department.save()
    except IntegrityError:
        raise ValidationError(f"There is already a department '{department.name}'.") from None
