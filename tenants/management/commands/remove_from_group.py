"""Remove a person from a group; effective at once."""

from tenants import selectors, services
from tenants.commands import PersonCommand


class Command(PersonCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("email")
        parser.add_argument("group")

    def run(self, *, email, group, **options):
        user, target = selectors.user_by_email(email), selectors.group_by_name(group)
        changed = services.remove_from_group(user=user, group=target)
        return {"email": user.email, "group": target.name, "changed": changed}
