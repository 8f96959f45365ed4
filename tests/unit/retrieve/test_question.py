"""How a question is read: names, days, parts, keys, and what a search made of it."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import AsyncMemoryManager, Message
from mnemic.engine import MemoryEngine
from mnemic.language.questions.attributes import asked_keys
from mnemic.language.questions.times import NamedDate, named_date
from mnemic.language.text.time_expressions import READ
from mnemic.policy.budget import Budget
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.retrieve.fusion import either, longer
from mnemic.retrieve.intent_planning import RulePlanner
from mnemic.retrieve.question import first_person, names_of_people, parts_of, read_question, spelled_keys
from mnemic.retrieve.result_assembly import NameLookup, names_of, one_slip
from mnemic.runtime.clock import SystemClock
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Deadline, Kind, Level, Memory, Scored
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_the_vector_is_made_of_the_question_in_the_first_person() -> None:
    question = read_question("What did Ana's son tell Ana?", speakers={"Ana", "Ben"})
    assert question.embedded == "What did my son tell I?"
    assert question.speakers == {"Ana"}
    assert "Ana" not in question.keywords
    assert "son" in question.keywords


def test_roles_are_no_names_and_i_is_the_asker() -> None:
    question = read_question("What did the user say I like?", speakers={"user", "assistant"})
    assert question.embedded == "What did the user say I like?"
    assert question.speakers == {"user"}
    assert read_question("What do I like?", speakers={"Ana"}).speakers == frozenset()


def test_who_asks_for_what_the_other_side_said_asks_about_no_speaker() -> None:
    EXAMPLES.assert_right(
        lambda text: read_question(text, speakers={"user", "assistant"}).speakers,
        "who_asks_for_what_the_other_side_said_asks_about_no_speaker",
    )


def test_a_name_that_is_a_common_word_counts_only_as_written() -> None:
    assert first_person("what will happen", names_of_people(["Will"])) == "what will happen"
    assert first_person("what did Will do", names_of_people(["Will"])) == "what did I do"


def test_a_first_name_is_enough_where_one_speaker_has_it() -> None:
    speakers = {"Ana Souza", "Ben Adler"}
    question = read_question("What did Ana's son tell Ben Adler?", speakers=speakers)
    assert question.speakers == speakers
    assert question.embedded == "What did my son tell I?"
    assert question.keywords == "son tell ?"
    assert read_question("What did Souza say?", speakers=speakers).speakers == frozenset()


@pytest.mark.parametrize(
    ("query", "speakers", "named"),
    [
        ("What did Ana say?", {"Ana Souza", "Ana Lima"}, frozenset()),
        ("What did Ana say?", {"Ana Souza", "Ben Ana"}, frozenset()),
        ("What did Ana say?", {"Ana", "Ana Souza"}, {"Ana"}),
        ("What did Ana Lima say?", {"Ana Souza", "Ana Lima"}, {"Ana Lima"}),
        ("What will Dr. Souza do?", {"Dr. Souza", "Ben"}, {"Dr. Souza"}),
        ("What will dr say?", {"Dr. Souza", "Ben"}, frozenset()),
        ("what will happen", {"Will Smith", "Ben"}, frozenset()),
        ("what did Will do", {"Will Smith", "Ben"}, {"Will Smith"}),
        ("What is a rule?", {"A Rule", "Ben"}, {"A Rule"}),
    ],
)
def test_a_first_name_of_several_is_nobodys(query: str, speakers: set[str], named: set[str]) -> None:
    assert read_question(query, speakers=speakers).speakers == named


def test_phrases_and_questions_of_common_words_keep_their_words() -> None:
    assert read_question('who said "the who"').keywords == 'who said "the who"'
    assert read_question("who is it").keywords == "who is it"


def test_neighbouring_words_spell_keys() -> None:
    assert "update_channel" in spelled_keys("Which update channel should I use?")
    assert "channel_update" not in spelled_keys("Which update channel should I use?")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What happened on 7 May 2023?", NamedDate(2023, 5, 7)),
        ("What happened on May 7th, 2023?", NamedDate(2023, 5, 7)),
        ("Where was she in March?", NamedDate(None, 3)),
        ("What did he buy in 2022?", NamedDate(2022)),
        ("What may she do?", None),
    ],
)
def test_a_named_date_is_read(query: str, expected: NamedDate | None) -> None:
    assert named_date(query) == expected


def test_something_is_told_on_its_day_or_soon_after() -> None:
    seventh = NamedDate(2023, 5, 7)
    assert [seventh.may_be_said_on(date(2023, 5, day)) for day in (5, 6, 17, 18)] == [False, True, True, False]
    assert NamedDate(None, 12).may_be_said_on(date(2024, 1, 9))
    assert not NamedDate(2023, 2, 31).may_be_said_on(date(2023, 3, 3))


@given(st.text(max_size=300), st.frozensets(st.text(min_size=1, max_size=12), max_size=4))
def test_any_query_can_be_read(query: str, speakers: frozenset[str]) -> None:
    question = read_question(query, speakers=speakers)
    assert question.text == query
    assert question.speakers <= speakers


def test_of_a_long_text_the_beginning_tells_the_date() -> None:
    assert read_question("In May 2023 " + "so " * READ).names_date == NamedDate(2023, 5)
    assert read_question("so " * READ + "in May 2023").names_date is None


def test_a_question_about_several_things_is_cut() -> None:
    EXAMPLES.assert_right(parts_of, "a_question_about_several_things_is_cut")


def test_a_question_about_one_thing_stays_whole() -> None:
    EXAMPLES.assert_right(parts_of, "a_question_about_one_thing_stays_whole")


def test_of_a_long_text_the_beginning_is_read() -> None:
    asked = "How many cats had I then? How many now?"
    assert parts_of("so " * 300 + asked)
    assert parts_of("so " * 400 + asked) == ()


def test_what_answers_one_part_answers_the_question() -> None:
    assert either({"a": 0.2, "b": 0.9}, {"a": 0.7, "c": 0.1}) == {"a": 0.7, "b": 0.9, "c": 0.1}


def test_a_list_grows_by_what_it_does_not_have() -> None:
    one, two, three = Scored("a", 3.0), Scored("b", 2.0), Scored("b", 9.0)
    assert longer({"vector": [one, two]}, {"vector": [three, Scored("c", 1.0)], "keyword": [one]}) == {
        "vector": [one, two, Scored("c", 1.0)],
        "keyword": [one],
    }


ANA = Actor(user="ana")


def test_a_question_asks_for_a_key() -> None:
    EXAMPLES.assert_right(lambda text, key: asked_keys(text) == {key}, "a_question_asks_for_a_key")


@pytest.mark.parametrize("text", ["Where does Ben live?", "What do I do about the mould?", "Who am I meeting today?"])
def test_other_questions_ask_for_none(text: str) -> None:
    assert asked_keys(text) == frozenset()


async def test_what_is_known_under_the_key_is_no_reason_to_abstain() -> None:
    async with MemoryEngine(store=InProcessStore(), embedder=MiniLmEmbedder()) as engine:
        for text in ("I like tea.", "My dog is Rex.", "I prefer trains.", "I play chess on Sundays."):
            await engine.add(text, actor=ANA)
        unknown = await engine.search("Where do I live?", actor=ANA)
        assert unknown.abstains
        await engine.add("Oslo", key="home_city", actor=ANA)
        known = await engine.search("Where do I live?", actor=ANA)
        assert known.hits[0].memory.key == "home_city"
        assert not known.abstains


def soon() -> Deadline:
    return Deadline.after(timedelta(seconds=5), time.monotonic)


@pytest.mark.parametrize(
    ("goal", "query"),
    [
        ("Find me a flight to Denver.", "Find me a flight to Denver."),
        ("  find\n me ", "find me"),
        ("¿Qué asiento prefiero?", "¿Qué asiento prefiero?"),
    ],
)
async def test_the_goal_is_the_query(goal: str, query: str) -> None:
    intent = await RulePlanner().plan(goal, levels=["user"], budget=Budget(), deadline=soon())
    assert intent == {"kind": "retrieve_memory", "query": query, "top_k": 5}


async def test_the_query_keeps_the_budget() -> None:
    intent = await RulePlanner().plan("x" * 1000, levels=[], budget=Budget(max_retrieve_top_k=2), deadline=soon())
    assert len(intent["query"]) == 240
    assert intent["top_k"] == 2


NOW = SystemClock().now()


def memory(key: str | None = None, names: object = None) -> Memory:
    return Memory(
        memory_id="m",
        kind=Kind.LONG_TERM,
        scope=Actor(user="ana").scope(Level.USER),
        content="x",
        created_at=NOW,
        updated_at=NOW,
        key=key,
        data={} if names is None else {"names": names},
    )


@pytest.mark.parametrize(
    ("query", "key", "names"),
    [
        ("Which update channel is it?", "update_channel", None),
        ("our update channels", "update_channel", None),
        ("What does the DLQ hold?", "dead_letter_queue", ["DLQ", "dead letter"]),
        ("who reads dead letters", None, ["dead letter"]),
        ("BERGEN?", None, ["Bergen"]),
        ("the ferry to Begren", None, ["Bergen"]),
        ("the ferry to Berrgen", None, ["Bergen"]),
        ("cafe Bergene", None, ["Bergen"]),
        ("东京的天气", None, ["东京"]),
    ],
)
def test_a_name_is_found_in_any_form_of_its_words(query: str, key: str | None, names: list[str] | None) -> None:
    assert NameLookup(query).names(memory(key, names))


@pytest.mark.parametrize(
    ("query", "key", "names"),
    [
        ("the channel of the last update", "update_channel", None),
        ("the ferry to Dergen", None, ["Bergen"]),
        ("the ferry to Bxxgen", None, ["Bergen"]),
        ("k9s", None, ["k8s"]),
        ("everything", None, []),
        ("everything", None, "everything"),
        ("everything", None, [7, "", " "]),
        ("", None, ["Bergen"]),
    ],
)
def test_what_is_only_like_a_name_is_none(query: str, key: str | None, names: object) -> None:
    assert not NameLookup(query).names(memory(key, names))


def test_a_key_is_a_name_spelled_as_words() -> None:
    assert names_of(memory("update_channel", ["Slack"])) == ["update channel", "Slack"]


WORDS = st.text(ascii_lowercase, min_size=2, max_size=8)


@given(WORDS, st.data())
def test_every_single_slip_is_one(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word) - 2))
    letter = data.draw(st.sampled_from(ascii_lowercase))
    for said in (
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    ):
        assert one_slip(word, said)


@given(WORDS, WORDS)
def test_a_slip_works_both_ways(one: str, other: str) -> None:
    assert one_slip(one, other) == one_slip(other, one)


def test_two_slips_are_too_many() -> None:
    assert not one_slip("typescript", "tipescrpt")
    assert not one_slip("abcd", "badc")


ASKED = datetime(2024, 6, 15, tzinfo=UTC)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as engine:
        said = [("Marta", "I sold the blue car last week."), ("Ben", "I bought a red boat in March.")]
        await engine.record([Message(role="user", content=text, speaker=who) for who, text in said], actor=ANA)
        yield engine


async def test_a_question_about_two_things_tells_its_parts(engine: MemoryEngine) -> None:
    result = await engine.search("What did Marta sell? What did Ben buy?", actor=ANA, top_k=3)
    plan = result.plan
    assert plan.queries == ("What did Marta sell? What did Ben buy?", "What did Marta sell?", "What did Ben buy?")
    assert (plan.speakers, plan.top_k, plan.levels) == (("Ben", "Marta"), 3, ("user",))
    assert {"vector", "keyword"} <= set(plan.lists)
    json.dumps(plan.as_dict())


async def test_bounds_and_times_are_those_that_were_used(engine: MemoryEngine) -> None:
    known = datetime(2030, 1, 1, tzinfo=UTC)
    result = await engine.search(
        "what was sold two weeks ago",
        actor=ANA,
        kinds=["episodic"],
        categories=["message"],
        keys=["seat"],
        happened_from=datetime(2024, 1, 1, tzinfo=UTC),
        as_of=ASKED,
        known_at=known,
        asked_at=ASKED,
    )
    told = result.plan.as_dict()
    assert (told["kinds"], told["categories"], told["keys"]) == (["episodic"], ["message"], ["seat"])
    assert (told["happened_from"], told["happened_to"]) == ("2024-01-01T00:00:00+00:00", None)
    assert (told["as_of"], told["known_at"]) == (ASKED.isoformat(), known.isoformat())
    assert (told["told_from"], told["told_to"]) == ("2024-05-28", "2024-06-05")


async def test_the_newest_have_no_query(engine: MemoryEngine) -> None:
    plan = (await engine.search("", actor=ANA)).plan
    assert (plan.queries, plan.lists) == ((), ("recency",))


async def test_a_turn_tells_it_in_its_story(engine: MemoryEngine) -> None:
    report = await engine.run(actor=ANA, goal="What did Marta sell in March 2024?")
    plan = next(event["plan"] for event in report.history if "plan" in event)
    assert (plan["told_from"], plan["told_to"], plan["speakers"]) == ("2024-03-01", "2024-03-31", ["Marta"])
    assert plan["queries"] == ["What did Marta sell in March 2024?"]


@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("in 2023", (date(2023, 1, 1), date(2023, 12, 31))),
        ("in February 2024", (date(2024, 2, 1), date(2024, 2, 29))),
        ("on 3 May 2024", (date(2024, 5, 3), date(2024, 5, 3))),
        ("in May", (None, None)),
        ("on 31 February 2024", (None, None)),
    ],
)
def test_the_days_of_a_named_date(query: str, days: tuple[date | None, date | None]) -> None:
    found = named_date(query)
    assert found is not None
    assert found.days == days


FILLING = ("I like rye bread.", "The boiler was serviced in May.", "My flat has no lift.", "I collect brass compasses.")


@pytest.fixture
async def asked_before(tmp_path: Path) -> AsyncMemoryManager:
    async with AsyncMemoryManager(store=str(tmp_path / "mnemic.db")) as manager:
        for text in FILLING:
            await manager.add(text)
        for session in ("s1", "s2"):
            await manager.record([Message(role="user", content="What is my dog called?", session=session)])
        yield manager


async def test_an_earlier_question_does_not_answer_itself(asked_before: AsyncMemoryManager) -> None:
    found = await asked_before.search("What is my dog called?")
    questions = [hit for hit in found.hits if hit.memory.content.endswith("?")]
    assert found.abstains
    assert all(hit.relevance == 0 for hit in questions)
    assert all("only asks" in hit.why and hit.ranks["question"].score < 0 for hit in questions)
    assert not (await asked_before.context("What is my dog called?")).hits


async def test_the_answer_comes_before_an_earlier_question(asked_before: AsyncMemoryManager) -> None:
    await asked_before.add("My dog is called Rex.")
    found = await asked_before.search("What is my dog called?")
    assert found.hits[0].memory.content == "My dog is called Rex."
    assert [hit.memory.content for hit in (await asked_before.context("What is my dog called?")).hits] == [
        "My dog is called Rex."
    ]


async def test_who_asks_for_questions_finds_them(asked_before: AsyncMemoryManager) -> None:
    found = await asked_before.search("What did I ask about my dog?")
    assert found.hits[0].memory.content == "What is my dog called?"
    assert not found.abstains


async def test_a_question_between_people_stays(tmp_path: Path) -> None:
    async with AsyncMemoryManager(store=str(tmp_path / "mnemic.db")) as manager:
        said = Message(role="user", speaker="Ben", content="How old is your dog Rex?", session="s1")
        await manager.record([said])
        found = await manager.search("How old is the dog?")
    assert "question" not in found.hits[0].ranks


@pytest.mark.parametrize(
    "question", ["What is my sister's name?", "Who is Emma?", "How is my sister called?", "Do I have a sister?"]
)
async def test_who_somebody_is_answers_questions_for_it(tmp_path: Path, question: str) -> None:
    async with AsyncMemoryManager(store=str(tmp_path / "mnemic.db")) as manager:
        for text in (*FILLING, "My sister Emma."):
            await manager.add(text)
        first, *_ = (await manager.search(question)).hits
    assert first.memory.content == "My sister Emma."
