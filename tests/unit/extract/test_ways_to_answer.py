"""The ways in which models and their servers answer: what was said is kept in each of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.policy.proposal_check import parse_json
from mnemic.prompts import capture_prompt
from mnemic.providers.retrying import RetryingCompleter
from mnemic.runtime.clock import SystemClock
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Deadline, Message
from tests.scripted_model import Fault, Reply, ScriptedModelServer

TEXT = "My son Elio gets hives from cashews, keep that in mind."
ITEM: dict[str, Any] = {
    "quote": "My son Elio gets hives from cashews",
    "op": "add",
    "id": None,
    "subject": "son Elio",
    "holds": "now",
    "category": "relation",
    "key": None,
    "value": "hives from cashews",
    "scope": "user",
    "ttl_days": None,
}
WHOLE = {"items": [ITEM]}
ANSWER = json.dumps(WHOLE)
FENCE = "```"


def item(**fields: Any) -> str:
    return json.dumps({"items": [{**ITEM, **fields}]})


def without(*names: str) -> str:
    return json.dumps({"items": [{name: value for name, value in ITEM.items() if name not in names}]})


def body(content: Any, *, finish: str = "stop", **message: Any) -> Reply:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    return Reply(body={"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})


def once(code: int, **more: Any) -> list[Any]:
    """A refused request, and an answer to the next one."""
    return [Reply(code=code, **more), ANSWER]


CALL = {"id": "c", "type": "function", "function": {"name": "memory_candidates", "arguments": ANSWER}}
CHUNK = {
    "id": "1",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "delta": {"content": ANSWER}}],
}
FORMS: Mapping[str, Any] = {
    "as asked": ANSWER,
    "indented": json.dumps(WHOLE, indent=2),
    "fenced": f"{FENCE}json\n{ANSWER}\n{FENCE}",
    "fenced, no language": f"{FENCE}\n{ANSWER}\n{FENCE}",
    "fenced, no end": f"{FENCE}json\n{ANSWER}",
    "fenced, with words around": f"Of course!\n\n{FENCE}json\n{ANSWER}\n{FENCE}\n\nAnything else?",
    "words before": f"The items are:\n{ANSWER}",
    "words after": f"{ANSWER}\n\nOne allergy was found.",
    "an example before": f'Nothing would be {{"items": []}}, but here:\n{ANSWER}',
    "thought before": f"<think>They speak of a son. {{hm}}</think>\n{ANSWER}",
    "thought before a fence": f"<thinking>{FENCE}a{FENCE}</thinking>\n{FENCE}json\n{ANSWER}\n{FENCE}",
    "thought, then words": f"<think>x</think>Here you are: {ANSWER}",
    "a byte order mark": "\ufeff" + ANSWER,
    "a last comma": ANSWER[:-2] + ",]}",
    "as Python writes it": str(WHOLE),
    "None for null": ANSWER.replace("null", "None"),
    "no number": item(confidence=1).replace('"confidence": 1', '"confidence": NaN'),
    "a list": json.dumps([ITEM]),
    "one item": json.dumps(ITEM),
    "an item where the list is asked for": json.dumps({"items": ITEM}),
    "wrapped": json.dumps({"result": WHOLE}),
    "under another name": json.dumps({"facts": [ITEM]}),
    "as text within JSON": json.dumps({"items": [ITEM], "comment": "one"}),
    "one of two is broken": json.dumps({"items": [ITEM, {"x": 1}]}),
    "a text among the items": json.dumps({"items": ["allergy", ITEM]}),
    "twice": json.dumps({"items": [ITEM, ITEM]}),
    "more than asked for": json.dumps({"items": [ITEM] * 12}),
    "cut after an item": ANSWER[:-2] + ', {"quote": "keep th',
    "cut within an item": ANSWER[: len(ANSWER) // 2],
    "cut, and it says so": [body(ANSWER[:70], finish="length"), ANSWER],
}
LABELS: Mapping[str, Any] = {
    **{f"{name} is missing": without(name) for name in ITEM if name != "quote"},
    **{f"{name} is null": item(**{name: None}) for name in ITEM if name != "quote"},
    "only a quote": json.dumps({"items": [{"quote": ITEM["quote"]}]}),
    "op in capitals": item(op="ADD"),
    "op insert": item(op="insert"),
    "op create": item(op="create"),
    "op is a list": item(op=["add"]),
    "op is a number": item(op=1),
    "id of nothing": item(id=0),
    "category in capitals": item(category="Relation"),
    "another category": item(category="allergies"),
    "scope in capitals": item(scope="USER"),
    "another scope": item(scope="family"),
    "a key": item(key="allergy"),
    "a key with spaces": item(key="Son's Allergy"),
    "a key in capitals": item(key="sonAllergy"),
    "an empty key": item(key=""),
    "a key named null": item(key="null"),
    "a number as key": item(key=7),
    "confidence as text": item(confidence="0.8"),
    "confidence in percent": item(confidence=80),
    "confidence in words": item(confidence="very high"),
    "days in words": item(ttl_days="90 days"),
    "no days": item(ttl_days=0),
    "days of the past": item(ttl_days=-3),
    "a list of values": item(value=["hives", "cashews"]),
    "a value that is a number": item(value=3),
    "a value that is true": item(value=True),
    "a value in other words": item(value="cashew allergy"),
    "a value about a third person": item(value="User's son Elio is allergic to cashews."),
    "quote: all of the message": item(quote=TEXT),
    "quote: an ellipsis": item(quote="My son Elio ... cashews"),
    "quote: other capitals": item(quote="MY SON ELIO GETS HIVES FROM CASHEWS"),
    "quote: typographic marks": item(quote="“My son Elio gets hives from cashews”"),
    "quote: in other words": item(quote="Elio has a cashew allergy"),
    "quote: missing": without("quote"),
    "further fields": item(reason="said so", importance=9, source={"turn": 1}),
}
SERVERS: Mapping[str, Any] = {
    "reasoning beside the answer": body(ANSWER, reasoning_content="hm"),
    "reasoning in the place of the answer": body(None, reasoning_content=ANSWER),
    "a call in the place of the answer": body(None, finish="tool_calls", tool_calls=[CALL]),
    "the answer in parts": body([{"type": "text", "text": ANSWER[:50]}, {"type": "text", "text": ANSWER[50:]}]),
    "a stream nobody asked for": Reply(body=f"data: {json.dumps(CHUNK)}\n\ndata: [DONE]\n\n".encode()),
    "no choice": Reply.broken(Fault.NO_CHOICES),
    "no content": Reply.broken(Fault.EMPTY),
    "filtered": Reply.broken(Fault.CONTENT_FILTER),
    "refused": body(None, refusal="I cannot help with that."),
    "a web page": Reply.broken(Fault.WRONG_TYPE),
    "a broken body": Reply.broken(Fault.BAD_JSON),
    "a body that ends early": Reply.broken(Fault.TRUNCATED),
    "a reset connection": Reply.broken(Fault.RESET),
    "no answer in time": Reply.broken(Fault.HANG),
    "prose": "The user's son is allergic to cashews.",
    "nothing to keep": '{"items": []}',
    "blank": "  ",
    "too many requests, once": once(429, retry_after="1"),
    "an error, once": once(500),
    "overloaded": Reply.status(529),
    "away": Reply.status(503),
    "no such model": Reply.status(404),
    "a wrong key": Reply.status(401),
    "no JSON schema": once(400, error="response_format json_schema is not supported"),
    "no bounds in a schema": once(400, error="maxLength is not permitted"),
    "no temperature": once(400, error="temperature is not supported"),
    "another name of the limit": once(400, error="use max_completion_tokens instead of max_tokens"),
    "a context that is too long": Reply(code=400, error="maximum context length is 512 tokens"),
}
WAYS = {**FORMS, **LABELS, **SERVERS}


class WithoutWaiting(SystemClock):
    """Retries do not wait."""

    async def sleep(self, duration: timedelta) -> None:
        self.slept = duration


async def kept_by(replies: Any, *, rules: bool = True) -> tuple[list[str], int]:
    """Return what is remembered after such answers, and the number of requests; without `rules` by the model alone."""
    script: Callable[[object], Any] | list[Any] = replies if isinstance(replies, list) else lambda _: replies
    with ScriptedModelServer(script) as server:
        clock = WithoutWaiting()
        client = OpenAICompleter("m", base_url=server.base_url, api_key="k", timeout=0.3)
        completer = RetryingCompleter(client, clock, check=parse_json)
        engine = MemoryEngine(
            store=InProcessStore(),
            embedder=WordEmbedder(),
            clock=clock,
            extractor=LayeredExtractor(ModelExtractor(completer)) if rules else ModelExtractor(completer),
        )
        actor = Actor(user="ana")
        async with engine:
            report = await engine.capture(TEXT, actor=actor)
            assert report.status == "ok" or not rules, report.stop_reason
            found = [one.content for one in await engine.list(actor=actor)]
            await client.close()
            return found, len(server.requests)


UNANSWERED = {
    "no choice", "no content", "filtered", "refused", "a web page", "a broken body", "a body that ends early",
    "a reset connection", "no answer in time", "prose", "nothing to keep", "blank", "overloaded", "away",
    "no such model", "a wrong key", "a context that is too long", "cut within an item", "a stream nobody asked for",
}  # fmt: skip
"""Answers without an item."""


def is_told(found: list[str]) -> bool:
    return any(ITEM["quote"] in one for one in found)


async def test_what_was_said_is_kept_however_a_model_answers() -> None:
    assert len(WAYS) >= 81
    assert [name for name, way in WAYS.items() if not is_told((await kept_by(way))[0])] == []


async def test_an_item_is_read_in_every_form_of_answer() -> None:
    """Without the rules, which have read these words in any case."""
    lost = [name for name, way in WAYS.items() if not is_told((await kept_by(way, rules=False))[0])]
    assert set(lost) == UNANSWERED


async def test_an_answer_that_cannot_be_read_is_asked_for_once_more() -> None:
    for name, replies in {"prose": "Sure.", "cut": ANSWER[:60]}.items():
        assert (await kept_by(replies))[1] == 2, name
    with ScriptedModelServer(["Sure.", ANSWER]) as server:
        completer = RetryingCompleter(
            OpenAICompleter("m", base_url=server.base_url, api_key="k"), WithoutWaiting(), check=parse_json
        )
        answer = await completer.complete(
            capture_prompt(TEXT, None, ["user"]), deadline=Deadline(9e9, WithoutWaiting().monotonic)
        )
        await completer.close()
        assert parse_json(answer.text) == WHOLE
        first, second = server.requests
    assert second.system.startswith(first.system)
    assert "could not be read" in second.system.removeprefix(first.system)


async def test_an_answer_that_was_cut_off_is_read_as_far_as_it_goes_and_reported() -> None:
    cut = Reply(content=ANSWER[:-2] + ', {"quote": "keep th', fault=Fault.CUT_OFF)
    with ScriptedModelServer([cut, cut]) as server:
        client = OpenAICompleter("m", base_url=server.base_url, api_key="k")
        completer = RetryingCompleter(client, WithoutWaiting(), check=parse_json)
        async with MemoryEngine(
            store=InProcessStore(), embedder=WordEmbedder(), extractor=LayeredExtractor(ModelExtractor(completer))
        ) as engine:
            alone = await engine.capture(TEXT, actor=Actor(user="ana"))
            turns = [Message(role="user", content=TEXT), Message(role="user", content="I keep two hens.")]
            together = await engine.capture_many(turns, actor=Actor(user="ben"))
            kept = [one.content for one in await engine.list(actor=Actor(user="ben"))]
        await client.close()
    assert len(server.requests) == 2, "what could be read is not asked for again"
    reports = [alone, *together]
    assert [one and one.errors for one in reports] == [("extract:model: llm_truncated",)] * 3
    assert is_told(kept)
