"""System checks: tenants whose answers are not written by what the settings say."""

from django.conf import settings
from django.core.checks import Tags, Warning, register
from django.db import DatabaseError

from tenants.scope import tenant_scope
from tenants.selectors import all_tenant_ids, current_tenant

from .configurations import is_available
from .models import AnswerConfiguration, ConfigurationStatus


@register(Tags.database)
def tenants_are_answered_by_what_they_approved(app_configs, databases, **kwargs) -> list[Warning]:
    if not databases or settings.DATABASE_ROLE == "owner":
        return []
    try:
        return [found for tenant_id in all_tenant_ids() for found in _of(tenant_id)]
    except DatabaseError:  # not migrated yet, which other checks say
        return []


def _of(tenant_id) -> list[Warning]:
    with tenant_scope(tenant_id):
        serving = AnswerConfiguration.objects.filter(status=ConfigurationStatus.SERVING).first()
        slug = current_tenant().slug
    hint = f"Run the cases and approve it: manage.py configurations adopt --tenant {slug}"
    if serving is None:
        return []
    if not is_available(serving):
        words = f"{slug} approved {serving}, which this release does not have: people get excerpts."
        return [Warning(words, hint=hint, id="precept.W010")]
    if serving.generator != settings.GENERATOR:
        words = f"{slug} is answered by {serving}, and PRECEPT_GENERATOR is {settings.GENERATOR}."
        return [Warning(words, hint=hint, id="precept.W011")]
    return []
