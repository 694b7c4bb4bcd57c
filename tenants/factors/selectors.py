"""Reads about second factors."""

from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa.models import Authenticator
from django.contrib.auth import BACKEND_SESSION_KEY
from django.http import HttpRequest

from tenants.models import User

from .models import FactorPolicy

# A recovery code stands in for one of these and is none by itself.
FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
PROVIDER_BACKEND = "tenants.authentication.ProviderBackend"


def policy() -> FactorPolicy:
    """The current tenant's; unsaved defaults where none was ever set."""
    return FactorPolicy.objects.first() or FactorPolicy()


def has_factor(user: User) -> bool:
    return factors_of(user).exists()


def factors_of(user: User):
    return Authenticator.objects.filter(user_id=user.pk, type__in=FACTORS)


def lacks_factor(request: HttpRequest) -> bool:
    """A session of a local account that has shown a password only, where the tenant asks for more.

    A session is a provider's only if it says so: every other way in counts as local.
    """
    if not request.user.is_authenticated:
        return False
    if request.session.get(BACKEND_SESSION_KEY) == PROVIDER_BACKEND:
        return False
    shown = get_authentication_records(request, request.user)
    return not any(one["method"] == "mfa" for one in shown) and policy().required
