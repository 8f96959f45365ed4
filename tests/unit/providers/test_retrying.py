from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import (
    EmbedderFailed,
    InvalidConfig,
    MnemicError,
    ModelEmpty,
    ModelFailed,
    ModelInvalidJson,
    ModelTimeout,
    ModelUnavailable,
)
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.ports import Completer, Embedder
from mnemic.providers.retrying import RetryingCompleter, RetryingEmbedder
from mnemic.testing.clock import ManualClock
from mnemic.types import Completion, Deadline, Prompt, Vector, VectorSpace
from tests.scripted_model import Fault, Reply, ScriptedModelServer

PROMPT = Prompt(system="", user="hello")


def marked(error: MnemicError, *, permanent: bool = False, retry_after: timedelta | None = None) -> MnemicError:
    error.permanent, error.retry_after = permanent, retry_after
    return error


class Inner:
    """A provider that raises what it is given, in order, then answers."""

    model = "inner"
    space = VectorSpace(model="inner", dimension=1)

    def __init__(self, *errors: Exception, texts: Sequence[str] = ("{}",)) -> None:
        self.errors = list(errors)
        self.texts = list(texts)
        self.calls = 0
        self.closed = False

    def _call(self) -> None:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        self._call()
        return Completion(text=self.texts.pop(0), model="inner")

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        self._call()
        return [b"\x00\x00\x80\x3f"] * len(texts)

    async def close(self) -> None:
        self.closed = True


def far(clock: ManualClock, seconds: float = 60) -> Deadline:
    return Deadline.after(timedelta(seconds=seconds), clock.monotonic)


def seconds(clock: ManualClock) -> list[float]:
    return [wait.total_seconds() for wait in clock.slept]


@pytest.mark.parametrize("error", [ModelUnavailable(), ModelTimeout(), ModelEmpty(), ModelInvalidJson()], ids=repr)
async def test_a_passing_failure_is_tried_again(error: ModelFailed) -> None:
    clock, inner = ManualClock(), Inner(error, error)
    completion = await RetryingCompleter(inner, clock).complete(PROMPT, deadline=far(clock))
    assert (completion.text, inner.calls, len(clock.slept)) == ("{}", 3, 2)


async def test_waits_double_up_to_the_longest_and_chance_shortens_them() -> None:
    clock, inner = ManualClock(), Inner(*[ModelUnavailable() for _ in range(5)])
    retrying = RetryingCompleter(inner, clock, attempts=6, longest_wait=timedelta(seconds=1), chance=lambda: 1.0)
    await retrying.complete(PROMPT, deadline=far(clock))
    assert seconds(clock) == [0.2, 0.4, 0.8, 1.0, 1.0]
    clock, inner = ManualClock(), Inner(ModelUnavailable(), ModelUnavailable())
    await RetryingCompleter(inner, clock, chance=lambda: 0.5).complete(PROMPT, deadline=far(clock))
    assert seconds(clock) == [0.1, 0.2]


async def test_the_last_failure_is_the_one_reported() -> None:
    clock, inner = ManualClock(), Inner(ModelTimeout(), ModelEmpty(), ModelUnavailable(hint="HTTP 503"))
    with pytest.raises(ModelUnavailable) as caught:
        await RetryingCompleter(inner, clock).complete(PROMPT, deadline=far(clock))
    assert (caught.value.reason, caught.value.hint, inner.calls) == ("llm_unavailable", "HTTP 503", 3)
    assert len(clock.slept) == 2


@pytest.mark.parametrize(
    "error", [marked(ModelUnavailable("auth"), permanent=True), InvalidConfig("api_key")], ids=repr
)
async def test_what_would_fail_again_is_not_tried_again(error: MnemicError) -> None:
    clock, inner = ManualClock(), Inner(error)
    with pytest.raises(type(error)):
        await RetryingCompleter(inner, clock).complete(PROMPT, deadline=far(clock))
    assert (inner.calls, clock.slept) == (1, [])


async def test_the_servers_own_wait_is_kept() -> None:
    clock = ManualClock()
    inner = Inner(marked(ModelUnavailable(), retry_after=timedelta(seconds=7)))
    await RetryingCompleter(inner, clock).complete(PROMPT, deadline=far(clock))
    assert seconds(clock) == [7]


async def test_a_wait_that_outlasts_the_deadline_is_not_begun() -> None:
    clock = ManualClock()
    inner = Inner(marked(ModelUnavailable(), retry_after=timedelta(seconds=30)))
    with pytest.raises(ModelUnavailable):
        await RetryingCompleter(inner, clock).complete(PROMPT, deadline=far(clock, 30))
    assert (inner.calls, clock.slept) == (1, [])


@given(
    attempts=st.integers(1, 8),
    budget=st.floats(0, 20),
    chances=st.lists(st.floats(0, 1, exclude_max=True), min_size=8, max_size=8),
)
async def test_never_more_attempts_and_never_past_the_deadline(
    attempts: int, budget: float, chances: list[float]
) -> None:
    clock, inner = ManualClock(), Inner(*[ModelUnavailable() for _ in range(20)])
    deadline = far(clock, budget)
    with pytest.raises(ModelUnavailable):
        await RetryingCompleter(inner, clock, attempts=attempts, chance=iter(chances).__next__).complete(
            PROMPT, deadline=deadline
        )
    assert 1 <= inner.calls <= attempts
    assert sum(seconds(clock)) <= budget


async def test_text_that_the_check_refuses_is_asked_for_again() -> None:
    def check(text: str) -> object:
        try:
            return json.loads(text)
        except ValueError:
            raise ModelInvalidJson from None

    clock, inner = ManualClock(), Inner(texts=["no json", '{"a": 1}'])
    completion = await RetryingCompleter(inner, clock, check=check).complete(PROMPT, deadline=far(clock))
    assert completion.text == '{"a": 1}'
    clock, inner = ManualClock(), Inner(texts=["no", "still no", '{"a": 1}'])
    with pytest.raises(ModelInvalidJson):
        await RetryingCompleter(inner, clock, check=check).complete(PROMPT, deadline=far(clock))
    assert inner.calls == 2, "a model is told once what was wrong, and is not paid for a third time"


async def test_prose_is_not_asked_for_again_where_it_is_an_answer() -> None:
    def check(text: str) -> object:
        raise ModelInvalidJson

    clock, inner = ManualClock(), Inner(texts=["A lentil curry."])
    prompt = replace(PROMPT, may_be_prose=True)
    completion = await RetryingCompleter(inner, clock, check=check).complete(prompt, deadline=far(clock))
    assert (completion.text, inner.calls) == ("A lentil curry.", 1)


async def test_an_embedder_is_tried_again_with_and_without_a_deadline() -> None:
    clock = ManualClock()
    inner = Inner(EmbedderFailed("unavailable"), EmbedderFailed("timeout"))
    embedder = RetryingEmbedder(inner, clock)
    assert len(await embedder.embed(["a", "b"])) == 2
    assert (inner.calls, len(clock.slept)) == (3, 2)
    assert embedder.space == inner.space


async def test_an_embedder_of_another_dimension_is_not_tried_again() -> None:
    clock, inner = ManualClock(), Inner(marked(EmbedderFailed("dimension"), permanent=True))
    with pytest.raises(EmbedderFailed) as caught:
        await RetryingEmbedder(inner, clock).embed(["a"], deadline=far(clock))
    assert (caught.value.reason, inner.calls) == ("embedder_failed:dimension", 1)


async def test_close_reaches_the_inner_provider() -> None:
    model, embedder = Inner(), Inner()
    completer: Completer = RetryingCompleter(model, ManualClock())
    wrapped: Embedder = RetryingEmbedder(embedder, ManualClock())
    await completer.close()
    await wrapped.close()
    assert (completer.model, model.closed, embedder.closed) == ("inner", True, True)


@pytest.mark.parametrize("attempts", [0, -1, True, 1.5])
def test_impossible_attempts_are_refused(attempts: int) -> None:
    with pytest.raises(InvalidConfig):
        RetryingCompleter(Inner(), ManualClock(), attempts=attempts)


async def test_over_the_wire_accidents_are_survived_without_waiting_for_real() -> None:
    clock = ManualClock()
    accidents = [Reply.status(429, retry_after="11"), Fault.RESET, Reply.status(500), Fault.NO_CHOICES, {"ok": True}]
    with ScriptedModelServer(accidents) as server:
        model = RetryingCompleter(OpenAICompleter("scripted", server.base_url), clock, attempts=5)
        completion = await model.complete(PROMPT, deadline=far(clock))
        await model.close()
    assert json.loads(completion.text) == {"ok": True}
    assert len(server.requests) == 5
    assert seconds(clock)[0] == 11
