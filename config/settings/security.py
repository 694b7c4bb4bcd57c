"""Secrets, sign-in, cookies and the Content-Security-Policy."""

import os
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from .environment import DATA_DIR, env, positive_int

DEBUG = False
HTTPS = env.bool("PRECEPT_HTTPS", default=False)


def _secret_key() -> str:
    """PRECEPT_SECRET_KEY, or for the embedded database one made on first start and kept in a 0600 file."""
    given = env.str("PRECEPT_SECRET_KEY", default="")
    if given:
        return given
    if env.str("DATABASE_URL", default=""):
        raise ImproperlyConfigured(
            "PRECEPT_SECRET_KEY must be set when DATABASE_URL is: every process needs the same key. "
            "Make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(50))'"
        )
    return _kept("secret_key", lambda: secrets.token_urlsafe(50))


def _kept(name: str, make: Callable[[], str]) -> str:
    """What is in this file of the data directory, which is made on first use."""
    path = DATA_DIR / name
    DATA_DIR.mkdir(parents=True, exist_ok=True)
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(make())
    except FileExistsError:
        pass
    return path.read_text()


SECRET_KEY = _secret_key()


def _store_keys() -> list[str]:
    """PRECEPT_SECRET_STORE_KEYS, newest first; for the embedded database one is made and kept.

    Empty where it must be given and was not: storing a secret then says so.
    """
    given = env.list("PRECEPT_SECRET_STORE_KEYS", default=[])
    if given or env.str("DATABASE_URL", default=""):
        return given
    return [_kept("secret_store_key", lambda: urlsafe_b64encode(secrets.token_bytes(32)).decode())]


SECRET_STORE_KEYS = _store_keys()
# Identity providers on this machine, by http too: for tests and trials only.
LOOPBACK_PROVIDERS = env.bool("PRECEPT_LOOPBACK_PROVIDERS", default=False)
# Where proofs of e-mail domains are looked up, "address:port"; empty: the system's resolver.
DNS_SERVER = env.str("PRECEPT_DNS_SERVER", default="")

AUTH_USER_MODEL = "tenants.User"
AUTHENTICATION_BACKENDS = [
    "tenants.authentication.EmailBackend",
    "tenants.authentication.ProviderBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "ask"
LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_ADAPTER = "tenants.authentication.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = False
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_RATE_LIMITS = {
    "login": "30/m/ip",
    "login_failed": "20/m/ip,5/5m/key",
    "reset_password": "20/h/ip,3/h/key",
}
ACCOUNT_REAUTHENTICATION_METHODS = ["password"]
MFA_ADAPTER = "tenants.factors.adapter.FactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_TOTP_TOLERANCE = 1  # a telephone's clock may be half a minute off
MFA_ALLOW_UNVERIFIED_EMAIL = True  # addresses are an administrator's or a provider's word
PASSWORD_RESET_TIMEOUT = 60 * positive_int("PRECEPT_PASSWORD_LINK_MINUTES", default=60)
INVITATION_DAYS = positive_int("PRECEPT_INVITATION_DAYS", default=7)
# Django sees the peer's address only; behind a proxy name the header it sets.
ALLAUTH_TRUSTED_PROXY_COUNT = env.int("PRECEPT_TRUSTED_PROXIES", default=0)

SESSION_COOKIE_NAME = "precept_session"
CSRF_COOKIE_NAME = "precept_csrf"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 60 * 60
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
# Probes come from inside, without a proxy in front.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
