"""An embedder and a language model behind a network that fails in every way: calls end by their deadline, say why, and
the next one after the trouble works.

How long the slowest call took is said at full size, not asserted: a loaded machine is not a bug.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from mnemic.errors import EmbedderFailed, MnemicError, ModelFailed
from mnemic.models.http_embedder import HttpEmbedder
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.types import Deadline, Prompt
from tests.faults.network_proxy import BlackHole, Corrupt, CutAfter, Fault, FaultProxy, Latency, Reset, Slice
from tests.faults.scale import size
from tests.scripted_model import ScriptedModelServer

CALLS = size(3, 100)
LIMIT = 0.5
HUNG = 60  # seconds after which a call counts as hung
DIMENSION = 8

FAULTS: dict[str, Callable[[], Fault]] = {
    "late": lambda: Latency(0.005),
    "too late": lambda: Latency(2.0),
    "black hole": BlackHole,
    "reset": Reset,
    "slices": lambda: Slice(64),
    "corrupt": lambda: Corrupt(0.3),
    "cut": lambda: CutAfter(60),
}
HARMLESS = {"late", "slices"}

Call = Callable[[Deadline], Awaitable[object]]


def address(server: ScriptedModelServer) -> tuple[str, int]:
    where = urlsplit(server.base_url)
    assert where.hostname
    assert where.port
    return where.hostname, where.port


def within(seconds: float) -> Deadline:
    return Deadline.after(timedelta(seconds=seconds), time.monotonic)


async def outcomes(proxy: FaultProxy, fault: Callable[[], Fault], call: Call) -> tuple[Counter[str], list[float]]:
    """How calls under the fault ended, and how long each took."""
    seen: Counter[str] = Counter()
    took: list[float] = []
    for _ in range(CALLS):
        proxy.fault = fault()
        began = time.monotonic()
        async with asyncio.timeout(HUNG):
            try:
                await call(within(LIMIT))
                seen["ok"] += 1
            except (EmbedderFailed, ModelFailed) as error:
                seen[error.reason] += 1
        took.append(time.monotonic() - began)
    proxy.fault = None
    async with asyncio.timeout(HUNG):
        while True:
            try:
                await call(within(HUNG))
                return seen, took
            except MnemicError:  # a connection that was broken may be met once more
                await asyncio.sleep(0)


@pytest.mark.parametrize("name", FAULTS)
async def test_an_embedder_ends_by_its_deadline(name: str, say: Callable[[str], None]) -> None:
    with ScriptedModelServer(dimension=DIMENSION) as server:
        async with FaultProxy(address(server)) as proxy:
            embedder = HttpEmbedder("http://{}:{}/v1".format(*proxy.address), "tiny", DIMENSION, "sk-test")

            async def call(deadline: Deadline) -> None:
                (vector,) = await embedder.embed(["harbour"], deadline=deadline)
                assert len(vector) == 4 * DIMENSION

            seen, took = await outcomes(proxy, FAULTS[name], call)
            await embedder.close()
    _judge(name, "embedder", seen, took, say)


@pytest.mark.parametrize("name", FAULTS)
async def test_a_model_ends_by_its_deadline(name: str, say: Callable[[str], None]) -> None:
    with ScriptedModelServer([{"items": ["a"]}] * 10_000) as server:
        async with FaultProxy(address(server)) as proxy:
            model = OpenAICompleter("scripted", base_url="http://{}:{}/v1".format(*proxy.address), api_key="sk-test")
            asked = Prompt(system="Answer.", user="harbour", schema_name="x", schema=None, max_output_tokens=9)

            async def call(deadline: Deadline) -> None:
                assert (await model.complete(asked, deadline=deadline)).text

            seen, took = await outcomes(proxy, FAULTS[name], call)
            await model.close()
    _judge(name, "model", seen, took, say)


def _judge(name: str, what: str, seen: Counter[str], took: list[float], say: Callable[[str], None]) -> None:
    late = sum(seconds > LIMIT + 0.1 for seconds in took)
    say(f"{what}, {name}: {len(took)} calls, {late} past {LIMIT} s + 0.1, slowest {max(took):.3f} s; {dict(seen)}")
    if name in HARMLESS:
        assert set(seen) <= {"ok", "embedder_failed:timeout", "llm_timeout"}
    elif name != "corrupt":
        assert seen["ok"] == 0
