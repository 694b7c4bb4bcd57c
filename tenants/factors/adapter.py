"""What allauth.mfa asks of Precept."""

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator

from tenants.identity.secrets import seal, unseal

from .selectors import factors_of, policy


class FactorAdapter(DefaultMFAAdapter):
    def get_totp_issuer(self) -> str:
        return "Precept"

    def encrypt(self, text: str) -> str:
        return seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        return unseal(encrypted_text)

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        """The last one stays where one is needed: a password alone could set up another."""
        others = factors_of(authenticator.user).exclude(pk=authenticator.pk)
        return not policy().required or others.exists()
