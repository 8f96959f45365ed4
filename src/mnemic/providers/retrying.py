"""Retries of transient failures: exponential backoff with full jitter, within the caller's deadline.

Implemented here because `stamina` bounds its retries by its own seconds and sleeps on the real clock, where Deadline
and Clock are needed.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from mnemic.errors import EmbedderFailed, InvalidConfig, MnemicError, ModelFailed, ModelInvalidJson
from mnemic.ports import Clock, Completer, Embedder
from mnemic.ports.providers import count_calls, reads_files
from mnemic.types import Completion, Deadline, Prompt, Vector, VectorSpace

T = TypeVar("T")

# Their two waits take 0.3 s on average and 0.6 s at most, unless the server asks for more.
ATTEMPTS = 3
REPAIR = "\nYour last answer could not be read ({error}). Answer with the JSON object alone."
FIRST_WAIT = timedelta(milliseconds=200)
LONGEST_WAIT = timedelta(seconds=5)


class RetryingCompleter:
    """Asks `inner` up to `attempts` times in all.

    Retried is every ModelFailed that is not `permanent`: timeouts, lost connections, 429 and 5xx, empty answers - and,
    with `check`, text it refuses. `check` gets each completion's text; the ModelFailed it raises counts as a failed
    attempt, and after ModelInvalidJson the model is asked once more, with the error named. Before the n-th retry passes
    a random time up to 200 ms * 2**(n-1), at most `longest_wait` ("full jitter": Brooker, "Exponential Backoff And
    Jitter", AWS Architecture Blog, 2015), or what the server asked for if that is longer. A wait that would outlast the
    deadline is not begun: the last error is raised.
    """

    is_metered = True

    def __init__(
        self,
        inner: Completer,
        clock: Clock,
        *,
        attempts: int = ATTEMPTS,
        longest_wait: timedelta = LONGEST_WAIT,
        chance: Callable[[], float] = random.random,
        check: Callable[[str], object] | None = None,
    ) -> None:
        self._inner = count_calls(inner)
        self._check = check
        self._retry = _Retry(clock, attempts, longest_wait, chance)

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def reads_files(self) -> bool:
        return reads_files(self._inner)

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        asked = prompt

        async def attempt() -> Completion:
            nonlocal asked
            completion = await self._inner.complete(asked, deadline=deadline)
            if self._check is not None and not prompt.may_be_prose:
                try:
                    self._check(completion.text)
                except ModelInvalidJson as wrong:
                    # At temperature 0 the same prompt gives the same answer; a second repair helps no more.
                    wrong.permanent = asked is not prompt
                    asked = replace(prompt, system=prompt.system + REPAIR.format(error=wrong.hint))
                    raise
            return completion

        return await self._retry.run(attempt, ModelFailed, deadline)

    async def close(self) -> None:
        await self._inner.close()


class RetryingEmbedder:
    """Asks `inner` up to three times in all, for every EmbedderFailed that is not `permanent`.

    Waits are those of `RetryingCompleter`.
    """

    def __init__(self, inner: Embedder, clock: Clock) -> None:
        self._inner = inner
        self._retry = _Retry(clock)

    @property
    def space(self) -> VectorSpace:
        return self._inner.space

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        return await self._retry.run(lambda: self._inner.embed(texts, deadline=deadline), EmbedderFailed, deadline)

    async def close(self) -> None:
        await self._inner.close()


class _Retry:
    def __init__(
        self,
        clock: Clock,
        attempts: int = ATTEMPTS,
        longest_wait: timedelta = LONGEST_WAIT,
        chance: Callable[[], float] = random.random,
    ) -> None:
        if type(attempts) is not int or attempts < 1:
            raise InvalidConfig("attempts", hint="a whole number, at least 1")
        self._clock = clock
        self._attempts = attempts
        self._longest_wait = longest_wait
        self._chance = chance

    async def run(
        self, attempt: Callable[[], Awaitable[T]], retried: type[MnemicError], deadline: Deadline | None
    ) -> T:
        for number in range(1, self._attempts + 1):
            try:
                return await attempt()
            except retried as error:
                wait = self._wait(number, error)
                if number == self._attempts or error.permanent or _outlasts(wait, deadline):
                    raise
                await self._clock.sleep(wait)
        raise AssertionError  # the loop ends by return or raise

    def _wait(self, number: int, error: MnemicError) -> timedelta:
        # 32: `2 ** n` of a large n is no float any more, and the wait is bounded far below it.
        ceiling = min(self._longest_wait, FIRST_WAIT * float(2 ** min(number - 1, 32)))
        # A server that names a time is right even if it is longer than ours.
        return max(self._chance() * ceiling, error.retry_after or timedelta(0))


def _outlasts(wait: timedelta, deadline: Deadline | None) -> bool:
    return deadline is not None and wait.total_seconds() >= deadline.remaining()
