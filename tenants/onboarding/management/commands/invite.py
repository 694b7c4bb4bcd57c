"""Invite somebody by e-mail, such as the first administrator of a new tenant."""

from tenants.commands import PreceptCommand, role_and_department
from tenants.onboarding import services


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("email")
        parser.add_argument(
            "--role",
            default="tenant_admin",
            help="tenant_admin (the default), department_admin:DEPARTMENT, reviewer, auditor, employee",
        )

    def run(self, *, email, role, **options):
        given, department = role_and_department(role)
        invitation = services.invite(email=email, role=given, department=department)
        return {
            "invitationId": str(invitation.pk),
            "email": invitation.email,
            "expires": invitation.expires_at.isoformat(),
        }
