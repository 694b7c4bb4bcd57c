"""Let whoever proves an account's address at a provider take the account over, within 14 days."""

from tenants.commands import PersonCommand
from tenants.identity.selectors import provider_by_name
from tenants.identity.services import allow_link
from tenants.selectors import user_by_email


class Command(PersonCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("email")
        parser.add_argument("--provider", required=True, help="its name")

    def run(self, *, email, provider, **options):
        user = user_by_email(email)
        allow_link(user=user, provider=provider_by_name(provider))
        return {"userId": str(user.pk), "provider": provider}
