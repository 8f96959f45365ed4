"""An OpenID provider on the loopback: it describes itself, shows a page where one agrees, and exchanges codes for ID
tokens, holding the client to PKCE, its secret and its address.
"""

from __future__ import annotations

import json
import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey

from tests.loopback import Quiet, listening

CLIENT_ID, SECRET = "mnemic-console", "s3cret/with:signs"


@dataclass
class IdentityProvider:
    """`claims` are put into ID tokens (None takes one away); `down` answers nothing but 500; `refused` counts the codes
    that were not exchanged, `ended` are those who were signed out.
    """

    address: str = ""
    claims: dict[str, Any] = field(default_factory=lambda: {"sub": "ana", "roles": ["reader", "subject"]})
    description: dict[str, Any] = field(default_factory=dict)
    down: bool = False
    refused: int = 0
    ended: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    key: ECKey = field(default_factory=lambda: ECKey.generate_key("P-256", {"kid": "one"}))
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def access_token(self, audience: str, **claims: Any) -> str:
        """What an application shows that acts for one of the provider's users."""
        said = {"iss": self.address, "aud": audience, "exp": int(time.time()) + 10**9, **self.claims, **claims}
        return jwt.encode({"alg": "ES256", "kid": self.key.kid}, said, self.key)

    def described(self) -> dict[str, Any]:
        """The discovery document."""
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "jwks_uri": f"{self.address}/keys",
            **self.description,
        }

    def agreed(self, asked: dict[str, str]) -> str:
        """Where the browser goes once somebody has agreed."""
        code = f"code-{len(self._codes)}"
        self._codes[code] = asked
        return f"{asked['redirect_uri']}?" + urlencode({"code": code, "state": asked["state"], "iss": self.address})

    def offer_sign_out(self) -> None:
        """Say that sessions can be ended here."""
        self.description["end_session_endpoint"] = f"{self.address}/logout?realm=one"

    def signed_out(self, asked: dict[str, str], registered: str) -> str | None:
        """Where the browser goes once its session is over; None for what is not asked for as it must be."""
        if asked.get("realm") != "one" or asked.get("client_id") != CLIENT_ID:
            return None
        hinted = jwt.decode(asked["id_token_hint"], self.key, algorithms=["ES256"]).claims
        back = asked["post_logout_redirect_uri"]
        if hinted["aud"] != CLIENT_ID or not back.endswith(registered):
            return None
        self.ended.append(hinted["sub"])
        return back

    def exchanged(self, form: dict[str, str], authorization: str) -> dict[str, Any] | None:
        """The tokens for a code, once; None where anything is not as it was asked for."""
        asked = self._codes.pop(form.get("code", ""), None)
        shown = b64decode(authorization.removeprefix("Basic ")).decode()
        challenge = urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).rstrip(b"=").decode()
        if (
            asked is None
            or form.get("grant_type") != "authorization_code"
            or asked["code_challenge_method"] != "S256"
            or challenge != asked["code_challenge"]
            or form.get("redirect_uri") != asked["redirect_uri"]
            or shown != urlencode({"": CLIENT_ID})[1:] + ":" + urlencode({"": SECRET})[1:]
        ):
            self.refused += 1
            return None
        claims = {"iss": self.address, "aud": CLIENT_ID, "exp": int(time.time()) + 10**9, "nonce": asked["nonce"]}
        claims = {name: value for name, value in (claims | self.claims).items() if value is not None}
        return {"id_token": jwt.encode({"alg": "ES256", "kid": self.key.kid}, claims, self.key), "token_type": "Bearer"}


@contextmanager
def running() -> Iterator[IdentityProvider]:
    """A provider that answers until the block ends."""
    told = IdentityProvider()

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            told.asked.append(parts.path)
            if told.down:
                self.answer(b"{}", status=500)
            elif parts.path == "/authorize":
                link = told.agreed(asked).replace("&", "&amp;")
                page = f'<!doctype html><html lang="en"><title>Provider</title><a href="{link}">Agree</a></html>'
                self.answer(page.encode(), media_type="text/html")
            elif parts.path == "/logout":
                back = told.signed_out(asked, "/console")
                self.answer(b"", status=303 if back else 400, location=back)
            elif parts.path == "/keys":
                self.answer(json.dumps({"keys": [told.key.as_dict(private=False)]}).encode())
            else:
                self.answer(json.dumps(told.described()).encode())

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            given = {name: values[0] for name, values in form.items()}
            tokens = told.exchanged(given, self.headers.get("Authorization", "Basic "))
            self.answer(json.dumps(tokens or {"error": "invalid_grant"}).encode(), status=200 if tokens else 400)

        def answer(
            self, body: bytes, *, status: int = 200, media_type: str = "application/json", location: str | None = None
        ) -> None:
            self.send_response(status)
            if location is not None:
                self.send_header("Location", location)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with listening(Handler) as told.address:
        yield told
