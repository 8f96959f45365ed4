"""Operations that a model proposes on what is remembered, through the real client."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.extract.message_context import MessageContext, known_key
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Kind, Memory, Message, Origin, Scope, Trust
from mnemic.types.trace import RunReport
from tests.scripted_model import ModelRequest, Reply, ScriptedModelServer

ANA = Actor(user="ana", session="s1")
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)

Item = dict[str, Any]
Answer = Callable[[dict[str, Any]], list[Item]]


def add(key: str | None, value: str, quote: str, **more: Any) -> Item:
    return {"op": "add", "id": None, "key": key, "value": value, "quote": quote, **more}


def update(text: str, key: str | None, value: str, quote: str) -> Answer:
    """An update of the known memory that says `text`."""
    return lambda shown: [{"op": "update", "id": number(shown, text), "key": key, "value": value, "quote": quote}]


def end(text: str, quote: str) -> Answer:
    return lambda shown: [{"op": "end", "id": number(shown, text), "quote": quote}]


def number(shown: dict[str, Any], text: str) -> int:
    return next((one["id"] for one in shown["known"] if text in one["text"]), 99)


@asynccontextmanager
async def engine_of(folder: Path, *answers: list[Item] | Answer | str, **given: Any) -> AsyncIterator[Telling]:
    waiting = list(answers)

    def reply(request: ModelRequest) -> Reply:
        answer = waiting.pop(0)
        if isinstance(answer, str):
            return Reply(content=answer)
        made = answer(json.loads(request.user)) if callable(answer) else answer
        return Reply(content=json.dumps({"items": made}))

    options = {name: given.pop(name) for name in ("instructions", "categories") if name in given}
    with ScriptedModelServer(reply) as server:
        completer = OpenAICompleter("scripted", base_url=server.base_url, api_key="test")
        store, embedder = SqliteStore(folder / "m.db"), given.pop("embedder", None) or WordEmbedder()
        extractor = ModelExtractor(completer, **options)  # alone: here the operations of a model are tested
        async with MemoryEngine(
            store=store, embedder=embedder, clock=ManualClock(), extractor=extractor, **given
        ) as engine:
            try:
                yield Telling(engine, server)
            finally:
                await completer.close()


class Telling:
    def __init__(self, engine: MemoryEngine, server: ScriptedModelServer) -> None:
        self.engine, self.server, self.told = engine, server, 0

    async def say(self, text: str) -> RunReport:
        self.told += 1
        at = MONDAY + timedelta(days=self.told)
        return await self.engine.capture(Message(role="user", content=text, sent_at=at, session="s1"), actor=ANA)

    async def live(self) -> list[Memory]:
        return list(await self.engine.list(actor=ANA))

    async def texts(self) -> list[str]:
        return sorted(one.content for one in await self.live())

    def shown(self, place: int) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.server.requests[place].user)
        return found


def reasons(report: RunReport) -> list[str]:
    return [one.reason for one in report.skipped]


async def test_an_update_takes_the_place_of_the_memory_it_names(tmp_path: Path) -> None:
    first, then = "We rent a flat in Lund.", "We have bought the flat next door in Malmö."
    async with engine_of(tmp_path, [add(None, first, first)], update("Lund", None, then, then)) as telling:
        await telling.say(first)
        report = await telling.say(then)
        assert telling.shown(1)["known"] == [{"id": 1, "key": None, "text": first, "since": "2026-03-03"}]
        assert await telling.texts() == [then]
        (receipt,) = report.receipts
        assert (receipt.outcome, len(receipt.superseded)) == ("superseded", 1)
        old = await telling.engine.history(receipt.superseded[0], actor=ANA)
        assert old[-1].valid_to == MONDAY + timedelta(days=2)


async def test_an_update_to_a_value_that_nobody_said_ends_nothing(tmp_path: Path) -> None:
    then = "We sold the summer house."
    async with engine_of(tmp_path, update("Bergen", "home_city", "Ulaanbaatar", then)) as telling:
        await telling.engine.add("Bergen", key="home_city", actor=ANA)
        await telling.say(then)
        assert await telling.texts() == ["Bergen", then]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I live in Lisbon with my dog Rex.", "I moved to Porto."),
        ("We have a Volvo and a house in Kent.", "We sold the Volvo."),
        ("My flight is on 3 May and I'm allergic to nuts.", "The flight is on 5 May now."),
        ("Ich wohne in Jena und habe eine Katze.", "Ich bin nach Erfurt gezogen."),
    ],
)
async def test_an_update_of_one_of_several_things_takes_none_of_them_away(
    tmp_path: Path, first: str, then: str
) -> None:
    async with engine_of(tmp_path, [add(None, first, first)], update(first[:9], None, then, then)) as telling:
        await telling.say(first)
        await telling.say(then)
        assert await telling.texts() == sorted([first, then])


@pytest.mark.parametrize(
    ("then", "item"),
    [
        ("I moved to Oslo.", {"op": "update", "key": None, "value": "I moved to Oslo."}),
        ("I moved to Oslo.", {"op": "update", "key": "home_city", "value": "Oslo"}),
        ("I quit Netflix.", {"op": "end"}),
    ],
)
async def test_the_wrong_memory_named_with_a_few_words_stays(tmp_path: Path, then: str, item: Item) -> None:
    first = "Peanuts cause dreadful hives."
    answer = [{**item, "id": 1, "quote": then}]
    async with engine_of(tmp_path, [add(None, first, first)], answer) as telling:
        await telling.say(first)
        await telling.say(then)
        assert first in await telling.texts()


async def test_an_end_keeps_the_users_words_for_it(tmp_path: Path) -> None:
    first, then = "I sing in the harbour choir.", "I no longer sing in the harbour choir."
    async with engine_of(tmp_path, [add(None, first, first)], end("choir", "no longer sing in the harbour")) as telling:
        await telling.say(first)
        await telling.say(then)
        assert await telling.texts() == [then]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I drive a Golf.", "The Golf is sold."),
        ("Ik rijd in een Polo.", "De Polo is verkocht."),
        ("Voy a yoga los lunes.", "Ya no voy a yoga."),
        ("Mieszkam w Krakowie.", "Już nie mieszkam w Krakowie."),
        ("Mam psa o imieniu Burek.", "Burek zdechł."),
        ("Mamy samochód.", "Sprzedaliśmy samochód."),
    ],
)
async def test_an_end_of_the_known_thing_is_taken_in_any_language(tmp_path: Path, first: str, then: str) -> None:
    async with engine_of(tmp_path, [add(None, first, first)], end(first, then)) as telling:
        await telling.say(first)
        await telling.say(then)
        assert await telling.texts() == [then]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I am allergic to peanuts.", "I had pasta for lunch."),
        ("I take insulin every morning.", "I quit smoking."),
        ("I love fish.", "Emma doesn't like fish."),
        ("I own a red bicycle.", "I sold the red lamp."),
        ("I can't eat gluten.", "There is no gluten in rice."),
        ("Vivo en Jaén.", "Mi prima ya no vive en Jaén."),
        ("I drive a Golf.", "The Golf is at the garage."),
        ("I'm dating Lena.", "Lena has a new job."),
        ("Pracuję w Orlenie.", "Mój brat nie pracuje już w Orlenie."),
        ("Mam psa o imieniu Burek.", "Burek i Reksio bawią się w ogrodzie."),
        ("Je travaille chez Renault.", "J'ai revendu ma Renault."),
        ("Lavoro alla Fiat.", "Ho venduto la Fiat."),
    ],
)
async def test_an_end_by_words_about_something_else_is_refused_and_the_words_are_kept(
    tmp_path: Path, first: str, then: str
) -> None:
    async with engine_of(tmp_path, [add(None, first, first)], end(first, then)) as telling:
        await telling.say(first)
        await telling.say(then)
        assert await telling.texts() == sorted([first, then])


@pytest.mark.parametrize(
    ("first", "item", "ended"),
    [
        ("I work at the post office.", end("post", "The post office let me go."), True),
        ("I'm the treasurer of the choir.", end("choir", "I've handed over as treasurer."), True),
        ("I'm vegan.", update("vegan", None, "pescatarian", "I eat fish again, so pescatarian I guess."), True),
        ("I use a Windows laptop.", update("laptop", None, "Mac", "I've gone over to a Mac."), True),
        ("I have a cat.", end("cat", "I had a cat nap this afternoon."), False),
        ("I'm a member of the chess club.", end("chess", "The chess club lost last night."), False),
        ("My boss is Anna.", update("Anna", None, "Rolf", "My flatmate's boss is a guy named Rolf."), False),
        (
            "My budget is 500 pounds.",
            update("budget", None, "5 million", "The council's budget is now 5 million."),
            False,
        ),
    ],
)
async def test_what_a_model_calls_over_is_so_if_both_statements_read_like_it(
    tmp_path: Path, first: str, item: Answer, ended: bool
) -> None:
    async with engine_of(tmp_path, [add(None, first, first)], item, embedder=MiniLmEmbedder(threads=1)) as telling:
        await telling.say(first)
        await telling.say(item({"known": []})[0]["quote"])
        assert (first not in await telling.texts()) is ended


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"op": "update", "id": 7, "key": None, "value": "x", "quote": "I sail a dinghy"}, "unknown_memory"),
        ({"op": "end", "id": True, "quote": "I sail a dinghy"}, "unknown_memory"),
        ({"op": "end", "id": 1, "quote": "I sold the dinghy"}, "unsupported"),
        ({"op": "erase", "id": 1}, "unsupported"),
        (add(None, "I own a yacht", "I sail a dinghy"), None),
        (add("boat", "dinghy a sail", "I sail a dinghy"), None),
    ],
)
async def test_what_the_words_do_not_bear_changes_nothing(tmp_path: Path, item: Item, reason: str | None) -> None:
    text, then = "I sail a dinghy.", "I sail a dinghy on Sundays."
    async with engine_of(tmp_path, [add(None, text, text)], [item]) as telling:
        await telling.say(text)
        assert reasons(await telling.say(then)) == ([] if reason is None else [reason])
        assert await telling.texts() == ([text] if reason == "unsupported" else [then, text])


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("Ich bin Vegetarierin.", add("diet", "vegetarian", "Ich bin Vegetarierin")),
        ("I'm allergic to kiwi.", add(None, "User has a kiwi allergy.", "I'm allergic to kiwi")),
        ("My sister Emma moved to Lisbon.", add("home_city", "Lisbon", "My sister Emma moved to Lisbon")),
        (
            "My sister Emma moved to Lisbon.",
            add("home_city", "Lisbon", "My sister Emma moved to Lisbon", subject="sister Emma", holds="now"),
        ),
        ("I'm not a member any more.", add("member", "true", "I'm not a member any more", holds="denied")),
        ("I keep bees near Graz.", add("health", "bees", "I keep bees near Graz", subject="me", holds="now")),
    ],
)
async def test_a_label_that_does_not_fit_costs_the_label_and_not_the_words(
    tmp_path: Path, text: str, item: Item
) -> None:
    async with engine_of(tmp_path, [item]) as telling:
        await telling.say(text)
        (kept,) = await telling.live()
        assert (kept.key, kept.content, kept.trust) == (None, text, Trust.HIGH)


async def test_a_name_for_a_kind_of_fact_replaces_nothing(tmp_path: Path) -> None:
    said = ["I keep bees near Graz.", "My locker at the pool is 81.", "We sell kites to schools."]
    labels = {"subject": "me", "holds": "now"}
    async with engine_of(tmp_path, *([add("fact", one, one, **labels)] for one in said)) as telling:
        for one in said:
            await telling.say(one)
        assert await telling.texts() == sorted(said)


async def test_what_a_model_says_in_other_words_helps_to_find_the_users(tmp_path: Path) -> None:
    labels = {"subject": "me", "holds": "now"}
    async with engine_of(tmp_path, [add("diet", "vegetarian", "Ich bin Vegetarierin", **labels)]) as telling:
        await telling.say("Ich bin Vegetarierin.")
        (kept,) = await telling.live()
        assert (kept.content, kept.context) == ("Ich bin Vegetarierin.", "diet: vegetarian")


@pytest.mark.parametrize("holds", ["asked", "Asked"])
async def test_what_the_model_itself_calls_a_request_is_not_kept(tmp_path: Path, holds: str) -> None:
    text = "I need a table for two near the harbour."
    async with engine_of(tmp_path, [add(None, text, text, subject="me", holds=holds)]) as telling:
        assert reasons(await telling.say(text)) == ["transient"]


async def test_both_updates_of_one_sentence_happen(tmp_path: Path) -> None:
    texts = ["My desk is on floor two.", "My phone ends in 44."]
    now = "New desk on floor nine, and my phone ends in 51."

    def both(shown: dict[str, Any]) -> list[Item]:
        places = [("desk", "New desk on floor nine"), ("phone", "my phone ends in 51")]
        return [update(text, None, quote, quote)(shown)[0] for text, quote in places]

    async with engine_of(tmp_path, *([add(None, one, one)] for one in texts), both) as telling:
        for one in (*texts, now):
            await telling.say(one)
        assert not set(texts) & set(await telling.texts())


async def test_none_is_no_operation(tmp_path: Path) -> None:
    async with engine_of(tmp_path, [{"op": "none"}]) as telling:
        report = await telling.say("Good morning!")
        assert (report.receipts, report.skipped) == ((), ())


async def test_a_models_own_reading_is_trusted_less_than_the_users_words(tmp_path: Path) -> None:
    text = "I row on the lake each Tuesday."
    item = add("hobby", "row on the lake", text, subject="me", holds="now")
    policy = Policy(keys={"hobby": KeyRule("hobby")}, open_keys=True)
    async with engine_of(tmp_path, [item], policy=policy) as telling:
        await telling.say(text)
        origins = {one.key: (one.source.origin, one.trust) for one in await telling.live()}
        assert origins == {
            "hobby": (Origin.AGENT_INFERRED, Trust.MEDIUM),
            None: (Origin.USER_STATED, Trust.HIGH),
        }


@pytest.mark.parametrize("text", ["Answer in Norwegian from now on.", "Could you keep answers under 90 words?"])
async def test_an_instruction_in_the_users_words_is_in_force_whoever_labels_it(tmp_path: Path, text: str) -> None:
    item = add("answers", text, text, category="instruction", subject="me", holds="now")
    async with engine_of(tmp_path, [item]) as telling:
        report = await telling.say(text)
        assert report.for_review == ()
        (kept,) = await telling.live()
        assert (kept.content, kept.category, kept.trust) == (text, "instruction", Trust.HIGH)


async def test_a_statement_that_is_no_order_is_none_because_a_small_model_calls_it_so(tmp_path: Path) -> None:
    text = "My cat sleeps on the stove."
    async with engine_of(tmp_path, [add(None, text, text, category="instruction")]) as telling:
        await telling.say(text)
        assert [one.category for one in await telling.live()] == [None]


async def test_a_reading_takes_the_place_of_the_users_words_only_in_their_own(tmp_path: Path) -> None:
    quote = "My locker at the pool is 81 since today"
    async with engine_of(tmp_path, update("locker", "locker", "81", quote)) as telling:
        await telling.engine.add("My locker at the pool is number 12.", actor=ANA)
        await telling.say(f"{quote}.")
        (left,) = await telling.live()
        assert (left.content, left.key, left.trust) == (f"{quote}.", None, Trust.HIGH)


async def test_a_key_is_the_known_one_that_is_meant(tmp_path: Path) -> None:
    items = [add("favourite_colour", "teal", "my favourite colour is teal", subject="me", holds="now")]
    policy = Policy(keys={"favorite_color": KeyRule("favorite_color")}, open_keys=True)
    async with engine_of(tmp_path, items, policy=policy) as telling:
        await telling.say("Well, my favourite colour is teal.")
        assert [one.key for one in await telling.live() if one.key] == ["favorite_color"]


async def test_a_value_does_not_go_under_another_key_than_its_words_give_it(tmp_path: Path) -> None:
    policy = Policy.of("name", "home_city", on_violation="skip")
    async with engine_of(tmp_path, [add("name", "Turin", "I live in Turin")], policy=policy) as telling:
        assert reasons(await telling.say("I live in Turin.")) == ["unsupported"]


async def test_one_statement_may_take_the_place_of_several(tmp_path: Path) -> None:
    texts = ["The team has six people.", "The team meets in room four."]
    now = "The team is gone."

    def both(shown: dict[str, Any]) -> list[Item]:
        ids = [number(shown, "six"), number(shown, "room")]
        return [{"op": "update", "id": one, "key": None, "value": now, "quote": now} for one in ids]

    async with engine_of(tmp_path, *([add(None, one, one)] for one in texts), both) as telling:
        for one in (*texts, now):
            await telling.say(one)
        assert await telling.texts() == [now]


async def test_fenced_json_and_custom_categories_are_taken(tmp_path: Path) -> None:
    text = "We sell kites to schools."
    fenced = "```json\n" + json.dumps({"items": [add(None, text, text, category="offer")]}) + "\n```"
    instructions = "Keep what the company sells."
    async with engine_of(tmp_path, fenced, instructions=instructions, categories=["offer"]) as telling:
        await telling.say(text)
        assert [one.category for one in await telling.live()] == ["offer"]
        assert telling.shown(0)["instructions"] == instructions
        assert telling.shown(0)["categories"] == ["offer"]
    with pytest.raises(InvalidInput):
        ModelExtractor(telling.engine.completer, categories=[""])  # type: ignore[arg-type]


async def test_the_turns_before_are_shown(tmp_path: Path) -> None:
    async with engine_of(tmp_path, []) as telling:
        said = [Message(role="assistant", content="Which deck?", session="s1")]
        await telling.engine.record(said, actor=ANA)
        await telling.say("The upper one, always.")
        assert telling.shown(0)["before"] == [{"role": "assistant", "content": "Which deck?"}]


async def test_a_closed_policy_keeps_an_end_under_the_key(tmp_path: Path) -> None:
    policy = Policy.of("choir")
    answers = [add("choir", "harbour choir", "I sing in the harbour choir")], end("harbour", "harbour choir is over")
    async with engine_of(tmp_path, *answers, policy=policy) as telling:
        await telling.say("I sing in the harbour choir.")
        await telling.say("The harbour choir is over for me.")
        assert await telling.texts() == ["The harbour choir is over for me."]


async def test_an_end_that_the_policy_cannot_take_is_left_out(tmp_path: Path) -> None:
    policy = Policy.of(KeyRule("choir", allowed_values=frozenset({"harbour choir"})))
    answers = [add("choir", "harbour choir", "I sing in the harbour choir")], end("harbour", "harbour choir is over")
    async with engine_of(tmp_path, *answers, policy=policy) as telling:
        await telling.say("I sing in the harbour choir.")
        assert reasons(await telling.say("The harbour choir is over for me.")) == ["invalid_memory_candidates:value"]


@pytest.mark.parametrize(
    ("text", "quote", "kept"),
    [
        ("Please move me to gate nine, I use a rollator, ok?", "I use a rollator", True),
        ("The doctor told me to rest, so I'm off until May.", "so I'm off until May", True),
        ("No lifting for me till spring, the doctor says.", "No lifting for me till spring", True),
        ("I never said I smoke.", "I never said I smoke", True),
        ("Am I allergic to kiwi?", "Am I allergic to kiwi", False),
        ('The vendor said everybody: "I move to the cloud."', "I move to the cloud", False),
        ('Translate: "I am the king of Norway, bring me my horse."', "I am the king of Norway", False),
        ("Pretend you are a pirate. I live on a ship.", "I live on a ship", False),
    ],
)
async def test_a_statement_beside_a_question_or_a_report_is_the_users(
    tmp_path: Path, text: str, quote: str, kept: bool
) -> None:
    async with engine_of(tmp_path, [add(None, quote, quote)]) as telling:
        await telling.say(text)
        assert bool(await telling.live()) is kept


def test_a_more_general_key_is_mapped_where_one_is_meant() -> None:
    known = [_memory("home_city"), _memory("employer")]
    around = MessageContext(known=tuple(known))
    assert known_key("city", around, Policy()) == "home_city"
    assert known_key("employers", around, Policy()) == "employer"
    assert known_key("work_city", around, Policy()) == "work_city"
    assert known_key("city", MessageContext(known=(*known, _memory("work_city"))), Policy()) == "city"


def _memory(key: str) -> Memory:
    scope = Scope(tenant="default", level="user", owner="ana")  # type: ignore[arg-type]
    return Memory(
        memory_id=f"m-{key}",
        kind=Kind.LONG_TERM,
        scope=scope,
        content="x",
        key=key,
        created_at=MONDAY,
        updated_at=MONDAY,
    )


async def test_few_words_are_found_by_what_they_change(tmp_path: Path) -> None:
    first, fewer = "I smoke a pipe each evening.", "Down to Sundays!"
    async with engine_of(tmp_path, [add(None, first, first)], update("pipe", None, fewer, fewer)) as telling:
        await telling.say(first)
        await telling.say(fewer)
        assert first in [one.context.partition("\n")[0] for one in await telling.live() if one.content == fewer]


@pytest.mark.parametrize(
    "said",
    [
        "correct the Alba entry please: 40 staff, somebody misread it",
        "The invoice says 40 staff at Alba, not 400",
        "I've been told that Alba is down to 40 staff, which is fine with us",
        "The auditor told me I misread it, so I have 40 staff for Alba now",
    ],
)
async def test_what_a_person_passes_on_as_their_own_may_update(tmp_path: Path, said: str) -> None:
    first = "Alba has 400 staff."
    async with engine_of(tmp_path, [add(None, first, first)], update("Alba", None, said, said)) as telling:
        await telling.say(first)
        report = await telling.say(said)
        assert [one.outcome for one in report.receipts] == ["superseded"], reasons(report)
