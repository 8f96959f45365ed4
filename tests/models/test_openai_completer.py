from __future__ import annotations

import asyncio
import gc
import json
import logging
import socket
import threading
import warnings
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import pytest

from mnemic.errors import InvalidConfig, MnemicError, ModelEmpty, ModelFailed, ModelTimeout, ModelUnavailable
from mnemic.maintenance.summarise import reflection_prompt
from mnemic.models import openai_client
from mnemic.models.openai_completer import OpenAICompleter, SpokenOnce
from mnemic.ports import Completer
from mnemic.runtime.clock import SystemClock
from mnemic.runtime.event_loop_thread import Portal
from mnemic.types import Deadline, Prompt
from tests.scripted_model import Fault, ModelRequest, Reply, Script, Scripted, ScriptedModelServer

SECRET = "the user is called Aurelia Whitcombe"
SCHEMA: Mapping[str, Any] = MappingProxyType(
    {
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"type": "string"}}},
        "required": ("items",),
        "additionalProperties": False,
    }
)


def prompt(*, schema: Mapping[str, Any] | None = SCHEMA) -> Prompt:
    return Prompt(system="Answer with JSON.", user=SECRET, schema_name="capture", schema=schema, max_output_tokens=99)


def within(seconds: float) -> Deadline:
    return Deadline.after(timedelta(seconds=seconds), SystemClock().monotonic)


@contextmanager
def scripted(chat: Script) -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer(chat) as server:
        yield server


@asynccontextmanager
async def completer(server: ScriptedModelServer, **options: Any) -> AsyncIterator[OpenAICompleter]:
    made = OpenAICompleter("scripted", base_url=server.base_url, api_key="sk-test-key", **options)
    yield made
    await made.close()


async def failure(chat: Script, *, seconds: float = 20) -> MnemicError:
    with ScriptedModelServer(chat) as server:
        async with completer(server) as model:
            with pytest.raises(ModelFailed) as caught:
                await model.complete(prompt(), deadline=within(seconds))
    return caught.value


async def test_one_call_asks_for_json_at_temperature_zero() -> None:
    with scripted([{"items": ["a"]}]) as server:
        async with completer(server) as model:
            answer = await model.complete(prompt(), deadline=within(20))
    assert json.loads(answer.text) == {"items": ["a"]}
    assert (answer.model, answer.input_tokens, answer.output_tokens) == ("scripted", 7, 5)
    (request,) = server.requests
    assert (request.system, request.user) == ("Answer with JSON.", SECRET)
    assert request.headers["authorization"] == "Bearer sk-test-key"
    assert {name: request.body[name] for name in ("model", "temperature", "max_tokens")} == {
        "model": "scripted",
        "temperature": 0,
        "max_tokens": 99,
    }
    asked = request.body["response_format"]["json_schema"]
    assert (asked["name"], asked["strict"]) == ("capture", True)
    assert asked["schema"]["required"] == ["items"]


async def test_a_schema_that_strict_mode_would_refuse_is_not_sent_as_strict() -> None:
    loose = {
        "type": "object",
        "properties": {"a": {"type": "object", "properties": {}}},
        "required": ["a"],
        "additionalProperties": False,
    }
    with scripted(["{}"]) as server:
        async with completer(server) as model:
            await model.complete(prompt(schema=loose), deadline=within(20))
    assert server.requests[0].body["response_format"]["json_schema"]["strict"] is False


async def test_a_prompt_without_schema_asks_for_a_json_object() -> None:
    with scripted(["{}"]) as server:
        async with completer(server) as model:
            await model.complete(prompt(schema=None), deadline=within(20))
    assert server.requests[0].response_format == "json_object"


async def test_a_server_without_schemas_is_asked_for_a_json_object_from_then_on() -> None:
    def old_server(request: ModelRequest) -> Scripted:
        return Reply.status(400, param="response_format") if request.response_format == "json_schema" else "{}"

    with scripted(old_server) as server:
        async with completer(server) as model:
            await model.complete(prompt(), deadline=within(20))
            await model.complete(prompt(), deadline=within(20))
    assert [request.response_format for request in server.requests] == ["json_schema", "json_object", "json_object"]


@pytest.mark.parametrize("bound", ["maxLength", "maxItems", "minItems", "minimum", "maximum"])
async def test_a_server_that_names_a_bound_keeps_the_rest_of_the_schema(bound: str) -> None:
    bounded = reflection_prompt("pottery", ["a", "b"], most=3)

    def refuses(request: ModelRequest) -> Scripted:
        refused = bound in json.dumps(request.body)
        return Reply(code=400, error=f"In context=(), '{bound}' is not permitted.") if refused else "{}"

    with scripted(refuses) as server:
        async with completer(server) as model:
            await model.complete(bounded, deadline=within(20))
            await model.complete(bounded, deadline=within(20))
        sent = [request.body["response_format"] for request in server.requests]
    assert [one["type"] for one in sent] == ["json_schema"] * 3
    assert [bound in json.dumps(one) for one in sent] == [True, False, False]


async def test_a_server_without_any_of_it_still_answers() -> None:
    def ancient_server(request: ModelRequest) -> Scripted:
        for name in ("max_tokens", "temperature"):
            if name in request.body:
                return Reply(code=400, error=f"Unsupported parameter: {name}")
        return Reply.status(422) if request.response_format else "{}"

    with scripted(ancient_server) as server:
        async with completer(server) as model:
            assert (await model.complete(prompt(), deadline=within(20))).text == "{}"
            assert (await model.complete(prompt(), deadline=within(20))).text == "{}"
    assert len(server.requests) == 6
    assert server.requests[-1].body["max_completion_tokens"] == 99


async def test_a_refusal_of_the_prompt_itself_teaches_nothing() -> None:
    def refuses_first_prompt(request: ModelRequest) -> Scripted:
        return Reply.status(400) if request.user == "too long" else "{}"

    with scripted(refuses_first_prompt) as server:
        async with completer(server) as model:
            with pytest.raises(ModelUnavailable) as caught:
                await model.complete(Prompt(system="", user="too long", schema=SCHEMA), deadline=within(20))
            await model.complete(prompt(), deadline=within(20))
    assert caught.value.permanent
    assert server.requests[-1].response_format == "json_schema"


@pytest.mark.parametrize(
    ("reply", "kind", "reason", "permanent"),
    [
        (Reply.status(429, retry_after="3"), ModelUnavailable, "llm_unavailable", False),
        (Reply.status(500), ModelUnavailable, "llm_unavailable", False),
        (Reply.status(503), ModelUnavailable, "llm_unavailable", False),
        (Reply.status(401), ModelUnavailable, "llm_unavailable:auth", True),
        (Reply.status(403), ModelUnavailable, "llm_unavailable:auth", True),
        (Reply.status(404), ModelUnavailable, "llm_unavailable", True),
        (Fault.RESET, ModelUnavailable, "llm_unavailable", False),
        (Fault.BAD_JSON, ModelUnavailable, "llm_unavailable", False),
        (Fault.TRUNCATED, ModelUnavailable, "llm_unavailable", False),
        (Fault.WRONG_TYPE, ModelUnavailable, "llm_unavailable", False),
        (Fault.NO_CHOICES, ModelEmpty, "llm_empty", False),
        (Fault.EMPTY, ModelEmpty, "llm_empty", False),
        ("  \n", ModelEmpty, "llm_empty", False),
        (Fault.CONTENT_FILTER, ModelEmpty, "llm_empty", True),
    ],
    ids=str,
)
async def test_every_failure_has_its_reason(
    reply: Scripted, kind: type[ModelFailed], reason: str, permanent: bool
) -> None:
    error = await failure(lambda _: reply)
    assert (type(error), error.reason, error.permanent) == (kind, reason, permanent)


async def test_a_hanging_server_is_a_timeout_at_the_deadline() -> None:
    error = await failure([Fault.HANG], seconds=0.05)
    assert (type(error), error.reason) == (ModelTimeout, "llm_timeout")


async def test_an_answer_after_the_timeout_of_one_call_is_a_timeout() -> None:
    with scripted([Reply(delay=timedelta(seconds=30))]) as server:
        async with completer(server, timeout=0.05) as model:
            with pytest.raises(ModelTimeout):
                await model.complete(prompt(), deadline=within(60))


async def test_an_expired_deadline_asks_nobody() -> None:
    with scripted(["{}"]) as server:
        async with completer(server) as model:
            with pytest.raises(ModelTimeout):
                await model.complete(prompt(), deadline=Deadline(1.0, lambda: 2.0))
    assert server.requests == []


async def test_a_refused_connection_is_not_a_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    model = OpenAICompleter("scripted", base_url=f"http://127.0.0.1:{port}/v1")
    with pytest.raises(ModelUnavailable) as caught:
        await model.complete(prompt(), deadline=within(20))
    await model.close()
    assert (caught.value.reason, caught.value.permanent) == ("llm_unavailable", False)


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        ("2", timedelta(seconds=2)),
        ("0.5", timedelta(seconds=0.5)),
        ("999999999", openai_client.LONGEST_RETRY_AFTER),
        ("Wed, 21 Oct 2015 07:28:00 GMT", timedelta(0)),
        ("Wed, 21 Oct 2199 07:28:00 GMT", openai_client.LONGEST_RETRY_AFTER),
        ("soon", None),
        ("1e999", None),
        ("-3", None),
        (None, None),
    ],
)
async def test_retry_after_is_read(header: str | None, wait: timedelta | None) -> None:
    assert (await failure([Reply.status(429, retry_after=header)])).retry_after == wait


async def test_cancelling_a_call_stops_it() -> None:
    arrived = threading.Event()

    def hang(_: ModelRequest) -> Scripted:
        arrived.set()
        return Fault.HANG

    with scripted(hang) as server:
        async with completer(server) as model:
            call = asyncio.ensure_future(model.complete(prompt(), deadline=within(60)))
            assert await asyncio.to_thread(arrived.wait, 20)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call


async def test_nothing_that_was_said_reaches_logs_or_errors(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    replies: list[Scripted] = [
        Reply(content=SECRET),
        Reply(code=400, error=SECRET),
        Reply(code=500, error=SECRET),
        Fault.BAD_JSON,
    ]
    with scripted([replies[0], replies[1], replies[1], replies[1], replies[2], replies[3]]) as server:
        async with completer(server) as model:
            answer = await model.complete(prompt(), deadline=within(20))
            for _ in range(3):
                with pytest.raises(ModelUnavailable) as caught:
                    await model.complete(prompt(), deadline=within(20))
                assert "Aurelia" not in f"{caught.value!r}{caught.value}{caught.value.hint}{caught.value.__cause__}"
    assert "Aurelia" not in caplog.text + repr(answer)
    assert "sk-test-key" not in caplog.text


async def test_without_a_key_the_environments_key_goes_to_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    with scripted(["{}"]) as server:
        model = OpenAICompleter("scripted", base_url=server.base_url)
        await model.complete(prompt(), deadline=within(20))
        await model.close()
    assert "sk-of-the-environment" not in server.requests[0].headers["authorization"]


async def test_openai_itself_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InvalidConfig) as caught:
        await OpenAICompleter("gpt").complete(prompt(), deadline=within(20))
    assert caught.value.reason == "invalid_config:api_key"


async def test_a_missing_package_says_how_to_get_it_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_client, "find_spec", lambda _: None)
    completer = OpenAICompleter("scripted")
    with pytest.raises(InvalidConfig, match=r"pip install 'mnemic\[openai\]'") as caught:
        await completer.complete(prompt(), deadline=within(20))
    assert caught.value.reason == "invalid_config:openai"


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan")])
def test_impossible_timeouts_are_refused(timeout: float) -> None:
    with pytest.raises(InvalidConfig):
        OpenAICompleter("scripted", timeout=timeout)


def test_connections_are_closed_with_the_event_loop_that_opened_them() -> None:
    with (
        ScriptedModelServer([{"items": ["one"]}, {"items": ["two"]}]) as server,
        warnings.catch_warnings(record=True) as told,
    ):
        warnings.simplefilter("always", ResourceWarning)
        model = OpenAICompleter("scripted", base_url=server.base_url, api_key="test")
        answers = [asyncio.run(model.complete(prompt(), deadline=within(20))).text for _ in range(2)]
        asyncio.run(model.close())
        gc.collect()
    assert [json.loads(answer)["items"] for answer in answers] == [["one"], ["two"]]
    assert [str(one.message) for one in told] == []


def test_closing_a_model_closes_its_connections_on_another_threads_event_loop() -> None:
    with (
        ScriptedModelServer(lambda _: Reply(content="{}")) as server,
        warnings.catch_warnings(record=True) as told,
        closing(Portal()) as other,
    ):
        warnings.simplefilter("always", ResourceWarning)
        model = OpenAICompleter("scripted", base_url=server.base_url, api_key="test")

        async def both() -> None:
            await model.complete(prompt(), deadline=within(20))
            await asyncio.to_thread(other.call, model.complete, prompt(), deadline=within(20))
            await model.close()

        asyncio.run(both())
        gc.collect()
        assert [str(one.message) for one in told] == []


async def test_close_twice_then_a_call_is_refused() -> None:
    with scripted(["{}", "{}"]) as server:
        model = OpenAICompleter("scripted", base_url=server.base_url)
        await model.complete(prompt(), deadline=within(20))
        await model.close()
        await model.close()
        with pytest.raises(ModelUnavailable) as caught:
            await model.complete(prompt(), deadline=within(20))
    assert caught.value.permanent
    assert len(server.requests) == 1


def test_it_is_a_completer() -> None:
    model: Completer = OpenAICompleter("gpt-4.1-mini")
    assert model.model == "gpt-4.1-mini"


async def test_an_answer_in_words_is_told_as_it_comes() -> None:
    pieces: list[str] = []
    prompt = Prompt(system="s", user="Hello?", may_be_prose=True, tell=pieces.append)
    with ScriptedModelServer(["Good morning!"]) as server:
        completer = OpenAICompleter("scripted", base_url=server.base_url, api_key="test")
        answer = await completer.complete(prompt, deadline=within(10))
        await completer.close()
    assert ("".join(pieces), answer.text) == ("Good morning!", "Good morning!")
    assert (answer.input_tokens, answer.output_tokens, answer.calls) == (7, 5, 1)
    assert server.requests[0].body["stream"] is True


async def test_a_server_that_cannot_stream_answers_in_one_piece() -> None:
    prompt = Prompt(system="s", user="Hello?", may_be_prose=True, tell=lambda piece: None)
    refusal = Reply.status(400, param="stream")
    with ScriptedModelServer([refusal, "Good morning!", "Again!"]) as server:
        completer = OpenAICompleter("scripted", base_url=server.base_url, api_key="test")
        answers = [(await completer.complete(prompt, deadline=within(10))).text for _ in range(2)]
        await completer.close()
    assert answers == ["Good morning!", "Again!"]
    assert ["stream" in request.body for request in server.requests] == [True, False, False]


async def test_an_answer_of_which_a_part_was_told_is_not_asked_for_again() -> None:
    told: list[str] = []
    once = SpokenOnce(Prompt(system="s", user="Hello?", tell=told.append))
    assert once.prompt.tell is not None
    once.prompt.tell("Good mor")
    with pytest.raises(ModelUnavailable) as caught, once.guard():
        raise ModelUnavailable
    assert (told, caught.value.permanent) == (["Good mor"], True)


async def test_a_server_that_ignores_the_wish_for_a_stream_is_understood() -> None:
    pieces: list[str] = []
    prompt = Prompt(system="s", user="Hello?", may_be_prose=True, tell=pieces.append)
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Good morning!"}}
    whole = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    with ScriptedModelServer([Reply(body=whole)]) as server:
        async with completer(server) as model:
            answer = await model.complete(prompt, deadline=within(10))
    assert (answer.text, len(server.requests)) == ("Good morning!", 1)


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_that_was_cut_off_says_so(streamed: bool) -> None:
    prompt = Prompt(system="s", user="Hello?", may_be_prose=True, tell=(lambda piece: None) if streamed else None)
    with ScriptedModelServer([Reply(content="Good mor", fault=Fault.CUT_OFF), "Good morning!"]) as server:
        async with completer(server) as model:
            answers = [await model.complete(prompt, deadline=within(10)) for _ in range(2)]
    assert [(one.text, one.truncated) for one in answers] == [("Good mor", True), ("Good morning!", False)]
