"""Whatever a model answers, nothing is lost that the rules alone would have kept, at once and in the background."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.engine import MemoryEngine
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.maintenance.background_capture import BackgroundCapture
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.policy.proposal_check import parse_json
from mnemic.providers.retrying import RetryingCompleter
from mnemic.runtime.clock import SystemClock
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Message
from tests.scripted_model import Fault, ModelRequest, Reply, ScriptedModelServer

ACTOR = Actor(user="ana", session="s1")
SAID = [
    "I am allergic to hazelnuts, so please remember that.",
    "My name is Oda and I live in Bergen.",
    "I work as a ferry captain on the northern route.",
    "My mother Ruth turns seventy in June.",
    "Always answer me in short sentences.",
    "I moved to Tromsø last month.",
    "Ich vertrage keine Milch.",
    "Mi hermano Luis vive en Quito.",
    "J'ai deux chats, Plume et Nuit.",
    "We sold the summer house.",
    "I have stopped eating meat.",
    "The wifi password hint is under the blue mug.",
]
WRONG = ["Ulaanbaatar", "the user", "", "null", "health", "walnuts", "no longer true"]


def _shown(request: ModelRequest) -> tuple[list[tuple[int, str]], list[Any]]:
    """Return the messages that the model is to read, by their turns, and the numbers of the known memories."""
    data = json.loads(request.user)
    turns = data.get("turns") or [{"number": 0, "content": data["user_message"]}]
    readable = data.get("readable", [0])
    read = [(one["number"], one["content"]) for one in turns if one["number"] in readable]
    return read, [one["id"] for one in data["known"]]


def _answer(request: ModelRequest, way: str, seed: int) -> Any:
    read, known = _shown(request)
    turn, text = read[seed % len(read)]
    base = {"turn": turn, "op": "add", "id": None, "subject": "me", "holds": "now", "category": "fact", "key": None,
            "value": text, "quote": text, "scope": "user", "ttl_days": None}  # fmt: skip
    wrong = WRONG[seed % len(WRONG)]
    first = known[seed % len(known)] if known else 1
    match way:
        case "silent":
            return {"items": []}
        case "echo":
            return {"items": [base | {"key": "identity", "value": "Oda"}]}
        case "false values":
            return {"items": [base | {"key": "home_city", "value": wrong}, base | {"key": "name", "value": wrong}]}
        case "invented quotes":
            return {"items": [base | {"quote": "I keep an owl", "value": "owl"}]}
        case "category as key":
            return {"items": [base | {"key": "health"}, base | {"key": "preference"}]}
        case "denied":
            return {"items": [base | {"holds": "denied", "subject": "somebody else"}]}
        case "none":
            return {"items": [base | {"op": "none"}]}
        case "odd":
            return {"items": [wrong, None, 5, [base], base | {"op": {}, "ttl_days": "x", "scope": 3}]}
        case "passing":
            return {"items": [base | {"ttl_days": 0.0001, "confidence": 0}]}
        case "end by unrelated words":
            return {"items": [base | {"op": "end", "id": first, "quote": "I keep an owl"}]}
        case "end by what is said of another thing":
            return {"items": [base | {"op": "end", "id": first, "holds": "was"}]}
        case "update by what is said of another thing":
            return {"items": [base | {"op": "update", "id": first, "key": "home_city", "value": wrong}]}
        case "prose":
            return "The user tells something."
        case "cut":
            return json.dumps({"items": [base]})[: 20 + seed % 60]
        case "down":
            return Reply.status(503)
        case "reset":
            return Reply.broken(Fault.RESET)
        case "slow":
            return Reply.broken(Fault.HANG)
    return ""


WAYS = ["silent", "echo", "false values", "invented quotes", "category as key", "denied", "none", "odd", "passing",
        "end by unrelated words", "end by what is said of another thing",
        "update by what is said of another thing", "prose", "cut", "down", "reset", "slow", "blank"]  # fmt: skip


class WithoutWaiting(SystemClock):
    """Retries do not wait."""

    async def sleep(self, duration: timedelta) -> None:
        self.slept = duration


async def _remembered(
    texts: Sequence[str], server: ScriptedModelServer | None, *, background: bool = False
) -> list[tuple[str | None, str]]:
    """Return the keys and words of what is remembered of `texts`."""
    client = None if server is None else OpenAICompleter("m", base_url=server.base_url, api_key="k", timeout=0.2)
    model = None if client is None else RetryingCompleter(client, WithoutWaiting(), attempts=1, check=parse_json)
    more = {} if model is None else {"extractor": LayeredExtractor(ModelExtractor(model))}
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), **more) as engine:
        reader = BackgroundCapture(engine, gathering_seconds=0)
        for text in texts:
            message = Message(role="user", content=text, session="s1")
            if background:
                await reader.put(message, actor=ACTOR)
                await reader.wait_until_read()
            else:
                await engine.capture(message, actor=ACTOR)
        found = [(one.key, one.content) for one in await engine.list(actor=ACTOR, limit=100)]
        await reader.stop()
    if client is not None:
        await client.close()
    return found


def _lost(
    rules: Sequence[tuple[str | None, str]], found: Sequence[tuple[str | None, str]]
) -> list[tuple[str | None, str]]:
    return [one for one in rules if one not in found]


answers = st.lists(st.tuples(st.sampled_from(WAYS), st.integers(0, 10**6)), min_size=4, max_size=4)
talks = st.lists(st.sampled_from(SAID), min_size=1, max_size=4, unique=True)


@given(texts=talks, ways=answers)
@settings(max_examples=40, deadline=None)
def test_no_answer_of_a_model_leaves_less_than_the_rules_alone(texts: list[str], ways: list[tuple[str, int]]) -> None:
    asyncio.run(_compare(texts, ways, background=False))


@given(texts=talks, ways=answers)
@settings(max_examples=40, deadline=None)
def test_no_answer_of_a_model_in_the_background_leaves_less_than_the_rules_alone(
    texts: list[str], ways: list[tuple[str, int]]
) -> None:
    asyncio.run(_compare(texts, ways, background=True))


async def _compare(texts: list[str], ways: list[tuple[str, int]], *, background: bool) -> None:
    rules = await _remembered(texts, None, background=background)
    number = iter(range(10**6))
    with ScriptedModelServer(lambda request: _answer(request, *ways[next(number) % len(ways)])) as server:
        found = await _remembered(texts, server, background=background)
    assert _lost(rules, found) == []


async def test_a_model_that_copies_whatever_is_said_adds_no_thanks_and_no_request_to_memory() -> None:
    said = ["I can't eat gluten.", "Draft a note to Mr. Adeyemi about the delay.", "Busca hotel cerca.", "Danke dir!"]
    open_to_rules = "Also I read everything on my phone."

    def copied(request: ModelRequest) -> Any:
        return {"items": [{"quote": json.loads(request.user)["user_message"]}]}

    with ScriptedModelServer(copied) as server:
        client = OpenAICompleter("small-1b", base_url=server.base_url, api_key="k")
        extractor = LayeredExtractor(ModelExtractor(client))
        async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), extractor=extractor) as engine:
            for text in [*said, open_to_rules]:
                await engine.capture(text, actor=ACTOR)
            found = [one.content for one in await engine.list(actor=ACTOR)]
        await client.close()
    assert sorted(found) == [open_to_rules, said[0]]
