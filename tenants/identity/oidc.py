"""OpenID Connect, authorization code flow with PKCE (RFC 7636), as a relying party.

What is checked of an answer: state, issuer (RFC 9207 where it is sent, and in the token), signature
by a key the provider publishes now, audience and authorised party, times with a minute of leeway,
nonce, and that the user-info endpoint speaks of the same subject.
"""

import hashlib
import secrets
from base64 import urlsafe_b64encode
from urllib.parse import urlencode

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from .claims import LEEWAY_SECONDS, NOT_BELIEVED, Claims, Pending, ProviderFailed
from .models import IdentityProvider
from .outbound import get_json, post_form
from .secrets import unseal

# Nothing symmetric, and never "none": the client secret is no signature key.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]


def begin(
    provider: IdentityProvider, *, redirect_uri: str, next_page: str = "", is_trial: bool = False
) -> tuple[str, str, Pending]:
    """(the provider's address to go to, state, what to remember). Raises ProviderFailed."""
    metadata = discover(provider.issuer)
    state = secrets.token_urlsafe(32)
    pending = Pending(
        provider=str(provider.pk),
        nonce=secrets.token_urlsafe(32),
        verifier=secrets.token_urlsafe(64),
        next=next_page,
        is_trial=is_trial,
    )
    challenge = hashlib.sha256(pending.verifier.encode()).digest()
    query = {
        "response_type": "code",
        "client_id": provider.client_id,
        "redirect_uri": redirect_uri,
        "scope": provider.scopes,
        "state": state,
        "nonce": pending.nonce,
        "code_challenge": urlsafe_b64encode(challenge).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    endpoint = _address(metadata, "authorization_endpoint")
    joint = "&" if "?" in endpoint else "?"
    return f"{endpoint}{joint}{urlencode(query)}", state, pending


def finish(
    provider: IdentityProvider, pending: Pending, *, code: str, issuer: str, redirect_uri: str
) -> Claims:
    """What the provider says of whoever comes back with `code`. Raises ProviderFailed.

    `issuer` is the `iss` parameter of the answer, or empty.
    """
    if issuer and issuer != provider.issuer:
        raise ProviderFailed("issuer", NOT_BELIEVED)
    metadata = discover(provider.issuer)
    answer = _exchange(provider, metadata, pending, code, redirect_uri)
    token = verify(
        provider,
        str(answer.get("id_token", "")),
        keys=get_json(_address(metadata, "jwks_uri")),
        nonce=pending.nonce,
    )
    return _claims(provider, token, _userinfo(provider, metadata, token, answer))


def discover(issuer: str) -> dict:
    """The provider's own description. Raises ProviderFailed."""
    metadata = get_json(issuer.rstrip("/") + "/.well-known/openid-configuration")
    if metadata.get("issuer") != issuer:
        raise ProviderFailed(
            "issuer",
            f"The provider calls itself {str(metadata.get('issuer'))[:200]}. "
            "Enter its issuer exactly so.",
        )
    return metadata


def verify(provider: IdentityProvider, id_token: str, *, keys: dict, nonce: str) -> dict:
    """The claims of a token that was issued to us, now, for this sign-in. Raises ProviderFailed."""
    try:
        token = jwt.decode(id_token, KeySet.import_key_set(keys), algorithms=ALGORITHMS)
        jwt.JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": provider.issuer},
            aud={"essential": True, "value": provider.client_id},
            exp={"essential": True},
            iat={"essential": True},
            sub={"essential": True},
            nonce={"essential": True, "value": nonce},
        ).validate(token.claims)
    except (JoseError, ValueError, KeyError, TypeError) as error:
        raise ProviderFailed(f"token_{_kind(error)}", NOT_BELIEVED) from None
    claims = token.claims
    audience, party = claims["aud"], claims.get("azp")
    several = isinstance(audience, list) and len(audience) > 1
    if (several or party is not None) and party != provider.client_id:
        raise ProviderFailed("token_party", NOT_BELIEVED)
    if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= 255:
        raise ProviderFailed("token_subject", NOT_BELIEVED)
    return claims


def _kind(error: Exception) -> str:
    claim = getattr(error, "claim", None)
    return str(claim or getattr(error, "error", "") or "malformed")[:40]


def _exchange(provider, metadata: dict, pending: Pending, code: str, redirect_uri: str) -> dict:
    data = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": pending.verifier,
    }
    secret = unseal(provider.client_secret) if provider.client_secret else ""
    methods = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    auth = None
    if secret and "client_secret_basic" in methods:
        auth = (provider.client_id, secret)
    else:
        data["client_id"] = provider.client_id
        if secret:
            data["client_secret"] = secret
    return post_form(_address(metadata, "token_endpoint"), data, auth=auth)


def _userinfo(provider: IdentityProvider, metadata: dict, token: dict, answer: dict) -> dict:
    """What the token leaves out. Raises ProviderFailed when it speaks of somebody else."""
    wanted = {"email", provider.groups_claim} - {""}
    access = answer.get("access_token")
    if not metadata.get("userinfo_endpoint") or not access or wanted <= token.keys():
        return {}
    said = get_json(_address(metadata, "userinfo_endpoint"), token=str(access))
    if said.get("sub") != token["sub"]:
        raise ProviderFailed("userinfo_subject", NOT_BELIEVED)
    return said


def _claims(provider: IdentityProvider, token: dict, more: dict) -> Claims:
    said = {**more, **token}
    email = said.get("email")
    verified = said.get("email_verified")
    return Claims(
        subject=token["sub"],
        email=email.strip().lower() if isinstance(email, str) else "",
        email_verified=verified is True or verified == "true",
        name=str(said.get("name") or "")[:200],
        groups=_groups(said, provider.groups_claim),
    )


def _groups(said: dict, claim: str) -> frozenset[str] | None:
    """None where nothing, or nothing complete, was said."""
    left_out = said.get("_claim_names")  # too many to be sent; where to ask is told instead
    if not claim or claim not in said or (isinstance(left_out, dict) and claim in left_out):
        return None
    value = said[claim]
    if isinstance(value, str):
        return frozenset({value}) if value else frozenset()
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return frozenset(item for item in value if 0 < len(item) <= 300)
    return None


def _address(metadata: dict, name: str) -> str:
    value = metadata.get(name)
    if not isinstance(value, str) or not value:
        raise ProviderFailed("metadata", f"The provider's description has no {name}.")
    return value
