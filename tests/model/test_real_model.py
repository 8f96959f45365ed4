"""The real path to a real model: HTTP, grammar, tokens, time. Of what so small a model says nothing is expected."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import pytest

from mnemic.extract import Extraction
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.prompts import intent_prompt
from mnemic.runtime.clock import SystemClock
from mnemic.types import Deadline, Message
from tests.model.local import LocalModel
from tests.processes import running

CLOCK = SystemClock()
TURNS = [
    Message(role="user", content="I always take the aisle seat.", session="s"),
    Message(role="assistant", content="Noted. Anything else?", session="s"),
    Message(role="user", content="My sister Nora lives in Lviv.", session="s"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[LocalModel]:
    with running(LocalModel()) as model:
        yield model


@pytest.fixture
async def model(server: LocalModel) -> AsyncIterator[OpenAICompleter]:
    completer = OpenAICompleter(server.name, base_url=server.url, timeout=120)
    yield completer
    await completer.close()


async def test_an_answer_keeps_the_schema_that_was_asked_for(model: OpenAICompleter) -> None:
    prompt = intent_prompt("Book a hotel in Lviv.", ["user"], 6)
    answer = await model.complete(prompt, deadline=Deadline.after(timedelta(seconds=120), CLOCK.monotonic))
    assert prompt.schema is not None
    assert set(json.loads(answer.text)) == set(prompt.schema["required"])
    assert answer.input_tokens > 100
    assert 0 < answer.output_tokens < prompt.max_output_tokens


async def test_a_window_is_read_or_rules_read_it_and_nothing_is_made_up(model: OpenAICompleter) -> None:
    extractor = LayeredExtractor(ModelExtractor(model))
    read = await extractor.extract_window(
        TURNS,
        policy=Policy(on_model_failure="rules", on_violation="skip"),
        budget=Budget(),
        deadline=Deadline.after(timedelta(seconds=60), CLOCK.monotonic),
    )
    users, assistants = [read[0], read[2]], read[1]
    assert isinstance(assistants, Extraction)
    assert assistants.candidates == ()
    for message, found in zip((TURNS[0], TURNS[2]), users, strict=True):
        assert isinstance(found, Extraction)
        assert found.degraded in (None, "llm_timeout", "llm_invalid_json", "llm_empty")
        assert found.degraded is None or found.candidates, "rules find something in both"
        assert all(one.source.quote in message.content for one in found.candidates if one.source.quote)
