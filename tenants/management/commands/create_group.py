"""Create a group."""

from tenants import services
from tenants.commands import PreceptCommand


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("name")

    def run(self, *, name, **options):
        group = services.create_group(name=name)
        return {"groupId": str(group.id), "name": group.name}
