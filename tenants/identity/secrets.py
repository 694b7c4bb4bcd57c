"""Client secrets at rest: encrypted with the first key of the setting, read with any of them."""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class SecretUnreadable(Exception):
    """No key of the setting opens it: the key it was stored with has been taken away."""


def _keys() -> MultiFernet:
    if not settings.SECRET_STORE_KEYS:
        raise ImproperlyConfigured(
            "PRECEPT_SECRET_STORE_KEYS must be set to keep a client secret. Make a key with: "
            "python3 -c 'import base64, os; print(base64.urlsafe_b64encode(os.urandom(32)).decode())'"
        )
    return MultiFernet([Fernet(key) for key in settings.SECRET_STORE_KEYS])


def seal(secret: str) -> str:
    return _keys().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """Raises SecretUnreadable."""
    try:
        return _keys().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise SecretUnreadable(
            "A stored secret cannot be read with the keys of PRECEPT_SECRET_STORE_KEYS. Put the former "
            "key back behind the new one, or enter the secret again."
        ) from None


def reseal(sealed: str) -> str:
    """The same secret under the newest key. Raises SecretUnreadable."""
    return seal(unseal(sealed))
