"""Public keys of an OpenID provider: from a file, or fetched from the provider and refreshed when they change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from mnemic.ports import Clock
from mnemic_server.provider_fetch import FetchFailed, fetch_json, require_fetchable

LASTS = timedelta(minutes=10)
"""Time for which fetched keys are used before they are fetched again."""
RESTS = timedelta(seconds=30)
"""Minimum time between two fetches, also for tokens under unknown keys and if the provider does not answer."""
OUTLASTS = timedelta(hours=24)
"""Time for which fetched keys are used while the provider does not answer."""
_log = logging.getLogger(__name__)


class FixedKeys:
    """Keys that never change."""

    def __init__(self, keys: Mapping[str, Any]) -> None:
        self._keys = KeySet.import_key_set(keys)  # type: ignore[arg-type]

    async def current(self, *, anew: bool = False) -> KeySet | None:
        """Return the keys; None with `anew`, since there are no newer ones."""
        return None if anew else self._keys


class FetchedKeys:
    """Keys at an address. Only one request runs at a time, and none is redirected. Times are of the clock's monotonic
    seconds.
    """

    def __init__(self, url: str, clock: Clock) -> None:
        require_fetchable(url)
        self._url = url
        self._clock = clock
        self._keys: KeySet | None = None
        self._fetched_at = self._tried_at = -OUTLASTS.total_seconds()
        self._one = asyncio.Lock()

    async def current(self, *, anew: bool = False) -> KeySet | None:
        """Return the keys; None if there are none, and with `anew` if no newer ones are available yet."""
        before = self._keys
        if anew or self._older_than(LASTS, self._fetched_at):
            async with self._one:
                if self._keys is before and self._older_than(RESTS, self._tried_at):
                    await self._fetch()
        if self._older_than(OUTLASTS, self._fetched_at):
            self._keys = None
        return None if anew and self._keys is before else self._keys

    async def _fetch(self) -> None:
        """Fetch the keys. Unless the response contains keys, the previous ones remain."""
        self._tried_at = self._clock.monotonic()
        try:
            self._keys = KeySet.import_key_set(await fetch_json(self._url))  # type: ignore[arg-type]
        except (FetchFailed, JoseError, ValueError, KeyError, TypeError) as failure:
            _log.warning("a provider's keys could not be fetched", extra={"error": type(failure).__name__})
            return
        self._fetched_at = self._tried_at

    def _older_than(self, age: timedelta, at: float) -> bool:
        return self._clock.monotonic() - at >= age.total_seconds()
