"""Callers that share runs of the model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from mnemic.errors import EmbedderFailed
from mnemic.providers import minilm
from mnemic.providers.minilm import InProcessEmbedder, MiniLmEmbedder
from mnemic.types import Deadline, Vector, VectorSpace

FIRST = "Somebody asks first, so the model is busy when the others come."
QUESTIONS = [f"Where do I keep {name}?" for name in ("tea", "milk", "bread", "salt", "rice", "wine", "soap", "fish")]
OTHER = "What is the name of the dentist in the street behind the station?"


class Held:
    """The model of an embedder, held in its first run until `release`; `runs` are the texts of each."""

    def __init__(self, embedder: InProcessEmbedder, patch: pytest.MonkeyPatch) -> None:
        self.runs: list[list[str]] = []
        self.release, self._busy = threading.Event(), threading.Event()
        self._make: Callable[[Sequence[str]], list[Vector]] = embedder._make
        patch.setattr(embedder, "_make", self._run)

    def _run(self, texts: Sequence[str]) -> list[Vector]:
        self.runs.append(list(texts))
        self._busy.set()
        assert self.release.wait(30)
        return self._make(texts)

    async def until_busy(self) -> None:
        """Return once the first run has begun."""
        assert await asyncio.to_thread(self._busy.wait, 30)


async def crowd(embedder: InProcessEmbedder, held: Held, texts: Sequence[str], **given: Any) -> list[Any]:
    """Return the results of callers with one text each that come while the model is busy with another's."""
    first = asyncio.ensure_future(embedder.embed([FIRST]))
    await held.until_busy()
    calls = [asyncio.ensure_future(embedder.embed([text], **given)) for text in texts]
    await asyncio.sleep(0)
    held.release.set()
    await first
    return await asyncio.gather(*calls, return_exceptions=True)


async def test_callers_that_come_while_the_model_is_busy_share_its_next_run(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder, alone = MiniLmEmbedder(), MiniLmEmbedder()
    await embedder.warm()
    held = Held(embedder, monkeypatch)
    told = await crowd(embedder, held, [*QUESTIONS, OTHER])
    assert held.runs == [[FIRST], QUESTIONS, [OTHER]]
    assert told == [await alone.embed([text]) for text in (*QUESTIONS, OTHER)]  # to the byte
    for each in (embedder, alone):
        await each.close()


async def test_vectors_of_a_shared_run_are_to_the_byte_those_of_runs_alone() -> None:
    model = minilm._Model(1, 256)
    for words in range(1, 30):
        texts = [f"{name} " + "and tea " * words for name in ("milk", "bread", "salt", "rice", "wine", "soap", "fish")]
        assert len({model.tokens(text) for text in texts}) == 1
        assert model(texts) == [model([text])[0] for text in texts]


async def test_a_caller_that_has_gone_is_not_embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = MiniLmEmbedder()
    await embedder.warm()
    held = Held(embedder, monkeypatch)
    first = asyncio.ensure_future(embedder.embed([FIRST]))
    await held.until_busy()
    gone, stays = (asyncio.ensure_future(embedder.embed([text])) for text in QUESTIONS[:2])
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.wait({gone})
    held.release.set()
    await first
    await stays
    assert held.runs == [[FIRST], [QUESTIONS[1]]]
    await embedder.close()


def _without_salt(texts: Sequence[str]) -> list[Vector]:
    if any("salt" in text for text in texts):
        raise EmbedderFailed("not_finite")
    return [text.encode() for text in texts]


class Plain:
    """A model without vectors worth the name, which fails for salt."""

    def __call__(self, texts: Sequence[str]) -> list[Vector]:
        return _without_salt(texts)

    def tokens(self, text: str) -> int:
        return 7


async def test_a_text_that_fails_fails_its_own_caller_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = InProcessEmbedder(VectorSpace(model="plain", dimension=1), Plain)
    told = await crowd(embedder, Held(embedder, monkeypatch), QUESTIONS)
    failed = [isinstance(one, EmbedderFailed) for one in told]
    assert failed == ["salt" in text for text in QUESTIONS]
    assert [one for one in told if isinstance(one, list)] == [
        [text.encode()] for text in QUESTIONS if "salt" not in text
    ]
    await embedder.close()


async def test_a_model_that_counts_no_tokens_embeds_each_text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = InProcessEmbedder(VectorSpace(model="plain", dimension=1), lambda: _without_salt)
    held = Held(embedder, monkeypatch)
    await crowd(embedder, held, QUESTIONS[:3], deadline=Deadline(float("inf"), lambda: 0.0))
    assert held.runs == [[FIRST], *([text] for text in QUESTIONS[:3])]
    await embedder.close()


async def test_a_model_that_cannot_be_loaded_is_told_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> Any:
        raise EmbedderFailed("model_file")

    embedder = InProcessEmbedder(VectorSpace(model="plain", dimension=1), refused)
    entered, go = threading.Event(), threading.Event()
    embedder._short.submit(lambda: entered.set() or go.wait(30))
    calls = [asyncio.ensure_future(embedder.embed([text])) for text in QUESTIONS]
    await asyncio.sleep(0)
    go.set()
    told = await asyncio.gather(*calls, return_exceptions=True)
    assert [getattr(one, "reason", None) for one in told] == ["embedder_failed:model_file"] * len(QUESTIONS)
    await embedder.close()
