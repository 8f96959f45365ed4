"""Calls over HTTP: credentials, errors and retries."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from mnemic.errors import InvalidConfig, InvalidInput, MnemicError, ServiceRefused
from mnemic.types import Actor
from mnemic_client.failures import failure_of

RENEWED_AFTER = 1800.0
"""Seconds after which a token, which lives for an hour, is renewed."""
OWN_KEY = ("application_required",)
"""The service's answer to a user's key that asks for a token: the key already acts for a user."""
_NO_KEY = "this service needs a key"
LONGEST_WAIT = 10.0
"""Seconds: a service that asks for a longer rest is not waited for."""


class Remote:
    """One service with one credential. `attempts` includes the first; only idempotent calls are retried, after the
    pause that the service asked for. Raises InvalidConfig (`api_key`) for what can be no key.
    """

    def __init__(
        self,
        url: str,
        api_key: str | None,
        *,
        timeout: float,
        attempts: int,
        transport: httpx.AsyncBaseTransport | None,
        user: Actor | None = None,
        session: str | None = None,
    ) -> None:
        if api_key is not None and (not api_key.isascii() or not api_key.isprintable() or not api_key.strip()):
            raise InvalidConfig("api_key", hint="it is empty, or has characters that no key has; None sends none")
        headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        session = session or (None if user is None else user.session)
        if session is not None:
            headers["Mnemic-Session"] = quote(session, safe="")
        self._given: Any = partial(
            Remote, url, api_key, timeout=timeout, attempts=attempts, transport=transport, session=session
        )
        self._http = httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout, transport=transport)
        self._attempts = attempts
        self.user = user
        self._renewed_at: float | None = None
        self._own = False
        self._owned = True
        self._roles: tuple[str, ...] | None = None
        self._exchange = asyncio.Lock()

    async def _exchange_token(self) -> dict[str, str]:
        """Return the header of a token for the user where the key is an application's; a user's own key needs none."""
        user = self.user
        if user is None or self._own:
            return {}
        # One exchange for all concurrent calls of this user.
        async with self._exchange:
            if self._renewed_at is None or time.monotonic() - self._renewed_at > RENEWED_AFTER:
                body: dict[str, Any] = {"user": user.user, "session": user.session}
                body |= {} if self._roles is None else {"roles": self._roles}
                answer = await self._http.request("POST", "/v1/tokens", json=body)
                problem = {} if answer.is_success else _problem(answer)
                # The key is a user's own and needs no token; only the service knows that.
                if self._roles is None and problem.get("reason") in OWN_KEY:
                    self._own = True
                    return {}
                if problem:
                    raise self._refusal(answer)
                self._token, self._renewed_at = answer.json()["token"], time.monotonic()
        return {"Authorization": f"Bearer {self._token}"}

    def again(self) -> Remote:
        """Return a connection to this service with this credential, for another event loop."""
        one: Remote = self._given(user=self.user)
        return one

    def of(self, user: Actor, roles: Sequence[str]) -> Remote:
        """Return the same service on the same connections, where an application's key acts for `user` with `roles`, by
        tokens that are renewed. Its calls raise ServiceRefused (`application_required`) where the key is a user's own.
        """
        one = copy(self)
        one.user, one._roles, one._owned = user, tuple(roles), False
        one._renewed_at, one._own, one._exchange = None, False, asyncio.Lock()
        return one

    async def close(self) -> None:
        """Close the connections, unless they are another's. May be called twice."""
        if self._owned:
            await self._http.aclose()

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        repeatable: bool = False,
    ) -> Any:
        """Return the answer's JSON, None if it has none. Raises the library's error of the same reason, ServiceRefused,
        and InvalidInput for a body that is no JSON.
        """
        content, typed = encode_json(body)
        given = {name: value for name, value in (headers or {}).items() if value is not None} | typed
        asked = {name: value for name, value in (params or {}).items() if value is not None}
        # A call without one of these may have taken effect although its answer was lost, so it is not repeated.
        again = self._attempts if repeatable or method == "GET" or "Idempotency-Key" in given else 1
        while True:
            again -= 1
            try:
                given |= await self._exchange_token()
                answer = await self._http.request(method, path, content=content, params=asked, headers=given)
                if answer.is_success:
                    return answer.json() if answer.content else None
                failure = self._refusal(answer)
            except httpx.HTTPError as error:
                failure = self._unreachable(error)
            if again <= 0 or not await _wait_as_asked(failure):
                raise failure

    async def lines(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[str]:
        """Return the lines of an answer as they come, without an end of time. Raises as `call` does."""
        async with self._stream(method, path, body, headers) as answer:
            async for line in answer.aiter_lines():
                yield line

    async def chunks(self, method: str, path: str) -> AsyncIterator[str]:
        """Yield the text of a streamed answer, without a time limit. Raises as `call` does."""
        async with self._stream(method, path, None, None) as answer:
            async for text in answer.aiter_text():
                yield text

    @asynccontextmanager
    async def _stream(
        self, method: str, path: str, body: Any, headers: Mapping[str, str] | None
    ) -> AsyncIterator[httpx.Response]:
        try:
            content, typed = encode_json(body)
            shown = {**(headers or {}), **typed, **await self._exchange_token()}
            # A stream may be silent for as long as nothing changes.
            async with self._http.stream(method, path, content=content, headers=shown, timeout=None) as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise self._refusal(answer)
                yield answer
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None

    def _refusal(self, answer: httpx.Response) -> MnemicError:
        problem = _problem(answer)
        if answer.status_code == HTTPStatus.UNAUTHORIZED:
            known = "authorization" in self._http.headers
            wrong = "this service does not know the key, or it has expired or is revoked" if known else _NO_KEY
            problem = {**problem, "detail": f"{wrong}: `api_key=`, made with `mnemic apikeys create`"}
        return failure_of(problem, answer.headers.get("retry-after"))

    def _unreachable(self, error: httpx.HTTPError) -> ServiceRefused:
        place = f"{self._http.base_url.scheme}://{self._http.base_url.netloc.decode('ascii')}"
        told = f"nothing answers at {place} ({type(error).__name__}): is `mnemic serve` running there?"
        return ServiceRefused("unreachable", hint=told)


def encode_json(body: Any) -> tuple[bytes | None, dict[str, str]]:
    """Return a body as JSON, with its content type; nothing for None. Raises InvalidInput (`<field>`) for a value that
    JSON does not have.
    """
    if body is None:
        return None, {}
    try:
        return json_of(body, "body").encode(), {"Content-Type": "application/json"}
    except InvalidInput:
        for name, value in body.items() if isinstance(body, Mapping) else ():
            json_of(value, name)
        raise


def json_of(value: Any, name: str) -> str:
    """Return a value as JSON. Raises InvalidInput (`<name>`) for one that JSON does not have."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(name, hint="it must be JSON without NaN and infinity") from None
    # Half of a character has no UTF-8: escaped, it reaches the service, which reports the error.
    return text if _has_utf8(text) else json.dumps(value, allow_nan=False)


def _has_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


async def events(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, Any, str | None]]:
    """Server-sent events: name, data, id."""
    name, data, event_id = "message", "", None
    async for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            data = value
        elif field == "id":
            event_id = value
        elif not line and data:
            yield name, json.loads(data), event_id
            name, data = "message", ""


def _problem(answer: httpx.Response) -> Mapping[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {"reason": f"status_{answer.status_code}"}


async def _wait_as_asked(failure: MnemicError) -> bool:
    """Wait for the time that the service asked for; return False if it did not ask, or for too long."""
    if failure.retry_after is None or failure.retry_after.total_seconds() > LONGEST_WAIT:
        return False
    await asyncio.sleep(failure.retry_after.total_seconds())
    return True
