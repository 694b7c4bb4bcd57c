"""Create an organisation."""

from django.db import transaction

from tenants import services
from tenants.commands import PreceptCommand
from tenants.models import Role
from tenants.onboarding import services as onboarding
from tenants.scope import tenant_scope


class Command(PreceptCommand):
    help = __doc__
    needs_tenant = False

    def add_command_arguments(self, parser):
        parser.add_argument("slug", help="short name, such as meridian")
        parser.add_argument("--name", required=True)
        parser.add_argument("--default-language", default="en")
        parser.add_argument(
            "--languages", default="en,nl,fr,de", help="comma-separated (default: %(default)s)"
        )

        parser.add_argument("--invite", metavar="EMAIL", help="its first administrator, by e-mail")

    def run(self, *, slug, name, default_language, languages, invite, **options):
        codes = [code.strip() for code in languages.split(",") if code.strip()]
        with transaction.atomic():
            tenant = services.create_tenant(
                slug=slug, name=name, default_language=default_language, languages=codes
            )
            if invite:
                with tenant_scope(tenant.id):
                    onboarding.invite(email=invite, role=Role.TENANT_ADMIN)
        return {"tenantId": str(tenant.id), "slug": tenant.slug}
