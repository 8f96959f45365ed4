"""A model that does not answer is left alone for a while, and nobody waits for it meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pytest

from mnemic.errors import EmbedderFailed, MnemicError, ModelEmpty, ModelTimeout, ModelUnavailable
from mnemic.providers.model_breakers import CROWD, FEW, TRIAL_WAIT, BreakingCompleter, BreakingEmbedder
from mnemic.testing.clock import ManualClock
from mnemic.types import Completion, Deadline, Prompt, Vector, VectorSpace

SPACE = VectorSpace(model="m", dimension=2)


class Inner:
    """An embedder and a model that do as they are told, and count."""

    model = "m"
    space = SPACE

    def __init__(self) -> None:
        self.failure: MnemicError | None = None
        self.asked = 0
        self.allowed: list[float | None] = []
        self.shut = False
        self.held: asyncio.Event | None = None
        self.answered = asyncio.Event()
        self.cancelled = asyncio.Event()

    def _answer(self, deadline: Deadline | None) -> None:
        self.asked += 1
        self.allowed.append(None if deadline is None else deadline.remaining())
        if self.failure is not None:
            raise self.failure

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        self._answer(deadline)
        if self.held is not None:
            try:
                await self.held.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
            self.answered.set()
        return [np.array([1.0, 0.0], dtype=np.float32) for _ in texts]

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        self._answer(deadline)
        return Completion(text="{}", model="m")

    async def close(self) -> None:
        self.shut = True


async def embed_fails(embedder: BreakingEmbedder, deadline: Deadline | None = None) -> str:
    with pytest.raises(EmbedderFailed) as failed:
        await embedder.embed(["x"], deadline=deadline)
    return failed.value.reason


async def test_an_embedder_that_is_not_reached_is_asked_three_times_and_after_a_rest_again() -> None:
    inner, clock = Inner(), ManualClock()
    embedder = BreakingEmbedder(inner, clock)
    inner.failure = EmbedderFailed("unavailable")
    told = [await embed_fails(embedder) for _ in range(6)]
    assert told == ["embedder_failed:unavailable"] * 3 + ["embedder_failed:circuit_open"] * 3
    assert inner.asked == 3
    clock.advance(timedelta(seconds=15))
    assert await embed_fails(embedder) == "embedder_failed:unavailable"
    assert await embed_fails(embedder) == "embedder_failed:circuit_open"
    clock.advance(timedelta(seconds=15))
    inner.failure = None
    assert len(await embedder.embed(["x"])) == 1
    inner.failure = EmbedderFailed("unavailable")
    assert await embed_fails(embedder) == "embedder_failed:unavailable"
    assert embedder.space is SPACE
    await embedder.close()
    assert inner.shut


async def test_an_embedder_that_hangs_is_waited_for_once() -> None:
    inner, clock = Inner(), ManualClock()
    embedder = BreakingEmbedder(inner, clock)
    inner.failure = EmbedderFailed("timeout")
    told = [await embed_fails(embedder) for _ in range(3)]
    assert told == ["embedder_failed:timeout", "embedder_failed:circuit_open", "embedder_failed:circuit_open"]
    assert inner.asked == 1


async def test_a_caller_whose_time_was_shorter_does_not_open_the_circuit_alone() -> None:
    inner, clock = Inner(), ManualClock()
    embedder = BreakingEmbedder(inner, clock)
    inner.failure = EmbedderFailed("timeout")
    shorter = Deadline.after(timedelta(seconds=3), clock.monotonic)
    told = [await embed_fails(embedder, shorter) for _ in range(4)]
    assert told == ["embedder_failed:timeout"] * 3 + ["embedder_failed:circuit_open"]


async def test_the_trial_of_an_open_circuit_goes_on_without_its_caller() -> None:
    """An embedder that hangs on costs nobody its whole time again; one that is only slow is found to answer."""
    inner, clock = Inner(), ManualClock()
    embedder = BreakingEmbedder(inner, clock)
    inner.failure = EmbedderFailed("timeout")
    await embed_fails(embedder)
    inner.failure, inner.held = None, asyncio.Event()
    clock.advance(timedelta(seconds=15))
    assert await embed_fails(embedder) == "embedder_failed:circuit_open"
    assert clock.slept == [TRIAL_WAIT]
    assert await embed_fails(embedder) == "embedder_failed:circuit_open"
    assert inner.asked == 2
    inner.held.set()
    await inner.answered.wait()
    assert len(await embedder.embed(["x"])) == 1


async def test_a_trial_ends_with_its_embedder() -> None:
    inner, clock = Inner(), ManualClock()
    embedder = BreakingEmbedder(inner, clock)
    inner.failure = EmbedderFailed("timeout")
    await embed_fails(embedder)
    inner.failure, inner.held = None, asyncio.Event()
    clock.advance(timedelta(seconds=15))
    assert await embed_fails(embedder) == "embedder_failed:circuit_open"
    await embedder.close()
    await inner.cancelled.wait()
    assert inner.shut


async def test_a_crowd_does_not_wait_for_an_embedder_that_answers_nobody() -> None:
    """Each caller keeps a place of the service: a few find out whether it hangs, the others go on without a vector."""
    inner, clock = Inner(), ManualClock()
    embedder = BreakingEmbedder(inner, clock)
    inner.held = asyncio.Event()
    few = [asyncio.ensure_future(embedder.embed(["x"])) for _ in range(CROWD)]
    await asyncio.sleep(0)
    assert [await embed_fails(embedder) for _ in range(4)] == ["embedder_failed:circuit_open"] * 4
    assert not any(one.done() for one in few)
    assert clock.slept == [TRIAL_WAIT] * 4
    inner.held.set()
    assert [len(await one) for one in few] == [1] * CROWD
    inner.held = None
    assert len(await embedder.embed(["x"])) == 1


class HeldClock(ManualClock):
    """A clock on which a pause lasts until it is told to end."""

    def __init__(self) -> None:
        super().__init__()
        self.passed = asyncio.Event()

    async def sleep(self, duration: timedelta) -> None:
        await self.passed.wait()


async def test_a_crowd_of_which_somebody_is_answered_goes_on_waiting() -> None:
    inner, clock = Inner(), HeldClock()
    embedder = BreakingEmbedder(inner, clock)
    inner.held = first = asyncio.Event()
    quick = asyncio.ensure_future(embedder.embed(["x"]))
    await asyncio.sleep(0)
    inner.held = rest = asyncio.Event()
    crowd = [asyncio.ensure_future(embedder.embed(["x"])) for _ in range(CROWD + 3)]
    await asyncio.sleep(0)
    first.set()
    await quick
    clock.passed.set()
    for _ in range(5):
        await asyncio.sleep(0)
    assert not any(one.done() for one in crowd)
    rest.set()
    assert [len(await one) for one in crowd] == [1] * len(crowd)


@pytest.mark.parametrize("reason", ["auth", "response", "dimension"])
async def test_what_is_answered_badly_was_answered(reason: str) -> None:
    inner, clock = Inner(), ManualClock()
    embedder = BreakingEmbedder(inner, clock)
    inner.failure = EmbedderFailed(reason)
    assert {await embed_fails(embedder) for _ in range(9)} == {f"embedder_failed:{reason}"}


async def test_what_was_given_no_time_says_nothing() -> None:
    inner, clock = Inner(), ManualClock()
    embedder = BreakingEmbedder(inner, clock)
    inner.failure = EmbedderFailed("timeout")
    hurry = Deadline.after(timedelta(seconds=1), clock.monotonic)
    assert {await embed_fails(embedder, hurry) for _ in range(9)} == {"embedder_failed:timeout"}


async def test_few_texts_are_not_waited_for_long_and_many_are() -> None:
    inner, clock = Inner(), ManualClock()
    embedder = BreakingEmbedder(inner, clock)
    await embedder.embed(["x"])
    await embedder.embed(["x"], deadline=Deadline.after(timedelta(seconds=60), clock.monotonic))
    await embedder.embed(["x"], deadline=Deadline.after(timedelta(seconds=3), clock.monotonic))
    await embedder.embed(["x"] * (FEW + 1))
    assert inner.allowed == [8.0, 8.0, 3.0, None]


@pytest.mark.parametrize("failure", [ModelTimeout(), ModelUnavailable()])
async def test_a_model_that_does_not_answer_is_left_alone(failure: MnemicError) -> None:
    inner, clock = Inner(), ManualClock()
    completer = BreakingCompleter(inner, clock)
    inner.failure = failure
    later = Deadline.after(timedelta(seconds=600), clock.monotonic)
    for _ in range(5):
        with pytest.raises((ModelTimeout, ModelUnavailable)):
            await completer.complete(Prompt(system="s", user="u"), deadline=later)
    assert inner.asked == 3
    clock.advance(timedelta(seconds=15))
    inner.failure = ModelEmpty()
    with pytest.raises(ModelEmpty):
        await completer.complete(Prompt(system="s", user="u"), deadline=later)
    inner.failure = None
    assert (await completer.complete(Prompt(system="s", user="u"), deadline=later)).text == "{}"
    assert completer.model == "m"
    await completer.close()
    assert inner.shut


async def test_what_a_model_refuses_for_good_opens_nothing() -> None:
    inner, clock = Inner(), ManualClock()
    completer = BreakingCompleter(inner, clock)
    inner.failure = ModelUnavailable("auth")
    inner.failure.permanent = True
    later = Deadline.after(timedelta(seconds=600), clock.monotonic)
    for _ in range(9):
        with pytest.raises(ModelUnavailable):
            await completer.complete(Prompt(system="s", user="u"), deadline=later)
    assert inner.asked == 9
