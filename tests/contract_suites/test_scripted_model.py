from __future__ import annotations

import json
import math
from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.scripted_model import Fault, ModelRequest, Reply, ScriptedModelServer

CHAT = {
    "model": "m",
    "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}],
    "response_format": {"type": "json_object"},
}


def said(answer: httpx.Response) -> str:
    content = answer.json()["choices"][0]["message"]["content"]
    assert isinstance(content, str)
    return content


def test_replies_are_played_in_order_and_requests_are_kept() -> None:
    with ScriptedModelServer(["text", {"items": [1]}, Reply(content="full", input_tokens=3)]) as server:
        url = f"{server.base_url}/chat/completions"
        answers = [httpx.post(url, json=CHAT, headers={"X-Trace": "7"}) for _ in range(3)]
    assert [said(answer) for answer in answers] == ["text", '{"items": [1]}', "full"]
    assert answers[2].json()["usage"] == {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
    assert len(server.requests) == 3
    request = server.requests[0]
    assert (request.system, request.user, request.response_format) == ("be brief", "hello", "json_object")
    assert (request.path, request.headers["x-trace"]) == ("/v1/chat/completions", "7")


def test_a_script_may_be_a_function_of_the_request() -> None:
    def echo(request: ModelRequest) -> str:
        return request.user.upper()

    with ScriptedModelServer(echo) as server:
        assert said(httpx.post(f"{server.base_url}/chat/completions", json=CHAT)) == "HELLO"


def test_a_call_too_many_is_an_error_that_says_so() -> None:
    with ScriptedModelServer() as server:
        answer = httpx.post(f"{server.base_url}/chat/completions", json=CHAT)
    assert answer.status_code == 500
    assert answer.json()["error"]["message"] == "script_ended"


def test_statuses_carry_retry_after_and_the_blamed_parameter() -> None:
    with ScriptedModelServer([Reply.status(429, retry_after="5", param="model")]) as server:
        answer = httpx.post(f"{server.base_url}/chat/completions", json=CHAT)
    assert (answer.status_code, answer.headers["retry-after"], answer.json()["error"]["param"]) == (429, "5", "model")


def test_embeddings_depend_on_the_text_alone_and_have_unit_length() -> None:
    with ScriptedModelServer(dimension=8) as server:
        url = f"{server.base_url}/embeddings"
        first, second = (item["embedding"] for item in httpx.post(url, json={"input": ["a", "b"]}).json()["data"])
        again = httpx.post(url, json={"input": "b"}).json()["data"][0]["embedding"]
    assert first != second == again
    assert math.hypot(*first) == pytest.approx(1)
    assert [request.texts for request in server.requests] == [["a", "b"], ["b"]]


def test_scripted_embeddings_come_first() -> None:
    with ScriptedModelServer(embeddings=[Reply(vectors=[[1, 2]])], dimension=2) as server:
        answer = httpx.post(f"{server.base_url}/embeddings", json={"input": ["a"]})
    assert answer.json()["data"] == [{"object": "embedding", "index": 0, "embedding": [1, 2]}]


def test_models_are_listed() -> None:
    with ScriptedModelServer(model="tiny") as server:
        assert httpx.get(f"{server.base_url}/models").json()["data"][0]["id"] == "tiny"


@pytest.mark.parametrize(("method", "path"), [("GET", "/nothing"), ("POST", "/nothing")])
def test_unknown_paths_are_not_found(method: str, path: str) -> None:
    with ScriptedModelServer() as server:
        assert httpx.request(method, server.base_url + path, json={}).status_code == 404
        assert server.requests == []


@pytest.mark.parametrize("fault", [Fault.RESET, Fault.TRUNCATED])
def test_cut_connections_are_seen_as_such(fault: Fault) -> None:
    with ScriptedModelServer([fault]) as server, pytest.raises(httpx.TransportError):
        httpx.post(f"{server.base_url}/chat/completions", json=CHAT)
    assert len(server.requests) == 1


def test_a_hanging_request_ends_with_the_client_or_the_server() -> None:
    with ScriptedModelServer([Fault.HANG]) as server, pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server.base_url}/chat/completions", json=CHAT, timeout=0.05)


def test_a_delayed_answer_comes_late() -> None:
    with ScriptedModelServer([Reply(delay=timedelta(milliseconds=60), content="late"), "now"]) as server:
        url = f"{server.base_url}/chat/completions"
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(url, json=CHAT, timeout=0.02)
        assert said(httpx.post(url, json=CHAT)) == "now"


def test_bodies_can_be_wrong_in_three_ways() -> None:
    with ScriptedModelServer([Fault.BAD_JSON, Fault.WRONG_TYPE, Fault.NO_CHOICES]) as server:
        url = f"{server.base_url}/chat/completions"
        broken, page, none = (httpx.post(url, json=CHAT) for _ in range(3))
    with pytest.raises(json.JSONDecodeError):
        broken.json()
    assert page.headers["content-type"] == "text/html"
    assert none.json()["choices"] == []


def test_contents_can_be_missing() -> None:
    with ScriptedModelServer([Fault.EMPTY, Reply.broken(Fault.CONTENT_FILTER)]) as server:
        url = f"{server.base_url}/chat/completions"
        choices = [httpx.post(url, json=CHAT).json()["choices"][0] for _ in range(2)]
    assert [choice["message"]["content"] for choice in choices] == [None, None]
    assert [choice["finish_reason"] for choice in choices] == ["stop", "content_filter"]


def test_what_was_said_is_not_in_the_representation_of_a_request() -> None:
    request = ModelRequest(path="/v1/chat/completions", headers={"authorization": "key"}, body=CHAT)
    assert "hello" not in repr(request)
    assert "key" not in repr(request)


def test_without_a_start_there_is_no_address_and_close_may_be_called_twice() -> None:
    server = ScriptedModelServer()
    with pytest.raises(RuntimeError):
        assert server.base_url
    server.start()
    assert httpx.get(f"{server.base_url}/models").status_code == 200
    server.close()
    server.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.base_url}/models")


@pytest.mark.parametrize(
    ("path", "text", "name", "arguments"),
    [
        (
            "chat/completions",
            lambda body: body["choices"][0]["message"]["content"],
            lambda body: body["choices"][0]["message"]["tool_calls"][0]["function"]["name"],
            lambda body: json.loads(body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]),
        ),
        (
            "responses",
            lambda body: body["output"][0]["content"][0]["text"],
            lambda body: body["output"][0]["name"],
            lambda body: json.loads(body["output"][0]["arguments"]),
        ),
        (
            "messages",
            lambda body: body["content"][0]["text"],
            lambda body: body["content"][0]["name"],
            lambda body: body["content"][0]["input"],
        ),
    ],
)
def test_every_protocol_says_and_calls_the_same(path: str, text: Any, name: Any, arguments: Any) -> None:
    with ScriptedModelServer(["hello", Reply.call("timetable", city="Denver")]) as server:
        said, called = (httpx.post(f"{server.base_url}/{path}", json={}).json() for _ in range(2))
    assert text(said) == "hello"
    assert (name(called), arguments(called)) == ("timetable", {"city": "Denver"})


def test_a_streamed_completion_comes_in_events() -> None:
    with ScriptedModelServer(["hello"]) as server:
        answer = httpx.post(f"{server.base_url}/chat/completions", json={**CHAT, "stream": True})
    *events, end = [line.removeprefix("data: ") for line in answer.text.split("\n\n") if line]
    assert answer.headers["content-type"] == "text/event-stream"
    assert json.loads(events[0])["choices"][0]["delta"]["content"] == "hello"
    assert end == "[DONE]"


def test_a_streamed_message_comes_in_the_events_of_its_protocol() -> None:
    with ScriptedModelServer(["hello", Reply.call("timetable", city="Denver")]) as server:
        answers = [httpx.post(f"{server.base_url}/messages", json={"stream": True}).text for _ in range(2)]
    said, called = ([json.loads(one.partition("data: ")[2]) for one in text.split("\n\n") if one] for text in answers)
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    assert [event["type"] for event in said] == ["message_start", *block, "message_delta", "message_stop"]
    assert said[2]["delta"] == {"type": "text_delta", "text": "hello"}
    assert called[1]["content_block"]["name"] == "timetable"
    assert json.loads(called[2]["delta"]["partial_json"]) == {"city": "Denver"}
    assert called[4]["delta"]["stop_reason"] == "tool_use"
