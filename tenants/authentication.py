"""Sign-in by e-mail and password, sessions and bearer tokens."""

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import make_password
from rest_framework import authentication, exceptions

from . import selectors, services
from .models import User
from .scope import tenant_scope


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
            return None
        request.enter_tenant(tenant_id)
        return user

    def get_user(self, user_id):
        tenant_id = selectors.tenant_of_user(user_id)
        if tenant_id is None:
            return None
        with tenant_scope(tenant_id):
            return User.objects.filter(pk=user_id, is_active=True).first()


class AccountAdapter(DefaultAccountAdapter):
    """Accounts are made by administrators and identity providers, not by visitors."""

    def is_open_for_signup(self, request) -> bool:
        return False


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
        if tenant_id is not None:
            with tenant_scope(tenant_id):
                row = selectors.usable_token(token)
                if row is not None:
                    services.note_token_use(token=row)
            if row is not None:
                request._request.enter_tenant(tenant_id)
                return row.user, row
        raise exceptions.AuthenticationFailed("The token is not valid; ask for a new one.")

    def authenticate_header(self, request) -> str:
        return 'Bearer realm="precept", error="invalid_token"'
