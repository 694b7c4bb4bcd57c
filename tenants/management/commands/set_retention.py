"""Change how long a tenant keeps what was deleted, and the words of answers. With a written reason."""

from tenants import services
from tenants.commands import PreceptCommand
from tenants.selectors import current_tenant


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("--deleted-days", type=int, help="until a deleted document is purged")
        parser.add_argument(
            "--answers-days",
            type=lambda value: value if value == "for-ever" else int(value),
            help="a number, or for-ever",
        )
        parser.add_argument("--reason", required=True, help="kept in the audit record")

    def run(self, *, deleted_days, answers_days, reason, **options):
        now = current_tenant()
        deleted = now.keep_deleted_days if deleted_days is None else deleted_days
        kept = {None: now.keep_answers_days, "for-ever": None}.get(answers_days, answers_days)
        changed = services.set_retention(deleted_days=deleted, answers_days=kept, reason=reason)
        return {"deletedDays": deleted, "answersDays": kept, "changed": changed}
