"""The shape every command of Precept has: a tenant, one JSON value on stdout, a plain error."""

import json
import sys
from collections.abc import Callable
from uuid import UUID

from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from . import selectors, services
from .models import Department, Role
from .scope import tenant_scope


class PreceptCommand(BaseCommand):
    """Subclasses implement `run(**options)` and return what --json prints.

    Progress and plain words go to standard error; standard output carries the result only.
    """

    needs_tenant = True
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON value on stdout")
        if self.needs_tenant:
            parser.add_argument("--tenant", help="short name of the tenant")
        self.add_command_arguments(parser)

    def add_command_arguments(self, parser: CommandParser) -> None:
        pass

    def handle(self, *args, **options):
        try:
            with_scope = self._scoped if self.needs_tenant else self.run
            result = with_scope(**options)
        except (ValidationError, PermissionDenied, selectors.NotFound) as error:
            message = " ".join(getattr(error, "messages", [str(error)]))
            raise CommandError(message) from None
        if options["json"]:
            self.stdout.write(json.dumps(result, ensure_ascii=False, default=str))
        elif (words := self.describe(result)) is not None:
            self.stdout.write(words)
        if self.failed(result):
            sys.exit(1)

    def _scoped(self, **options):
        with tenant_scope(self.find_tenant(options)):
            return self.run(**options)

    def find_tenant(self, options: dict) -> UUID:
        """From --tenant; commands that name a person or a document may find it from that."""
        if not options["tenant"]:
            raise CommandError("Say which tenant: --tenant SLUG")
        return selectors.tenant_of_slug(options["tenant"])

    def run(self, **options) -> object:
        raise NotImplementedError

    def describe(self, result: object) -> str | None:
        """The result for a person; indented JSON unless a command says it better."""
        return json.dumps(result, ensure_ascii=False, default=str, indent=2)

    def failed(self, result: object) -> bool:
        return False

    def say(self, message: str) -> None:
        self.stderr.write(message)


class PersonCommand(PreceptCommand):
    """A command about one account, whose tenant is found from the address when not given."""

    email_option = "email"

    def find_tenant(self, options: dict) -> UUID:
        if options["tenant"]:
            return selectors.tenant_of_slug(options["tenant"])
        tenant_id = selectors.tenant_of_email(options[self.email_option])
        if tenant_id is None:
            raise CommandError(f"There is no account {options[self.email_option]}.")
        return tenant_id


class EachTenantCommand(PreceptCommand):
    """A command about an object named by id: looks in the given tenant, else in each."""

    def _scoped(self, **options):
        if options["tenant"]:
            return super()._scoped(**options)
        return self._search(lambda: self.run(**options))

    def _search(self, look: Callable[[], object]) -> object:
        missing: Exception = selectors.NotFound("There is nothing with this id.")
        for tenant_id in selectors.all_tenant_ids():
            try:
                with tenant_scope(tenant_id):
                    return look()
            except selectors.NotFound as error:
                missing = error
        raise missing


def role_and_department(text: str) -> tuple[Role, Department | None]:
    """From `ROLE` or `department_admin:DEPARTMENT`. Raises ValidationError."""
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
