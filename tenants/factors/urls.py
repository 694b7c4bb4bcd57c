"""Only these of allauth's pages are routed."""

from allauth.account.views import reauthenticate
from allauth.mfa.base import views as base
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as passkeys
from django.urls import path
from django.views.decorators.cache import never_cache

_AT = "accounts/second-factor/"

urlpatterns = [
    path(_AT, never_cache(base.index), name="mfa_index"),
    path(f"{_AT}show/", base.authenticate, name="mfa_authenticate"),
    path(f"{_AT}confirm/", reauthenticate, name="account_reauthenticate"),
    path(f"{_AT}app/", never_cache(totp.activate_totp), name="mfa_activate_totp"),
    path(f"{_AT}app/remove/", never_cache(totp.deactivate_totp), name="mfa_deactivate_totp"),
    path(f"{_AT}passkey/", never_cache(passkeys.add_webauthn), name="mfa_add_webauthn"),
    path(
        f"{_AT}passkeys/<int:pk>/remove/",
        never_cache(passkeys.remove_webauthn),
        name="mfa_remove_webauthn",
    ),
    path(f"{_AT}codes/", codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path(
        f"{_AT}codes/renew/",
        never_cache(codes.generate_recovery_codes),
        name="mfa_generate_recovery_codes",
    ),
]
