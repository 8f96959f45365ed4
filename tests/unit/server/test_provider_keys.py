"""A provider's keys at an address: a real issuer on the loopback that changes its keys, fails and comes back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey

from mnemic.errors import InvalidConfig
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic_server.bearer_tokens import Provider, Tokens
from mnemic_server.credentials import ApiKeys
from mnemic_server.provider_fetch import MAX_BYTES
from mnemic_server.provider_keys import LASTS, OUTLASTS, RESTS
from tests.loopback import Quiet, listening


@dataclass
class Issuer:
    """Answers with its public keys; `asked` counts. `status` other than 200 is a failure; `padding`
    are bytes behind the keys.
    """

    address: str = ""
    keys: list[ECKey] = field(default_factory=list)
    status: int = 200
    padding: int = 0
    asked: int = 0

    def turn(self, name: str) -> None:
        """Another key in the place of those of before."""
        self.keys = [ECKey.generate_key("P-256", {"kid": name})]

    def token(self, clock: ManualClock) -> str:
        """A token of now, under the newest key."""
        claims = {
            "iss": self.address, "aud": "mnemic", "sub": "ana", "exp": int(clock.now().timestamp()) + 10**6,
        }  # fmt: skip
        return jwt.encode({"alg": "ES256", "kid": self.keys[-1].kid}, claims, self.keys[-1])


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    told = Issuer()
    told.turn("first")

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.asked += 1
            body = json.dumps({"keys": [key.as_dict(private=False) for key in told.keys]}).encode()
            body += b" " * told.padding
            self.send_response(told.status)
            self.send_header("Location", "https://elsewhere.example/keys")
            self.end_headers()
            self.wfile.write(body)

    with listening(Handler) as told.address:
        yield told


async def believing(issuer: Issuer, clock: ManualClock) -> Tokens:
    provider = Provider.from_jwks(
        f"{issuer.address}/keys", issuer=issuer.address, audience="mnemic", default_tenant="acme"
    )
    store = InProcessStore()
    await store.open(WordEmbedder().space)
    return Tokens(ApiKeys(store, clock), clock, provider)


async def believed(tokens: Tokens, text: str) -> bool:
    principal = await tokens.authenticate(text)
    assert principal is None or (principal.tenant, principal.user) == ("acme", "ana")
    return principal is not None


async def test_keys_are_fetched_once_and_anew_when_the_provider_turns_them(issuer: Issuer) -> None:
    clock = ManualClock()
    tokens, old = await believing(issuer, clock), issuer.token(clock)
    assert [await believed(tokens, old) for _ in range(3)] == [True] * 3
    assert issuer.asked == 1
    issuer.turn("second")
    clock.advance(RESTS)
    assert await believed(tokens, issuer.token(clock))
    assert not await believed(tokens, old)
    assert issuer.asked == 2


async def test_keys_that_the_provider_has_withdrawn_are_believed_for_ten_minutes_at_most(issuer: Issuer) -> None:
    clock = ManualClock()
    tokens, old = await believing(issuer, clock), issuer.token(clock)
    assert await believed(tokens, old)
    issuer.turn("second")
    clock.advance(LASTS - timedelta(seconds=1))
    assert await believed(tokens, old)
    clock.advance(timedelta(seconds=1))
    assert not await believed(tokens, old)


async def test_tokens_under_keys_that_nobody_knows_do_not_have_the_provider_asked_again_and_again(
    issuer: Issuer,
) -> None:
    clock, stranger = ManualClock(), Issuer(address=issuer.address)
    tokens = await believing(issuer, clock)
    assert await believed(tokens, issuer.token(clock))
    for number in range(20):
        stranger.turn(f"made-up-{number}")
        assert not await believed(tokens, stranger.token(clock))
    assert issuer.asked == 1
    clock.advance(RESTS)
    assert not await believed(tokens, stranger.token(clock))
    assert issuer.asked == 2


@pytest.mark.parametrize("status", [500, 302])
async def test_while_the_provider_does_not_answer_its_last_keys_are_believed_for_a_day(
    issuer: Issuer, status: int
) -> None:
    clock = ManualClock()
    tokens, text = await believing(issuer, clock), issuer.token(clock)
    assert await believed(tokens, text)
    issuer.status = status
    clock.advance(LASTS)
    assert [await believed(tokens, text) for _ in range(3)] == [True] * 3
    assert issuer.asked == 2
    clock.advance(OUTLASTS)
    assert not await believed(tokens, text)
    issuer.status = 200
    clock.advance(RESTS)
    assert await believed(tokens, text)


async def test_an_answer_that_is_too_large_is_not_read_to_its_end(issuer: Issuer) -> None:
    clock = ManualClock()
    issuer.padding = MAX_BYTES
    tokens = await believing(issuer, clock)
    assert not await believed(tokens, issuer.token(clock))
    issuer.padding = MAX_BYTES // 2
    clock.advance(RESTS)
    assert await believed(tokens, issuer.token(clock))


async def test_a_provider_that_never_answered_is_not_believed_and_nothing_breaks(issuer: Issuer) -> None:
    clock = ManualClock()
    issuer.status = 500
    tokens = await believing(issuer, clock)
    assert not await believed(tokens, issuer.token(clock))
    issuer.status = 200
    clock.advance(RESTS)
    assert await believed(tokens, issuer.token(clock))


@pytest.mark.parametrize(
    "address", ["http://id.example/keys", "http://127.0.0.1.evil.example/keys", "file:///etc/keys", "https:///keys"]
)
def test_an_address_that_others_could_answer_for_is_refused(address: str) -> None:
    with pytest.raises(InvalidConfig, match="jwks"):
        Provider.from_jwks(address, issuer="i", audience="a")
