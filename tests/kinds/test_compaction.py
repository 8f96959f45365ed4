"""Compaction: the budget is kept, the newest turns stay, every line goes back to what was said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidInput
from mnemic.extract.messages import message_candidates
from mnemic.kinds.short_term import lineage, split, tokens_of
from mnemic.maintenance.summarise import SUMMARY
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.types import Message, Origin
from tests.scripted_model import Fault, Reply, ScriptedModelServer
from tests.unit.kinds.conftest import ANA, House

TOLD = [
    ("user", "I want to fly to Paris in May. My sister Ana comes along."),
    ("assistant", "Noted. Shall I look for flights from Berlin?"),
    ("user", "Yes, from Berlin, and not before 9:00. The weather is nice here, by the way."),
    ("assistant", "I found AF1235 at 10:40 for 180 euros."),
    ("user", "Book AF1235 for Ana and me."),
    ("assistant", "Booked: AF1235, Berlin to Paris, two seats."),
    ("user", "Now a hotel near the Eiffel Tower, please."),
    ("assistant", "How many nights?"),
]


async def fill(house: House, filler: int = 0) -> list[Message]:
    memory = house.kinds().short_term
    return [await memory.append(role, text + " More of the same." * filler) for role, text in TOLD]


async def test_under_the_budget_nothing_is_done(house: House) -> None:
    told = await fill(house)
    done = await house.kinds().short_term.compact()
    assert (done.summary, done.folded, done.by) == (None, 0, None)
    assert done.tokens_before == done.tokens_after > 0
    assert await house.kinds().short_term.tail() == told


async def test_without_a_model_sentences_are_chosen_word_for_word(house: House) -> None:
    told = await fill(house)
    memory = house.kinds().short_term
    done = await memory.compact(max_tokens=160, keep=2)
    assert done.summary is not None
    assert (done.by, done.degraded) == ("extract", None)
    assert 2 <= done.folded <= len(told) - 2
    assert done.tokens_after <= 160 < done.tokens_before
    assert await memory.tail() == [done.summary, *told[done.folded :]]
    assert "Paris" in done.summary.content
    for line in done.summary.content.splitlines():
        role, _, text = line.partition(": ")
        assert any(text in " ".join(one.content.split()) and one.role == role for one in told)
    assert done.summary.derived_from == tuple(one.message_id for one in told[: done.folded])
    assert (done.summary.role, done.summary.origin) == (SUMMARY, Origin.AGENT_INFERRED)


async def test_the_newest_turns_stay_whatever_they_cost(house: House) -> None:
    told = await fill(house, filler=40)
    done = await house.kinds().short_term.compact(max_tokens=160, keep=3)
    assert done.tokens_after > 160
    assert (await house.kinds().short_term.tail())[1:] == told[-3:]


async def test_a_second_compaction_keeps_the_lineage_of_the_first(house: House) -> None:
    told = await fill(house)
    memory = house.kinds().short_term
    await memory.compact(max_tokens=160, keep=4)
    more = [await memory.append("user", f"Number {number}: remember the museum pass for Ana.") for number in range(9)]
    again = await memory.compact(max_tokens=160, keep=2)
    assert again.summary is not None
    left = await memory.tail()
    assert left[0] == again.summary
    assert again.summary.derived_from == tuple(one.message_id for one in [*told, *more][: 1 - len(left)])
    assert [one.role for one in left].count(SUMMARY) == 1


async def test_a_summary_is_no_source_of_facts(house: House) -> None:
    await fill(house)
    done = await house.kinds().short_term.compact(max_tokens=160, keep=2)
    assert done.summary is not None
    said = Message(role=SUMMARY, content="I prefer aisle seats.", origin=Origin.AGENT_INFERRED, derived_from=("m1",))
    report = await house.engine.capture(said, actor=ANA)
    assert await house.engine.count(actor=ANA) == 0
    assert report.status == "ok"
    assert message_candidates([said]) == []
    with pytest.raises(InvalidInput, match="role"):
        await house.kinds().short_term.append(SUMMARY, "I prefer aisle seats.")


def model(server: ScriptedModelServer) -> OpenAICompleter:
    return OpenAICompleter(model="scripted", base_url=server.base_url, api_key="test")


def points(*given: tuple[str, int, str]) -> dict[str, Any]:
    return {"points": [{"text": text, "message": number, "quote": quote} for text, number, quote in given]}


async def test_a_model_writes_it_and_what_it_cannot_quote_is_left_out(house: House) -> None:
    told = await fill(house)
    answer = points(
        ("The user flies to Paris in May with their sister Ana.", 0, "I want to fly to Paris in May"),
        ("They leave after nine.", 2, "not before 9:00"),
        ("The user hates Rome.", 0, "I really hate Rome"),
        ("Nobody said this.", 99, "Book AF1235 for Ana"),
        ("Too short a quote.", 0, "fly to"),
    )
    with ScriptedModelServer([answer]) as server:
        house.engine.completer = model(server)
        done = await house.kinds().short_term.compact(max_tokens=160, keep=2)
        await house.engine.completer.close()
    assert done.summary is not None
    assert done.summary.content.splitlines() == [
        "The user flies to Paris in May with their sister Ana.",
        "They leave after nine.",
    ]
    assert (done.by, done.degraded) == ("model", None)
    asked = json.loads(server.requests[0].user)
    assert [one["content"] for one in asked["messages"]] == [one.content for one in told[: done.folded]]
    assert told[0].content not in server.requests[0].system


@pytest.mark.parametrize(
    "form",
    ["<think>So far [1].</think>\n```json\n%s\n```", "Here it is: %s Anything else?", '{"result": %s}', "%.98s"],
    ids=["after a thought, fenced", "in prose", "wrapped", "cut off"],
)
async def test_a_summary_is_read_in_every_form_of_answer(house: House, form: str) -> None:
    await fill(house)
    answer = points(("Paris in May.", 0, "I want to fly to Paris in May"), ("After nine.", 2, "not before 9:00"))
    with ScriptedModelServer([Reply(content=form % json.dumps(answer))]) as server:
        house.engine.completer = model(server)
        done = await house.kinds().short_term.compact(max_tokens=160, keep=2)
        await house.engine.completer.close()
    assert done.summary is not None
    assert (done.by, done.summary.content.splitlines()[0]) == ("model", "Paris in May.")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (points(("Made up.", 0, "never was said so")), "unsupported"),
        ({"points": "none"}, "llm_invalid_schema"),
        ("no JSON", "llm_invalid_json"),
        (Fault.RESET, "llm_unavailable"),
    ],
)
async def test_a_model_that_fails_is_told_and_sentences_are_chosen(house: House, reply: Any, reason: str) -> None:
    await fill(house)
    with ScriptedModelServer([reply] * 5) as server:
        house.engine.completer = model(server)
        done = await house.kinds().short_term.compact(max_tokens=160, keep=2)
        await house.engine.completer.close()
    assert (done.by, done.degraded) == ("extract", reason)
    assert done.summary is not None
    assert "Paris" in done.summary.content


@pytest.mark.parametrize("wrong", [{"max_tokens": 99}, {"max_tokens": True}, {"keep": 0}, {"keep": "2"}])
async def test_a_budget_is_a_number(house: House, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        await house.kinds().short_term.compact(**wrong)


messages = st.lists(
    st.text(max_size=80).map(lambda text: Message(role="user", content=text, message_id="m")), max_size=20
)


@given(messages, st.integers(0, 300), st.integers(1, 5))
def test_the_split_keeps_budget_and_newest(told: list[Message], max_tokens: int, keep: int) -> None:
    cut = split(told, max_tokens=max_tokens, keep=keep)
    rest = told[cut:]
    assert len(rest) >= min(keep, len(told))
    assert tokens_of(rest) <= max_tokens or len(rest) <= keep
    assert len(lineage(told[:cut])) == cut
