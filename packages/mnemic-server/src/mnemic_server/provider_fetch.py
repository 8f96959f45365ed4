"""JSON of an OpenID provider, fetched over the network: bounded in size and time, and never redirected."""

from __future__ import annotations

import asyncio
import json
import time
from base64 import b64encode
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from mnemic.errors import InvalidConfig
from mnemic_server.loopback import is_loopback

SECONDS = 5.0
"""The longest wait for an answer to begin, and twice that for all of it."""
MAX_BYTES = 256 * 1024
"""Maximum bytes of an answer. The keys of large providers are some 10 KiB."""
_PIECE = 16 * 1024


class FetchFailed(Exception):
    """Failure of a fetch: no answer in time, or one that is too large or not a JSON object."""


async def fetch_json(
    url: str, *, form: Mapping[str, str] | None = None, client: tuple[str, str] | None = None
) -> Mapping[str, Any]:
    """Return the JSON object at `url`; with `form` the response to it, under the id and secret of a `client`. Raises
    FetchFailed, and InvalidConfig for an address open to interception.
    """
    require_fetchable(url)
    try:
        async with asyncio.timeout(2 * SECONDS):
            body = await asyncio.to_thread(_fetch, _request(url, form, client))
        data = json.loads(body)
    except (OSError, HTTPException, ValueError) as failure:
        raise FetchFailed(type(failure).__name__) from None
    if not isinstance(data, dict):
        raise FetchFailed("not an object")
    return data


def _request(url: str, form: Mapping[str, str] | None, client: tuple[str, str] | None) -> Request:
    request = Request(url, headers={"Accept": "application/json"})  # noqa: S310 - `require_fetchable` has seen it
    if form is not None:
        request.data = urlencode(form).encode()
    if client is not None:
        # RFC 6749, section 2.3.1: both are form-encoded before they are joined.
        shown = ":".join(quote(part, safe="") for part in client)
        request.add_header("Authorization", "Basic " + b64encode(shown.encode()).decode())
    return request


def _fetch(request: Request) -> bytes:
    """Return the body of an answer of status 200. Raises OSError, ValueError."""
    opener = OpenerDirector()
    for handler in (ProxyHandler(), HTTPHandler(), HTTPSHandler(), HTTPDefaultErrorHandler(), HTTPErrorProcessor()):
        opener.add_handler(handler)
    ends_at = time.monotonic() + 2 * SECONDS
    body = bytearray()
    with opener.open(request, timeout=SECONDS) as response:
        while piece := response.read1(_PIECE):
            body += piece
            if len(body) > MAX_BYTES:
                raise ValueError("too large")
            if time.monotonic() > ends_at:
                raise TimeoutError
    return bytes(body)


def require_fetchable(url: str) -> None:
    """Raise InvalidConfig (`jwks`) for an address open to interception: only https and this machine's loopback are
    safe.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if not host or not (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))):
        raise InvalidConfig("jwks", hint="a file, or an https address")
