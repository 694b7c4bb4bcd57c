"""Create an account. Roles: tenant_admin, department_admin:DEPARTMENT, reviewer, auditor, employee."""

import sys

from django.core.management.base import CommandError

from tenants import selectors, services
from tenants.commands import PreceptCommand, role_and_department


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
            roles=[role_and_department(text) for text in role],
            groups=[selectors.group_by_name(name) for name in group],
        )
        return {"userId": str(user.id), "email": user.email}
