"""Issue a bearer token for the API. It is shown once."""

from datetime import timedelta

from tenants import selectors, services
from tenants.commands import PersonCommand


class Command(PersonCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("email")
        parser.add_argument("--days", type=int, default=90)

    def run(self, *, email, days, **options):
        user = selectors.user_by_email(email)
        row, token = services.issue_token(user=user, lifetime=timedelta(days=days))
        return {"token": token, "expiresAt": row.expires_at.isoformat()}

    def describe(self, result):
        return result["token"]
