"""Each vendor's own client against a server that speaks the vendor's protocol."""

from __future__ import annotations

import json
import warnings
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import pytest

from mnemic.bootstrap.models import build_completer, missing_client, vendor_of
from mnemic.config import Settings
from mnemic.errors import InvalidConfig, MissingExtra, ModelEmpty, ModelFailed, ModelTimeout, ModelUnavailable
from mnemic.plugins import plugin
from mnemic.ports import Completer
from mnemic.prompts import INTENT_SCHEMA, NOTHING_BESIDE, _items_of
from mnemic.runtime.clock import SystemClock
from mnemic.types import Deadline, Prompt
from tests.scripted_model import Fault, ModelRequest, Reply, Script, Scripted, ScriptedModelServer

SECRET = "the user is called Aurelia Whitcombe"
KEY = "key-of-this-vendor"
SCHEMA: Mapping[str, Any] = MappingProxyType(
    {
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"type": "string"}}},
        "required": ("items",),
        "additionalProperties": False,
    }
)
VENDORS = {
    "anthropic": "anthropic:claude-sonnet-5",
    "gemini": "gemini:gemini-2.5-flash",
    "bedrock": "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "azure": "azure:our-deployment",
    "ollama": "ollama:llama3.2:3b",
}
PATHS = {
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/gemini-2.5-flash:generateContent",
    "bedrock": "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
    "azure": "/openai/v1/chat/completions",
    "ollama": "/v1/chat/completions",
}
KEY_HEADERS = {
    "anthropic": ("authorization", f"Bearer {KEY}"),
    "gemini": ("x-goog-api-key", KEY),
    "bedrock": ("authorization", "AWS4-HMAC-SHA256 "),
    "azure": ("authorization", f"Bearer {KEY}"),
    "ollama": ("authorization", f"Bearer {KEY}"),
}
FOREIGN = (
    *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY", "GEMINI_API_KEY"),
    *("AZURE_OPENAI_API_KEY", "AWS_BEARER_TOKEN_BEDROCK", "CO_API_KEY", "VOYAGE_API_KEY", "OLLAMA_API_KEY"),
)


def prompt(*, schema: Mapping[str, Any] | None = SCHEMA) -> Prompt:
    return Prompt(system="Answer with JSON.", user=SECRET, schema_name="capture", schema=schema, max_output_tokens=2000)


def within(seconds: float = 20) -> Deadline:
    return Deadline.after(timedelta(seconds=seconds), SystemClock().monotonic)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a region and credentials of AWS, as a machine of AWS has them."""
    for name, value in {
        "AWS_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "secret-of-aws",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)


def settings_for(vendor: str, server: ScriptedModelServer, **more: Any) -> Settings:
    root = server.base_url.removesuffix("/v1")
    url = f"{root}/openai/v1/" if vendor == "azure" else root
    key = None if vendor == "bedrock" else KEY  # signed with the machine's credentials
    return Settings(model=VENDORS[vendor], model_url=url, **{"api_key": key, **more})


@asynccontextmanager
async def asked(vendor: str, chat: Script, **more: Any) -> AsyncIterator[tuple[Completer, ScriptedModelServer]]:
    """Yield the completer of a vendor without its retries, and its server."""
    with ScriptedModelServer(chat) as server:
        settings = settings_for(vendor, server, **more)
        found = plugin("completers", vendor)
        assert found is not None
        completer: Completer = found(settings.model, settings=settings, clock=SystemClock())
        yield completer, server
        await completer.close()


@pytest.mark.parametrize("vendor", VENDORS)
async def test_one_call_in_the_vendors_protocol(vendor: str) -> None:
    async with asked(vendor, [{"items": ["a"]}]) as (completer, server):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            answer = await completer.complete(prompt(), deadline=within())
    assert json.loads(answer.text) == {"items": ["a"]}
    assert (answer.input_tokens, answer.output_tokens, answer.calls) == (7, 5, 1)
    (request,) = server.requests
    assert (request.path, request.system, request.user) == (PATHS[vendor], "Answer with JSON.", SECRET)
    name, value = KEY_HEADERS[vendor]
    assert request.headers[name].startswith(value)
    sent = json.dumps(request.body)
    assert "items" in sent  # the schema
    assert "2000" in sent  # the limit of the answer


@pytest.mark.parametrize(
    "schema", [_items_of(["user"], 6, 120, NOTHING_BESIDE), INTENT_SCHEMA], ids=["items", "intent"]
)
@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_client_takes_the_schemas_of_the_prompts(vendor: str, schema: Mapping[str, Any]) -> None:
    async with asked(vendor, [{"items": []}]) as (completer, server):
        await completer.complete(prompt(schema=schema), deadline=within())
    (request,) = server.requests
    assert "schema" in json.dumps(request.body).lower()


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_refused_schema_is_left_out_from_then_on(vendor: str) -> None:
    def refuses(request: ModelRequest) -> Scripted:
        return Reply.status(400) if "items" in json.dumps(request.body) else {"items": []}

    async with asked(vendor, refuses) as (completer, server):
        first = await completer.complete(prompt(), deadline=within())
        second = await completer.complete(prompt(), deadline=within())
    assert (first.calls, second.calls, len(server.requests)) == (2, 1, 3)


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    ("reply", "error", "reason"),
    [
        (Reply.status(401), ModelUnavailable, "llm_unavailable:auth"),
        (Reply.status(403), ModelUnavailable, "llm_unavailable:auth"),
        (Reply.status(429), ModelUnavailable, "llm_unavailable"),
        (Reply.status(500), ModelUnavailable, "llm_unavailable"),
        (Reply.status(503), ModelUnavailable, "llm_unavailable"),
        (Fault.RESET, ModelUnavailable, "llm_unavailable"),
        (Fault.BAD_JSON, ModelUnavailable, "llm_unavailable"),
        (Fault.WRONG_TYPE, ModelUnavailable, "llm_unavailable"),
        (Fault.NO_CHOICES, ModelFailed, "llm_"),
        (Fault.CONTENT_FILTER, ModelEmpty, "llm_empty"),
    ],
)
async def test_what_can_go_wrong_is_one_of_our_errors_after_one_call(
    vendor: str, reply: Scripted, error: type[ModelFailed], reason: str
) -> None:
    async with asked(vendor, [reply]) as (completer, server):
        with pytest.raises(error) as caught:
            await completer.complete(prompt(schema=None), deadline=within())
    assert caught.value.reason.startswith(reason)
    assert SECRET not in f"{caught.value!r} {caught.value} {caught.value.hint}"
    assert len(server.requests) == 1  # no client tries again by itself
    assert caught.value.paid.get("calls") in (0, 1)


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_server_that_never_answers_ends_at_the_deadline(vendor: str) -> None:
    async with asked(vendor, [Fault.HANG], model_timeout_seconds=0.5) as (completer, _):
        with pytest.raises(ModelTimeout):
            await completer.complete(prompt(), deadline=within(20))


@pytest.mark.parametrize("vendor", VENDORS)
async def test_the_wait_that_a_server_asks_for_is_kept(vendor: str) -> None:
    async with asked(vendor, [Reply.status(429, retry_after="7")]) as (completer, _):
        with pytest.raises(ModelUnavailable) as caught:
            await completer.complete(prompt(), deadline=within())
    assert caught.value.retry_after == timedelta(seconds=7)


@pytest.mark.parametrize("vendor", VENDORS)
async def test_an_address_of_the_settings_gets_no_key_of_the_environment(
    vendor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in FOREIGN:
        monkeypatch.setenv(name, "sk-of-somebody-else")
    async with asked(vendor, ["{}"], api_key=None) as (completer, server):
        await completer.complete(prompt(schema=None), deadline=within())
    (request,) = server.requests
    assert "sk-of-somebody-else" not in json.dumps(dict(request.headers))
    assert "secret-of-aws" not in json.dumps(dict(request.headers))


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_server_that_points_elsewhere_sends_neither_key_nor_words_there(vendor: str) -> None:
    """A key goes only to its own address. Clients would follow a redirection, and only some drop the key."""
    with ScriptedModelServer(["{}"]) as other:
        async with asked(vendor, [Reply.elsewhere(other.base_url.removesuffix("/v1"))]) as (completer, server):
            with pytest.raises(ModelFailed):
                await completer.complete(prompt(schema=None), deadline=within())
    assert (len(server.requests), other.requests) == (1, [])


async def test_a_key_of_bedrock_is_not_sent_without_tls() -> None:
    async with asked("bedrock", ["{}"], api_key=KEY) as (completer, server):
        with pytest.raises(ModelUnavailable):
            await completer.complete(prompt(), deadline=within())
    assert server.requests == []


@pytest.mark.parametrize(
    ("vendor", "key", "address"),
    [
        ("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        ("gemini", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
        ("azure", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"),
    ],
)
async def test_a_vendors_own_variables_are_used_together(
    vendor: str, key: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv(key, KEY)
    with ScriptedModelServer(["{}"]) as server:
        root = server.base_url.removesuffix("/v1")
        monkeypatch.setenv(address, f"{root}/openai/v1/" if vendor == "azure" else root)
        completer = build_completer(Settings(model=VENDORS[vendor]), SystemClock())
        assert completer is not None
        await completer.complete(prompt(schema=None), deadline=within())
        await completer.close()
    assert server.requests[0].headers[KEY_HEADERS[vendor][0]] == KEY_HEADERS[vendor][1]
    assert "sk-of-openai" not in json.dumps(dict(server.requests[0].headers))


@pytest.mark.parametrize("vendor", ["anthropic", "gemini", "azure"])
async def test_a_key_of_the_settings_goes_to_no_address_of_the_environment(
    vendor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mnemic.models import vendors
    from mnemic.models.vendors import Server

    for name in ("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    if vendor == "azure":
        with pytest.raises(InvalidConfig, match="model_url"):
            vendors.azure(Server(key=KEY))
    else:
        opened = getattr(vendors, vendor)(Server(key=KEY))
        assert opened.provider.base_url.startswith(getattr(vendors, vendor.upper()))
        await opened.close()


@pytest.mark.parametrize("vendor", ["anthropic", "gemini", "azure"])
async def test_a_missing_key_is_told_with_the_variables_that_set_it(
    vendor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in FOREIGN:
        monkeypatch.delenv(name, raising=False)
    completer = build_completer(Settings(model=VENDORS[vendor]), SystemClock())
    assert completer is not None
    with pytest.raises(InvalidConfig, match="api_key"):
        await completer.complete(prompt(), deadline=within())
    await completer.close()


def test_a_name_with_a_colon_at_a_server_of_ones_own_is_no_vendor() -> None:
    assert vendor_of(Settings(model="llama3.2:3b", model_url="http://127.0.0.1:9/v1")) is None
    assert vendor_of(Settings(model="anthropic:claude-sonnet-5")) == "anthropic"


def test_a_vendor_whose_client_is_not_installed_is_told_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mnemic.bootstrap.models.find_spec", lambda name: None)
    settings = Settings(model="azure:our-deployment", model_url="http://127.0.0.1:9")
    told = missing_client(settings)
    assert told is not None
    assert "pip install 'mnemic[azure-openai]'" in told
    with pytest.raises(MissingExtra, match="azure-openai"):
        build_completer(settings, SystemClock())


@pytest.mark.parametrize("vendor", ["anthropic", "ollama"])
async def test_an_answer_in_words_is_told_as_it_comes(vendor: str) -> None:
    pieces: list[str] = []
    async with asked(vendor, ["Good morning!"]) as (completer, server):
        told = Prompt(system="s", user="Hello?", may_be_prose=True, tell=pieces.append)
        answer = await completer.complete(told, deadline=within(20))
    assert ("".join(pieces), answer.text) == ("Good morning!", "Good morning!")
    assert server.requests[0].body["stream"] is True


async def test_what_stays_the_same_is_marked_for_the_caches_that_want_marks() -> None:
    turns = (("user", "My first question."), ("assistant", "My first answer."))
    sent = {}
    for vendor in ("anthropic", "bedrock"):
        async with asked(vendor, ["Yes."]) as (completer, server):
            told = Prompt(system="The rules.", before=turns, user="Memories, and the next one.", may_be_prose=True)
            await completer.complete(told, deadline=within(20))
        sent[vendor] = server.requests[0].body
    (rules,) = sent["anthropic"]["system"]
    *before, last = sent["anthropic"]["messages"]
    assert (rules["text"], rules["cache_control"]["type"]) == ("The rules.", "ephemeral")
    assert before[-1]["content"][-1]["cache_control"]["type"] == "ephemeral"
    assert "cache_control" not in json.dumps(last)
    assert [one.get("text", one.get("cachePoint", {}).get("type")) for one in sent["bedrock"]["system"]] == [
        "The rules.",
        "default",
    ]
    *before, last = sent["bedrock"]["messages"]
    assert "cachePoint" in json.dumps(before)
    assert "cachePoint" not in json.dumps(last)


@pytest.mark.parametrize("vendor", ["anthropic", "bedrock"])
async def test_a_prompt_about_one_message_is_not_written_to_a_cache_beyond_its_rules(vendor: str) -> None:
    async with asked(vendor, [{"items": []}]) as (completer, server):
        await completer.complete(prompt(), deadline=within(20))
    assert "cache" in json.dumps(server.requests[0].body["system"])
    assert "cache" not in json.dumps(server.requests[0].body["messages"])


@pytest.mark.parametrize("vendor", VENDORS)
async def test_an_answer_that_was_cut_off_says_so(vendor: str) -> None:
    cut = Reply(content='{"items": ["a", "b', fault=Fault.CUT_OFF)
    async with asked(vendor, [cut, {"items": ["a"]}]) as (completer, _):
        answers = [await completer.complete(prompt(), deadline=within()) for _ in range(2)]
    assert [one.truncated for one in answers] == [True, False]
