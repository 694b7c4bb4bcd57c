"""Sign-in by e-mail and password, sessions and bearer tokens."""

from uuid import UUID

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import make_password
from rest_framework import authentication, exceptions, permissions

from . import selectors, services
from .factors.selectors import has_factor
from .identity.selectors import is_break_glass, may_use_password
from .identity.services import record_refusal, record_sign_in
from .models import ApiToken, TokenUse, User
from .scope import ScopeConflict, tenant_scope


class EmailBackend(ModelBackend):
    """The tenant is found by the exact address, then everything happens inside its scope."""

    def authenticate(self, request, email=None, password=None, **kwargs):
        email = email or kwargs.get("username")
        if not email or password is None:
            return None
        tenant_id = selectors.tenant_of_email(email)
        if tenant_id is None:
            make_password(password)  # an unknown address takes as long as a wrong password
            return None
        with tenant_scope(tenant_id):
            user = User.objects.filter(email__iexact=email).first()
            right = user is not None and user.check_password(password)
            if not right or not self.user_can_authenticate(user):
                if user is not None:
                    record_refusal(code="password", how="password", user=user)
                return None
            if not may_use_password(user):
                record_refusal(code="passwords_off", how="password", user=user)
                return None
            if not has_factor(user):  # else its use is what completes the sign-in
                record_sign_in(user=user, how="break_glass" if is_break_glass(user) else "password")
        request.enter_tenant(tenant_id)
        return user

    def get_user(self, user_id):
        tenant_id = selectors.tenant_of_user(user_id)
        if tenant_id is None:
            return None
        with tenant_scope(tenant_id):
            return User.objects.filter(pk=user_id, is_active=True).first()


class ProviderBackend(EmailBackend):
    """Marks sessions of people whom a provider has vouched for; lets nobody in by itself."""

    def authenticate(self, request, **kwargs):
        return None


class AccountAdapter(DefaultAccountAdapter):
    """Accounts are made by administrators and identity providers, not by visitors."""

    def is_open_for_signup(self, request) -> bool:
        return False

    def reauthenticate(self, user: User, password: str) -> bool:
        """A signed-in person confirms who they are, which is no sign-in; tries are limited by the page."""
        right = user.check_password(password)
        if not right:
            record_refusal(code="password", how="confirmation", user=user)
        return right

    def set_password(self, user: User, password: str) -> None:
        """One's own, from the account page: recorded like one that an administrator sets."""
        services.set_password(user=user, password=password, actor=user)


class SessionAuthentication(authentication.SessionAuthentication):
    """Session + CSRF; an unauthenticated call answers 401, not 403."""

    def authenticate_header(self, request) -> str:
        return 'Bearer realm="precept"'


class BearerAuthentication(authentication.BaseAuthentication):
    """`Authorization: Bearer …`. A token that does not work is 401, whatever the reason."""

    def authenticate(self, request):
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return None
        token = token.strip()
        tenant_id = selectors.tenant_of_token(token)
        row = self._use(tenant_id, token) if tenant_id is not None else None
        if row is not None:
            request._request.enter_tenant(tenant_id)
            return row.user, row
        raise exceptions.AuthenticationFailed("The token is not valid; ask for a new one.")

    @staticmethod
    def _use(tenant_id: UUID, token: str) -> ApiToken | None:
        """The row of a usable token. None also when a session of another tenant came with it."""
        try:
            with tenant_scope(tenant_id):
                row = selectors.usable_token(token)
                if row is not None:
                    services.note_token_use(token=row)
                return row
        except ScopeConflict:
            return None

    def authenticate_header(self, request) -> str:
        return 'Bearer realm="precept", error="invalid_token"'


class TokenScope(permissions.BasePermission):
    """A token opens only what it was issued for; a session opens all that its person may do.

    A view says `token_uses = {"GET": TokenUse.READ, …}`, or None for any token. A method that it
    does not name is open to no token: the check comes before the object is looked for.
    """

    def has_permission(self, request, view) -> bool:
        if not isinstance(request.auth, ApiToken):
            return True
        allowed = getattr(view, "token_uses", {})
        if allowed is None or request.method == "OPTIONS":
            return True
        wanted = allowed.get("GET" if request.method == "HEAD" else request.method)
        if wanted is None and request.method not in view.allowed_methods:
            return True  # 405 says more
        if wanted is None or wanted not in request.auth.uses:
            raise InsufficientScope(wanted)
        return True


class InsufficientScope(exceptions.PermissionDenied):
    """403 with the use that is missing, as RFC 6750 names it."""

    stable_code = "insufficient_scope"

    def __init__(self, wanted: TokenUse | None):
        use = f"“{wanted.label.lower()}”" if wanted else "this"
        super().__init__(f"The token was not issued for {use}. Ask for one that was.")
        scope = f', scope="{wanted}"' if wanted else ""
        self.auth_header = f'Bearer realm="precept", error="insufficient_scope"{scope}'
