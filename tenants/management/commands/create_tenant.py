"""Create an organisation."""

from tenants import services
from tenants.commands import PreceptCommand


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

    def run(self, *, slug, name, default_language, languages, **options):
        codes = [code.strip() for code in languages.split(",") if code.strip()]
        tenant = services.create_tenant(
            slug=slug, name=name, default_language=default_language, languages=codes
        )
        return {"tenantId": str(tenant.id), "slug": tenant.slug}
