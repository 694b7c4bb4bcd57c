"""Reads about sign-in. The first two run before a tenant is known."""

from uuid import UUID

from django.db import connection

from tenants.models import Role, RoleAssignment, User
from tenants.selectors import NotFound, roles_of

from .models import EmailDomain, ExternalIdentity, IdentityProvider, ProviderState, SignInPolicy


def _ask(function: str, key: str) -> UUID | None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [key])
        return cursor.fetchone()[0]


def provider_of_address(email: str) -> UUID | None:
    """The provider in use that people of this address's domain are sent to."""
    _, at, domain = email.strip().lower().rpartition("@")
    return _ask("precept_provider_of_domain", domain) if at and domain else None


def tenant_of_provider(provider_id: UUID) -> UUID | None:
    """The tenant of a provider that is in use; None for any other."""
    return _ask("precept_tenant_of_provider", str(provider_id))


def provider_in_use(provider_id: UUID) -> IdentityProvider:
    """In the current tenant. Raises NotFound."""
    provider = IdentityProvider.objects.filter(pk=provider_id, state=ProviderState.ON).first()
    if provider is None:
        raise NotFound("There is no such sign-in.")
    return provider


def provider_to_try(*, caller: User, provider_id: UUID) -> IdentityProvider:
    """For a tenant administrator, whatever its state. Raises NotFound."""
    if Role.TENANT_ADMIN in roles_of(caller):
        provider = IdentityProvider.objects.filter(pk=provider_id).first()
        if provider is not None:
            return provider
    raise NotFound("There is no such sign-in.")


def is_proven_for(provider: IdentityProvider, email: str) -> bool:
    """Whether the address is of a domain that the tenant has proven and sends to this provider."""
    domain = email.rpartition("@")[2].lower()
    return EmailDomain.objects.filter(
        domain=domain, proven_at__isnull=False, provider=provider
    ).exists()


def policy() -> SignInPolicy:
    """The current tenant's; unsaved defaults where none was ever set."""
    return SignInPolicy.objects.select_related("break_glass").first() or SignInPolicy()


def may_use_password(user: User) -> bool:
    rules = policy()
    return rules.passwords or is_break_glass(user, rules)


def is_break_glass(user: User, rules: SignInPolicy | None = None) -> bool:
    return (rules or policy()).break_glass_id == user.pk


def administrators_by_provider() -> int:
    """How many active tenant administrators can sign in through a provider that is in use."""
    admins = RoleAssignment.objects.filter(role=Role.TENANT_ADMIN, user__is_active=True)
    return (
        ExternalIdentity.objects.filter(
            provider__state=ProviderState.ON, user__in=admins.values("user")
        )
        .values("user")
        .distinct()
        .count()
    )


def provider_by_name(name: str) -> IdentityProvider:
    """For the operator. Raises NotFound."""
    provider = IdentityProvider.objects.filter(name__iexact=name).first()
    if provider is None:
        raise NotFound(f"There is no identity provider '{name}' in this tenant.")
    return provider
