"""Answers of a model that are wrong in part: each item is judged alone."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from mnemic.errors import MnemicError
from mnemic.extract import Extraction
from mnemic.extract.message_context import MessageContext
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.types import Completion, Deadline, Kind, Level, Memory, Message, Prompt, Scope

TEXT = "I row on the lake each Tuesday. My locker at the pool is 81."
GOOD = {
    "op": "add",
    "key": None,
    "value": "I row on the lake each Tuesday.",
    "quote": "I row on the lake each Tuesday.",
}
DEADLINE = Deadline(10.0, lambda: 0.0)
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
KNOWN = Memory(
    memory_id="m-locker",
    kind=Kind.LONG_TERM,
    scope=Scope(tenant="default", level=Level.USER, owner="ana"),
    content="My locker at the pool is 12.",
    created_at=MONDAY,
    updated_at=MONDAY,
)


class Scripted:
    """A completer that gives one answer."""

    model = "scripted"

    def __init__(self, *items: object) -> None:
        self.answer = json.dumps({"items": items})

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        return Completion(text=self.answer, model=self.model)

    async def close(self) -> None:
        return None


async def extract(*items: object, text: str = TEXT, policy: Policy | None = None, **around: Any) -> Extraction:
    extractor = ModelExtractor(Scripted(*items))
    return await extractor.extract(
        Message(role="user", content=text),
        policy=policy or Policy(),
        budget=Budget(),
        deadline=DEADLINE,
        around=MessageContext(**around),
    )


BAD = [
    ("a sentence in the place of an item", "invalid_memory_candidates:item"),
    (None, "invalid_memory_candidates:item"),
    ({"key": "locker"}, "invalid_memory_candidates:missing_keys"),
    ({"key": ["locker"], "value": "81"}, "invalid_memory_candidates:key"),
    ({"key": "locker", "value": 81.5}, "invalid_memory_candidates:value"),
    ({"key": "locker", "value": "8" * 2_000}, "invalid_memory_candidates:value_too_long"),
    ({"key": "locker", "value": "81", "scope": ["user"]}, "invalid_memory_candidates:scope"),
    ({"key": "locker", "value": "81", "scope": "everybody"}, "memory_scope_not_allowed_policy:everybody"),
    ({"key": "locker", "value": "81", "ttl_days": "soon"}, "invalid_memory_candidates:ttl_days"),
    ({"key": "locker", "value": "81", "confidence": "high"}, "invalid_memory_candidates:confidence"),
    ({"key": "locker", "value": "81", "quote": 81}, "invalid_memory_candidates:quote"),
]


@pytest.mark.parametrize(("bad", "reason"), BAD)
async def test_a_malformed_item_stops_the_run_where_policy_stops(bad: object, reason: str) -> None:
    with pytest.raises(MnemicError) as stopped:
        await extract(bad, GOOD, policy=Policy.of("locker", keyless=True))
    assert stopped.value.reason == reason


@pytest.mark.parametrize("bad", [one for one, _ in BAD])
async def test_a_malformed_item_costs_no_other_item(bad: object) -> None:
    found = await extract(bad, GOOD)
    assert GOOD["value"] in [one.content for one in found.candidates]


@pytest.mark.parametrize(
    "oddly",
    [
        {"op": "insert"}, {"op": ["add"]}, {"scope": "User"}, {"scope": None}, {"ttl_days": "30 days"},
        {"confidence": "high"}, {"confidence": 95}, {"category": "Health"}, {"key": "null"}, {"key": ""},
        {"value": ["on the", "lake"]}, {"value": None}, {"importance": 9}, {"quote": "I ROW ON THE LAKE EACH TUESDAY"},
        {"quote": "I row ... each Tuesday"}, {"quote": "The user rows", "value": "row on the lake each Tuesday"},
    ],
)  # fmt: skip
async def test_an_item_with_an_odd_label_is_kept_without_it(oddly: dict[str, object]) -> None:
    (kept,) = (await extract({**GOOD, **oddly})).candidates
    assert (kept.content, kept.key, kept.level) == (GOOD["value"], None, "user")


@pytest.mark.parametrize(
    "wrap",
    [
        lambda one: one,
        lambda one: [one],
        lambda one: {"items": one},
        lambda one: {"memories": [one]},
        lambda one: {"result": {"items": [one]}},
    ],
)
async def test_items_are_found_in_another_form_of_answer(wrap: Any) -> None:
    completer = Scripted()
    completer.answer = json.dumps(wrap(GOOD))
    found = await ModelExtractor(completer).extract(
        Message(role="user", content=TEXT), policy=Policy(), budget=Budget(), deadline=DEADLINE
    )
    assert [one.content for one in found.candidates] == [GOOD["value"]]


async def test_items_beyond_the_limit_are_left_out_and_the_first_are_kept() -> None:
    found = await extract(GOOD, *[{"op": "none"}] * 9)
    assert [one.content for one in found.candidates] == [GOOD["value"]]
    assert [one.reason for one in found.skipped] == ["invalid_memory_candidates:too_many_items"]


async def test_what_policy_forbids_still_stops_where_policy_stops() -> None:
    with pytest.raises(MnemicError) as stopped:
        await extract(GOOD, {"key": "locker", "value": "81"}, policy=Policy.of("name", keyless=True))
    assert stopped.value.reason == "memory_key_not_allowed_policy:locker"
    only_users = Policy(levels=frozenset({"user"}), on_violation="stop")
    with pytest.raises(MnemicError) as stopped:
        await extract(GOOD, {"key": "locker", "value": "81", "scope": "workspace"}, policy=only_users)
    assert stopped.value.reason == "memory_scope_not_allowed_policy:workspace"


async def test_a_key_that_the_policy_names_takes_a_value_for_which_the_tables_know_another() -> None:
    """The rules would call it `response_style`, which this policy does not know."""
    item = {"key": "tone", "value": "concise", "quote": "keep it concise"}
    found = await extract(item, text="Please always keep it concise.", policy=Policy.of("tone"))
    assert [(one.key, one.content) for one in found.candidates] == [("tone", "concise")]


@pytest.mark.parametrize("number", [1, "1", " 1 ", 1.0, "#1"])
async def test_the_number_of_a_known_memory_is_taken_as_text_too(number: object) -> None:
    said = {"op": "update", "id": number, "key": None, "value": "My locker at the pool is 81.",
            "quote": "My locker at the pool is 81."}  # fmt: skip
    (kept,) = (await extract(said, known=(KNOWN,))).candidates
    assert kept.replaces == (KNOWN.memory_id,)


@pytest.mark.parametrize("number", [True, 1.5, "one", "", "2", "-1", None, [1], "1" * 5_000])
async def test_what_is_no_number_of_a_known_memory_is_refused(number: object) -> None:
    found = await extract({"op": "end", "id": number, "quote": "My locker at the pool is 81."}, known=(KNOWN,))
    assert [one.reason for one in found.skipped] == ["unknown_memory"]


async def test_numbers_and_operations_are_taken_as_models_write_them() -> None:
    said = {**GOOD, "op": "ADD", "ttl_days": "30", "confidence": "0.7"}
    (kept,) = (await extract(said)).candidates
    assert kept.confidence == 0.7
    assert kept.ttl is not None
    assert kept.ttl.days == 30


async def test_a_turn_is_taken_by_its_number_as_text_too() -> None:
    extractor = ModelExtractor(Scripted({**GOOD, "turn": "0"}))
    (found,) = await extractor.extract_window(
        [Message(role="user", content=TEXT)], policy=Policy(), budget=Budget(), deadline=DEADLINE
    )
    assert isinstance(found, Extraction)
    assert [one.content for one in found.candidates] == [GOOD["value"]]


async def test_a_turn_is_settled_by_the_only_message_that_has_the_quote() -> None:
    messages = [Message(role="user", content="Hm, let me see."), Message(role="user", content=TEXT)]
    for turn in ({}, {"turn": 0}, {"turn": 7}, {"turn": "second"}):
        first, second = await ModelExtractor(Scripted({**GOOD, **turn})).extract_window(
            messages, policy=Policy(), budget=Budget(), deadline=DEADLINE
        )
        assert isinstance(first, Extraction)
        assert isinstance(second, Extraction)
        assert (first.candidates, [one.content for one in second.candidates]) == ((), [GOOD["value"]])
