"""Create an account. Roles: tenant_admin, department_admin:DEPARTMENT, reviewer, auditor, employee."""

import sys

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from tenants import selectors, services
from tenants.commands import PreceptCommand
from tenants.models import Role


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("email")
        parser.add_argument("--name", default="")
        parser.add_argument("--role", action="append", default=[])
        parser.add_argument("--group", action="append", default=[])
        parser.add_argument("--password-stdin", action="store_true")

    def run(self, *, email, name, role, group, password_stdin, **options):
        if not password_stdin:
            raise CommandError("Give the password on standard input with --password-stdin.")
        user = services.create_user(
            email=email,
            name=name,
            password=sys.stdin.readline().rstrip("\n"),
            roles=[_role(text) for text in role],
            groups=[selectors.group_by_name(name) for name in group],
        )
        return {"userId": str(user.id), "email": user.email}


def _role(text: str):
    code, _, department = text.partition(":")
    try:
        role = Role(code)
    except ValueError:
        raise ValidationError(f"There is no role '{code}'. Roles: {', '.join(Role)}.") from None
    if role != Role.DEPARTMENT_ADMIN:
        return role, None
    if not department:
        raise ValidationError("Write department_admin:DEPARTMENT, with the department's name.")
    return role, services.get_or_create_department(name=department)
