"""One call with the official OpenAI client, bounded by a deadline, with a distinct error for each kind of failure.

The client's own retries are off: `mnemic.providers.retrying` retries within the caller's deadline.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

from mnemic.errors import InvalidConfig
from mnemic.models.clients import ClientPerLoop, OpenModel
from mnemic.plugins.extras import missing_extra
from mnemic.types import Deadline

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")

LONGEST_RETRY_AFTER = timedelta(hours=1)
_PASSING_STATUS = frozenset({408, 409, 425, 429})


class FailureCause(StrEnum):
    """Reason why a call failed."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    AUTH = "auth"
    BUSY = "busy"
    REFUSED = "refused"
    RESPONSE = "response"


@dataclass(slots=True)
class CallFailed(Exception):
    """A call that failed. `about` is the server's own word on a refusal: for decisions, never for messages or logs.
    `sent`: it reached the server, which may have answered or may still be at work.
    """

    trouble: FailureCause
    hint: str
    retry_after: timedelta | None = None
    about: str = ""
    sent: bool = False

    @property
    def permanent(self) -> bool:
        """The same call would fail again."""
        return self.trouble in (FailureCause.AUTH, FailureCause.REFUSED)


class OpenAIClient:
    """Connection pools, one for each event loop. The package is imported and a pool opened at the first call: an
    engine with an unused model needs neither.

    The first call raises InvalidConfig (`invalid_config:openai`) if the package is not installed,
    `invalid_config:api_key` if no key is given for OpenAI itself. Another server gets a placeholder, never the key of
    the environment.
    """

    def __init__(self, *, base_url: str | None, api_key: str | None, timeout: float) -> None:
        if not 0 < timeout < float("inf"):
            raise InvalidConfig("timeout", hint="seconds, more than 0")
        self._base_url = base_url
        self._api_key = api_key or (None if base_url is None else "none")
        self._timeout = timeout
        self._clients = ClientPerLoop(self._create)

    async def call(self, request: Callable[[AsyncOpenAI, float], Awaitable[T]], deadline: Deadline | None) -> T:
        """Return the result of `request(client, seconds)`, finished inside the deadline and the timeout. Raises
        CallFailed, InvalidConfig.
        """
        if self._clients.closed:
            raise CallFailed(FailureCause.REFUSED, "closed")
        require_client()
        client = await self._clients.get()
        import openai

        seconds = self._timeout if deadline is None else min(self._timeout, deadline.remaining())
        if seconds <= 0:
            raise CallFailed(FailureCause.TIMEOUT, "no time left for a call")
        try:
            # The client's timeout bounds each read; a server that drips bytes would outlive it.
            async with asyncio.timeout(seconds):
                return await request(client, seconds)
        except (TimeoutError, openai.APITimeoutError):
            raise CallFailed(FailureCause.TIMEOUT, "no answer in time", sent=True) from None
        except openai.APIConnectionError:
            raise CallFailed(FailureCause.UNREACHABLE, "no connection") from None
        except openai.APIStatusError as error:
            said = f"{error.param or ''} {error.message}"
            raise status_error(error.status_code, error.response.headers.get("retry-after"), said) from None
        except (openai.OpenAIError, ValueError, TypeError):
            raise CallFailed(FailureCause.RESPONSE, "not an answer in OpenAI's format", sent=True) from None

    def _create(self) -> OpenModel[AsyncOpenAI]:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient, OpenAIError

        http = DefaultAsyncHttpxClient(follow_redirects=False)  # neither key nor words go to another server
        try:
            client = AsyncOpenAI(api_key=self._api_key, base_url=self._base_url, max_retries=0, http_client=http)
        except OpenAIError:
            raise InvalidConfig("api_key", hint="set OPENAI_API_KEY, or a base URL of your own server") from None
        return OpenModel(client, client.close)

    async def close(self) -> None:
        """Close the connections. May be called twice."""
        await self._clients.close()


def require_client() -> None:
    """Raise MissingExtra (`invalid_config:openai`) if OpenAI's client is not installed."""
    if find_spec("openai") is None:
        raise missing_extra("openai", setting="openai")


def status_error(status: int, retry_after: str | None, about: str = "") -> CallFailed:
    """Return the error for an answer with this status, the wait that its header asks for, and its statement about the
    call.
    """
    hint = f"HTTP {status}"
    if status in (401, 403):
        return CallFailed(FailureCause.AUTH, hint, sent=True)
    if status in _PASSING_STATUS or status >= 500:
        return CallFailed(FailureCause.BUSY, hint, _retry_after(retry_after), sent=True)
    return CallFailed(FailureCause.REFUSED, hint, about=about, sent=True)


def _retry_after(value: str | None) -> timedelta | None:
    """Return the header's wait (RFC 9110, 10.2.3: seconds or a date), between nothing and an hour; None for anything
    else.
    """
    if not value:
        return None
    try:
        wait = (
            timedelta(seconds=float(value)) if value[0].isdigit() else parsedate_to_datetime(value) - datetime.now(UTC)
        )
    except (ValueError, OverflowError, TypeError):
        return None
    return min(max(wait, timedelta(0)), LONGEST_RETRY_AFTER)
