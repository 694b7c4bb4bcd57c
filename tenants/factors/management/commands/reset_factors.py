"""Take a person's second factors away, who has lost them and has no administrator to ask."""

from tenants.commands import PersonCommand
from tenants.factors import services
from tenants.selectors import user_by_email


class Command(PersonCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("email")

    def run(self, *, email, **options):
        user = user_by_email(email)
        return {"userId": str(user.pk), "changed": services.reset_factors(user=user)}
