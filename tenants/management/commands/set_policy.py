"""Change how a tenant refuses. A decision of its compliance officers, with a written reason."""

from tenants import services
from tenants.commands import PreceptCommand
from tenants.models import RefusalPolicy


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument(
            "--refusal-policy", required=True, choices=[str(policy) for policy in RefusalPolicy]
        )
        parser.add_argument("--reason", required=True, help="kept in the audit record")

    def run(self, *, tenant, refusal_policy, reason, **options):
        changed = services.set_refusal_policy(policy=RefusalPolicy(refusal_policy), reason=reason)
        return {"tenant": tenant, "refusalPolicy": refusal_policy, "changed": changed}
