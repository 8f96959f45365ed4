"""Calls over HTTP: the credential, the errors, and what is tried again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx

from mnemic.client.failures import failure_of
from mnemic.errors import MnemicError, ServiceRefused

LONGEST_WAIT = 10.0
"""Seconds: a service that asks for a longer rest is not waited for."""


class Remote:
    """One service, as one credential. `attempts` counts the first; only calls that change nothing when they come twice
    are made again, after the rest that the service asked for.
    """

    def __init__(
        self,
        url: str,
        api_key: str | None,
        *,
        timeout: float,
        attempts: int,
        transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        self._http = httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout, transport=transport)
        self._attempts = attempts

    async def close(self) -> None:
        """Close the connections. May be called twice."""
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
        """The answer's JSON, None where it has none. Raises the library's error of the same reason, ServiceRefused."""
        given = {name: value for name, value in (headers or {}).items() if value is not None}
        asked = {name: value for name, value in (params or {}).items() if value is not None}
        again = self._attempts if repeatable or method == "GET" or "Idempotency-Key" in given else 1
        while True:
            again -= 1
            try:
                answer = await self._http.request(method, path, json=body, params=asked, headers=given)
                if answer.is_success:
                    return answer.json() if answer.content else None
                failure = failure_of(_problem(answer), answer.headers.get("retry-after"))
            except httpx.HTTPError as error:
                failure = ServiceRefused("unreachable", hint=type(error).__name__)
            if again <= 0 or not await _rested(failure):
                raise failure

    async def lines(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[str]:
        """The lines of an answer as they come, without an end of time. Raises as `call` does."""
        try:
            async with self._http.stream(method, path, json=body, headers=headers, timeout=None) as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise failure_of(_problem(answer), answer.headers.get("retry-after"))
                async for line in answer.aiter_lines():
                    yield line
        except httpx.HTTPError as error:
            raise ServiceRefused("unreachable", hint=type(error).__name__) from None


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


async def _rested(failure: MnemicError) -> bool:
    """Wait as long as the service asked for; False where it did not ask, or for too long."""
    if failure.retry_after is None or failure.retry_after.total_seconds() > LONGEST_WAIT:
        return False
    await asyncio.sleep(failure.retry_after.total_seconds())
    return True
