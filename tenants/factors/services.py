"""Every write about second factors that is not the person's own."""

from allauth.mfa.models import Authenticator
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from audit.services import record_action
from tenants.identity.secrets import reseal
from tenants.models import Role, User
from tenants.selectors import roles_of

from .models import FactorPolicy

_SEALED = ("secret", "seed")


def _require_administrator(actor: User | None) -> None:
    """`actor` None is the platform's operator."""
    if actor is not None and Role.TENANT_ADMIN not in roles_of(actor):
        raise PermissionDenied("Only a tenant administrator decides about second factors.")


@transaction.atomic
def set_factor_policy(*, required: bool, actor: User | None = None) -> bool:
    """Whether local accounts need a second factor. True if it changed."""
    _require_administrator(actor)
    policy = FactorPolicy.objects.select_for_update().first() or FactorPolicy()
    if policy.required == required:
        return False
    policy.required = required
    policy.save()
    record_action(
        action="factor.policy_set",
        actor=actor and actor.pk,
        object_ids={"policy": policy.pk},
        facts={"required": required},
    )
    return True


@transaction.atomic
def reset_factors(*, user: User, actor: User | None = None) -> bool:
    """Take all second factors of a person away, recovery codes too. True if there were any.

    Raises ValidationError for one's own: those are removed on one's own page, with the password.
    """
    _require_administrator(actor)
    if actor == user:
        raise ValidationError(
            "You cannot reset your own second factors; ask another administrator."
        )
    removed, _ = Authenticator.objects.filter(user=user).delete()
    if removed:
        record_action(
            action="factor.reset",
            actor=actor and actor.pk,
            object_ids={"user": user.pk},
            facts={"removed": removed},
        )
    return bool(removed)


def reseal_factors() -> int:
    """Encrypt every stored secret of this tenant's factors with the newest key; how many."""
    count = 0
    for key in Authenticator.objects.filter(data__has_any_keys=_SEALED).values_list(
        "pk", flat=True
    ):
        with transaction.atomic():
            row = Authenticator.objects.select_for_update().get(pk=key)
            for name in row.data.keys() & _SEALED:
                row.data[name] = reseal(row.data[name])
                count += 1
            row.save(update_fields=["data"])
    return count
