"""A model only proposes: what the user's words do not hold is left out."""

from __future__ import annotations

import json

import pytest

from mnemic.errors import ModelInvalidJson, ModelInvalidSchema, ModelTimeout
from mnemic.extract.entities import ME, EntityReading
from mnemic.kinds.entity_readers.model_reader import LayeredEntityReader, ModelEntityReader
from mnemic.kinds.entity_readers.rules import RuleEntityReader
from mnemic.types import Completion, Deadline, Message, Origin, Prompt

TEXT = "My sister Ana (we call her Anita) works at Siemens."
NEVER = Deadline(float("inf"), lambda: 0.0)


class Scripted:
    """A completer that answers what it was told, and remembers what it was asked."""

    model = "scripted"

    def __init__(self, reply: object) -> None:
        self.reply = reply
        self.prompts: list[Prompt] = []

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        self.prompts.append(prompt)
        return Completion(text=self.reply if isinstance(self.reply, str) else json.dumps(self.reply), model=self.model)

    async def close(self) -> None:
        return None


async def read(reply: object, *, origin: Origin = Origin.USER_STATED) -> tuple[EntityReading, Scripted]:
    completer = Scripted(reply)
    message = Message(role="user", content=TEXT, origin=origin)
    return await ModelEntityReader(completer).read(message, deadline=NEVER), completer


def answer(entities: list[object], relations: list[object]) -> dict[str, object]:
    return {"entities": entities, "relations": relations}


ANA = {"name": "Ana", "label": "person", "aliases": ["Anita", "Annie"]}
SIEMENS = {"name": "Siemens", "label": "organisation", "aliases": []}


async def test_what_the_words_hold_is_kept() -> None:
    reading, completer = await read(
        answer(
            [ANA, SIEMENS],
            [
                {"source": "me", "relation": "sister", "target": "Ana", "ended": False},
                {"source": "Ana", "relation": "works_at", "target": "Siemens", "ended": True},
            ],
        )
    )
    assert [(one.name, one.label, one.aliases) for one in reading.named] == [
        ("Ana", "person", ("Anita",)),
        ("Siemens", "organisation", ()),
    ]
    assert [(one.source, one.relation, one.target, one.ended) for one in reading.relations] == [
        (ME, "sister", "Ana", False),
        ("Ana", "works_at", "Siemens", True),
    ]
    assert json.loads(completer.prompts[0].user)["message"] == TEXT
    assert TEXT not in completer.prompts[0].system


@pytest.mark.parametrize(
    ("entities", "relations"),
    [
        ([{"name": "Bosch", "label": "organisation", "aliases": []}], []),
        ([{"name": 7, "label": "person"}], []),
        ([], [{"source": "Ana", "relation": "works_at", "target": "Siemens", "ended": False}]),
        ([ANA], [{"source": "Ana", "relation": "works_at", "target": "Bosch", "ended": False}]),
        ([ANA], [{"source": "Ana", "relation": "'}) DETACH DELETE n //", "target": "me", "ended": False}]),
        ([ANA], [{"source": "Ana", "relation": "knows", "target": "Ana"}]),
    ],
)
async def test_what_they_do_not_hold_is_left_out(entities: list[object], relations: list[object]) -> None:
    reading, _ = await read(answer(entities, relations))
    assert reading.relations == ()
    assert {one.name for one in reading.named} <= {"Ana"}
    assert {one.reason for one in reading.skipped} == {"unsupported"}


async def test_an_unknown_label_is_a_thing() -> None:
    reading, _ = await read(answer([{"name": "Ana", "label": "WIZARD", "aliases": "no"}], []))
    assert [(one.label, one.aliases) for one in reading.named] == [("thing", ())]


@pytest.mark.parametrize(
    "reply",
    [
        {"entities": [ANA]},
        [ANA],
        {"Entities": [ANA | {"label": "Person"}]},
        {"result": {"entities": [ANA], "relations": []}},
        "<think>Who is Ana?</think>\n```json\n" + json.dumps(answer([ANA], [])) + "\n```",
        json.dumps(answer([ANA, SIEMENS], []))[:-50],
    ],
    ids=["one list", "a list alone", "another name", "inside another", "after a thought", "cut off"],
)
async def test_an_answer_in_another_form_is_read_all_the_same(reply: object) -> None:
    reading, _ = await read(reply)
    assert [(one.name, one.label) for one in reading.named] == [("Ana", "person")]


@pytest.mark.parametrize("ended", [True, "true", "True"])
async def test_a_relation_is_read_in_any_case(ended: object) -> None:
    said = {"source": "Me", "relation": "Sister", "target": "Ana", "ended": ended}
    reading, _ = await read(answer([ANA], [said]))
    assert [(one.source, one.relation, one.ended) for one in reading.relations] == [(ME, "sister", True)]


async def test_a_name_that_the_model_finds_drops_no_other_that_the_rules_read() -> None:
    text = "Meine Schwester Ana arbeitet bei Siemens, und mein Bruder Jonas wohnt in Kiel."
    message = Message(role="user", content=text)
    alone = await RuleEntityReader().read(message, deadline=NEVER)
    found = {"name": "Kiel", "label": "place", "aliases": []}
    reading = await LayeredEntityReader(Scripted(answer([found], []))).read(message, deadline=NEVER)
    assert alone.named
    assert {one.name for one in reading.named} >= {one.name for one in alone.named}


@pytest.mark.parametrize("reply", [{}, {"entities": 1, "relations": 2}, answer(["Ana"], [])])
async def test_another_shape_is_refused(reply: object) -> None:
    with pytest.raises(ModelInvalidSchema):
        await read(reply)
    with pytest.raises(ModelInvalidJson):
        await read("not json")


async def test_others_words_are_not_shown_to_the_model() -> None:
    reading, completer = await read(answer([ANA], []), origin=Origin.WEB)
    assert (reading.named, completer.prompts) == ((), [])


async def test_one_entity_of_another_shape_costs_only_itself() -> None:
    reading, _ = await read(answer(["Ana", SIEMENS], []))
    assert [one.name for one in reading.named] == ["Siemens"]


class Failing(Scripted):
    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        raise ModelTimeout


@pytest.mark.parametrize(
    "completer",
    [Failing({}), Scripted(answer([], [])), Scripted("Nice family!"), Scripted({}), Scripted(answer(["x"], ["y"]))],
    ids=["late", "silent", "prose", "empty", "foolish"],
)
async def test_what_rules_read_of_people_stays_whatever_a_model_answers(completer: Scripted) -> None:
    message = Message(role="user", content=TEXT)
    alone = await RuleEntityReader().read(message, deadline=NEVER)
    reading = await LayeredEntityReader(completer).read(message, deadline=NEVER)
    assert alone.named
    assert reading.named[: len(alone.named)] == alone.named
    assert reading.relations == alone.relations


async def test_a_model_adds_to_what_rules_read_of_people() -> None:
    text = "Meine Schwester Ana arbeitet bei Siemens."
    reply = answer([ANA, SIEMENS], [{"source": "Ana", "relation": "works_at", "target": "Siemens", "ended": False}])
    reading = await LayeredEntityReader(Scripted(reply)).read(Message(role="user", content=text), deadline=NEVER)
    assert {one.name for one in reading.named} >= {"Ana", "Siemens"}
    assert ("Ana", "works_at", "Siemens") in {(one.source, one.relation, one.target) for one in reading.relations}
