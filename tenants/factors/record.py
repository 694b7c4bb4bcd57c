"""The audit record of what people do with their own factors, and of codes that were wrong."""

from allauth.account.internal.flows.login import record_authentication
from allauth.mfa import signals
from django.dispatch import receiver

from audit.services import record_action
from tenants.identity.selectors import is_break_glass
from tenants.identity.services import record_refusal, record_sign_in


def _record(action: str, user, authenticator) -> None:
    record_action(
        action=action,
        actor=user.pk,
        object_ids={"user": user.pk},
        facts={"kind": str(authenticator.type)},
    )


@receiver(signals.authenticator_added)
def _added(request, user, authenticator, **kwargs) -> None:
    _record("factor.added", user, authenticator)
    # It was shown just now: this session need not show it again.
    record_authentication(request, user, "mfa", id=authenticator.pk, type=authenticator.type)


@receiver(signals.authenticator_removed)
def _removed(user, authenticator, **kwargs) -> None:
    _record("factor.removed", user, authenticator)


@receiver(signals.authenticator_reset)
def _renewed(user, authenticator, **kwargs) -> None:
    _record("factor.renewed", user, authenticator)


@receiver(signals.authenticator_used)
def _used(user, authenticator, reauthenticated, **kwargs) -> None:
    if not reauthenticated:
        first = "break_glass" if is_break_glass(user) else "password"
        record_sign_in(user=user, how=f"{first}, {authenticator.type}")


@receiver(signals.authentication_failed)
def _failed(user, authenticator, **kwargs) -> None:
    record_refusal(code="second_factor", how="password", user=user)
