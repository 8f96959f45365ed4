"""Tokens are counted by the model's own tokenizer where one is given: no block costs more than its budget in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tiktoken.model
import tiktoken.registry
from langgraph.store.memory import InMemoryStore

from mnemic.agents.langgraph import memory_graph
from mnemic.agents.steps import TurnRules
from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig
from mnemic.inject.citation_check import memory_item
from mnemic.inject.configuration import InjectionConfig
from mnemic.inject.engine_injector import injector_for
from mnemic.inject.token_count import counter_of, estimated_tokens
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate
from tests.scripted_steps import Model, Proposals, wish

ANA = Actor(user="ana")
BYTES = tiktoken.Encoding(
    "bytes",
    pat_str=r"\S+|\s+",
    mergeable_ranks={bytes([byte]): byte for byte in range(256)} | {b"se": 256, b"at": 257, b"seat": 258},
    special_tokens={"<|end|>": 259},
)
"""A vocabulary of bytes and three more: prose costs about four times its estimate."""
PLUGIN = """
from tests.unit.inject.test_counting import BYTES

ENCODING_CONSTRUCTORS = {
    "bytes": lambda: {
        "name": "bytes", "pat_str": BYTES._pat_str, "mergeable_ranks": BYTES._mergeable_ranks,
        "special_tokens": BYTES._special_tokens,
    },
    "far": lambda: (_ for _ in ()).throw(OSError("no network")),
}
"""


def cost(text: str) -> int:
    return len(BYTES.encode_ordinary(text))


async def engine_with(tokenizer: Any, **options: Any) -> MemoryEngine:
    engine = MemoryEngine(
        store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock(), tokenizer=tokenizer, **options
    )
    await engine.open()
    for number in range(12):
        await engine.add(Candidate(content=f"The seat of train {number} is by the window, facing forward."), actor=ANA)
    return engine


async def block_of(engine: MemoryEngine, max_tokens: int) -> str:
    config = InjectionConfig(max_tokens=max_tokens, least_relevance=0.0)
    injection = await injector_for(engine, ANA, config).inject(
        [{"role": "user", "content": "Which seat of the train?"}]
    )
    return injection.text or ""


async def test_a_block_keeps_within_its_budget_in_the_models_own_tokens() -> None:
    estimated = await block_of(await engine_with(None), 400)
    assert cost(estimated) > 400, "else the estimate would do for this vocabulary"
    counted = await block_of(await engine_with(BYTES), 400)
    assert 200 < cost(counted) <= 400
    assert counted.count("<entry") < estimated.count("<entry")


async def test_search_and_run_and_context_keep_within_it_too() -> None:
    engine = await engine_with(BYTES, max_tokens=400)
    found = await engine.search("seat of the train", actor=ANA, top_k=10, max_tokens=200)
    assert found.hits
    assert sum(cost(hit.memory.content) for hit in found.hits) <= 200
    shown = await engine.context("Which seat of the train?", actor=ANA, max_tokens=400)
    assert 0 < cost(shown.text) <= 400
    report = await engine.run(goal="Which seat of the train is mine?", actor=ANA)
    (shown_to_model,) = [step["injected"] for step in report.trace if "injected" in step]
    assert shown_to_model >= 2
    costs = [cost(json.dumps(memory_item("m1", hit), ensure_ascii=False)) for hit in report.hits]
    assert sum(costs[:shown_to_model]) <= 400 < sum(costs[:shown_to_model]) + min(costs)


async def test_a_vocabulary_that_is_cheaper_than_the_estimate_leaves_room_for_more() -> None:
    cheap = await engine_with(lambda text: 1)
    estimated = await engine_with(None)
    assert (await block_of(cheap, 100)).count("<entry") > (await block_of(estimated, 100)).count("<entry")


@pytest.mark.parametrize("kind", ["engine", "store"])
async def test_the_block_of_the_memory_graph_keeps_within_it(kind: str) -> None:
    told = [wish(f"seat {number} by the window, facing forward") for number in range(6)]
    model, rules = Model(), TurnRules(max_memory_tokens=400)
    given: dict[str, Any] = {"rules": rules, "extractor": Proposals(told)}
    memory: Any = InMemoryStore() if kind == "store" else await engine_with(BYTES)
    given |= {"tokenizer": BYTES} if kind == "store" else {}
    graph = memory_graph(memory, model, **given)
    said = " ".join(f"Take seat {number} by the window, facing forward." for number in range(6))
    await graph.ainvoke({"input": said, "user_id": "ana", "thread_id": "t1"})
    await graph.ainvoke({"input": "Which seat by the window?", "user_id": "ana", "thread_id": "t2"})
    assert 200 < cost(model.contexts[-1]["memory_block"]) <= 400


# -- what counts -------------------------------------------------------------------------------------------------------


class Encoding:
    def __init__(self, *ids: int) -> None:
        self.ids = ids

    def __len__(self) -> int:
        return len(self.ids)


class Encoder:
    """Shaped as `tokenizers.Tokenizer` is."""

    def encode(self, text: str) -> Encoding:
        if "\ud800" in text:
            raise UnicodeEncodeError("utf-8", text, 0, 1, "surrogate")
        return Encoding(*text.encode())


@pytest.mark.parametrize(
    ("tokenizer", "tokens"),
    [(BYTES, 2), (BYTES.encode_ordinary("x").__len__, None), (Encoder(), 5), (len, 5), (None, 1)],
)
def test_every_shape_of_tokenizer_counts(tokenizer: Any, tokens: int | None) -> None:
    if tokens is None:
        with pytest.raises(InvalidConfig, match="tokenizer"):
            counter_of(tokenizer)
    else:
        assert counter_of(tokenizer)("seats") == tokens


def test_the_name_of_a_control_token_is_text() -> None:
    assert counter_of(BYTES)("<|end|>") == 7


def test_what_a_tokenizer_cannot_read_costs_its_estimate() -> None:
    assert counter_of(Encoder())("\ud800") == estimated_tokens("\ud800") > 0


@pytest.mark.parametrize("wrong", [3, "o200k_base", lambda _: None, lambda _: 0, lambda _: True, lambda _: 1 / 0])
def test_what_counts_nothing_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidConfig, match="invalid_config:tokenizer"):
        counter_of(wrong)


# -- by name -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An encoding that tiktoken finds as it finds those of other packages, without a network."""
    folder = tmp_path / "tiktoken_ext"
    folder.mkdir()
    (folder / "mnemic_test.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(tiktoken.registry, "ENCODING_CONSTRUCTORS", None)
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    tiktoken.registry._available_plugin_modules.cache_clear()  # a framework of another test may have asked for them
    yield
    monkeypatch.undo()
    tiktoken.registry._available_plugin_modules.cache_clear()


async def test_the_settings_name_a_vocabulary(plugin: None) -> None:
    engine = build_engine(Settings(store="memory:", tokenizer="bytes"))
    assert engine.token_count("seats") == 2
    assert build_engine(Settings(store="memory:", tokenizer="bytes"), tokenizer=len).token_count("seats") == 5
    assert build_engine(Settings(store="memory:")).token_count is estimated_tokens


async def test_or_the_language_model_does(plugin: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tiktoken.model.MODEL_TO_ENCODING, "a-model", "bytes")
    assert build_engine(Settings(store="memory:", tokenizer="model", model="a-model")).token_count("seats") == 2


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ({"tokenizer": "no_such_encoding"}, "tiktoken knows"),
        ({"tokenizer": "model", "model": "no-such-model"}, "tiktoken knows"),
        ({"tokenizer": "far"}, "cannot be fetched: OSError"),
    ],
)
def test_a_vocabulary_that_cannot_be_had_is_said_at_once(plugin: None, settings: dict[str, str], hint: str) -> None:
    with pytest.raises(InvalidConfig, match="invalid_config:tokenizer") as refused:
        build_engine(Settings(store="memory:", **settings))
    assert hint in str(refused.value)
