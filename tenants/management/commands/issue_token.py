"""Issue a bearer token for the API. It is shown once."""

from datetime import timedelta

from tenants import selectors, services
from tenants.commands import PersonCommand
from tenants.models import TokenUse


class Command(PersonCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("email")
        parser.add_argument("--days", type=int, default=90)
        parser.add_argument(
            "--use",
            action="append",
            choices=TokenUse.values,
            help="what it may be used for; may be repeated (default: all that the person may do)",
        )

    def run(self, *, email, days, use, **options):
        user = selectors.user_by_email(email)
        row, token = services.issue_token(user=user, uses=use, lifetime=timedelta(days=days))
        return {"token": token, "expiresAt": row.expires_at.isoformat(), "uses": row.uses}

    def describe(self, result):
        return result["token"]
