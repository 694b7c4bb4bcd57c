"""An OpenID provider on loopback for tests: discovery, authorisation, token, user-info and keys.

It signs honestly unless told otherwise. Use it as a context manager; give `person` the claims of who
signs in next, and `token_changes` what its ID tokens should get wrong::

    with FakeOidcProvider() as provider:
        provider.person = {"sub": "7", "email": "emma@bank.example", "email_verified": True}
        provider.token_changes = {"aud": "somebody-else"}

`authorise(url)` does what a browser does at the provider: it returns the address to come back to.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from base64 import urlsafe_b64encode
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

# Made once: keys take a while.
_KEY = RSAKey.generate_key(2048, {"kid": "now", "use": "sig", "alg": "RS256"})
_OTHER_KEY = RSAKey.generate_key(2048, {"kid": "now", "use": "sig", "alg": "RS256"})


class FakeOidcProvider:
    def __init__(self) -> None:
        self.person: dict[str, object] = {}
        self.token_changes: dict[str, object] = {}
        self.userinfo_changes: dict[str, object] = {}
        self.metadata_changes: dict[str, object] = {}
        self.leave_out: set[str] = set()  # claims that only user-info tells
        self.wrong_key = False
        self.raw_token = ""
        self.client_secret = "the client's secret"
        self.calls: list[str] = []
        self._codes: dict[str, dict[str, str]] = {}
        self._tokens: dict[str, dict[str, object]] = {}

    def __enter__(self) -> FakeOidcProvider:
        handler = type("Handler", (_Handler,), {"provider": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exception) -> None:
        self._server.shutdown()
        self._server.server_close()

    def authorise(self, url: str) -> str:
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        code = secrets.token_urlsafe(16)
        self._codes[code] = query
        back = {"code": code, "state": query["state"], "iss": self.issuer}
        return f"{query['redirect_uri']}?{urlencode(back)}"

    def metadata(self) -> dict[str, object]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorise",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "id_token_signing_alg_values_supported": ["RS256"],
        } | self.metadata_changes

    def exchange(self, form: dict[str, str]) -> dict[str, object] | None:
        asked = self._codes.pop(form.get("code", ""), None)
        if asked is None or asked["redirect_uri"] != form.get("redirect_uri"):
            return None
        challenge = urlsafe_b64encode(sha256(form["code_verifier"].encode()).digest())
        if challenge.rstrip(b"=").decode() != asked["code_challenge"]:
            return None
        now = int(time.time())
        claims = {key: value for key, value in self.person.items() if key not in self.leave_out}
        claims |= {
            "iss": self.issuer,
            "aud": asked["client_id"],
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
        } | self.token_changes
        claims = {key: value for key, value in claims.items() if value is not None}
        access = secrets.token_urlsafe(16)
        self._tokens[access] = self.person | self.userinfo_changes
        key = _OTHER_KEY if self.wrong_key else _KEY
        signed = self.raw_token or jwt.encode({"alg": "RS256", "kid": "now"}, claims, key)
        return {"access_token": access, "token_type": "Bearer", "id_token": signed}

    def userinfo(self, token: str) -> dict[str, object] | None:
        return self._tokens.get(token)

    @staticmethod
    def keys() -> dict[str, object]:
        return {"keys": [_KEY.as_dict(private=False)]}


class _Handler(BaseHTTPRequestHandler):
    provider: FakeOidcProvider

    def log_message(self, *args) -> None:
        pass

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.provider.calls.append(path)
        if path == "/.well-known/openid-configuration":
            self._send(self.provider.metadata())
        elif path == "/keys":
            self._send(self.provider.keys())
        elif path == "/userinfo":
            self._send(
                self.provider.userinfo(self.headers["Authorization"].removeprefix("Bearer "))
            )
        elif path == "/authorise":
            self.send_response(302)
            self.send_header("Location", self.provider.authorise(self.path))
            self.end_headers()
        else:
            self._send(None)

    def do_POST(self) -> None:
        self.provider.calls.append(self.path)
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._send(self.provider.exchange({k: v[0] for k, v in parse_qs(body).items()}))

    def _send(self, value: dict[str, object] | None) -> None:
        body = json.dumps(value or {"error": "invalid_request"}).encode()
        self.send_response(200 if value else 400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
