"""Of statements on the same thing the later one comes first, and what disagrees says so."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from mnemic import MemoryManager
from mnemic.engine import MemoryEngine
from mnemic.errors import EmbedderFailed
from mnemic.inject.memory_source import SourceEntry
from mnemic.json_output import hit_dict
from mnemic.language.comparison import Known
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.retrieve import later_statements
from mnemic.retrieve.later_statements import (
    COMPARED,
    LONGEST,
    LONGEST_REQUEST,
    MOST_PAIRS,
    disagreeing,
    find_outdated,
    later_relevances,
    latest_first,
    newest_of,
)
from mnemic.retrieve.policy_candidates import PINNED, RELEVANCE
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.record_store.fixtures import START, memory
from mnemic.types import Actor, Deadline, Hit, Kind, Memory, Message, Source, Status, Trust

SAID = ("My office is in Turin.", "The office moved from Turin to Genoa.", "I play the flute.")


@pytest.fixture
async def told() -> Sequence[Memory]:
    vectors = await MiniLmEmbedder().embed(SAID)
    return [
        memory(text, at=START + timedelta(days=day), vector=vector)
        for day, (text, vector) in enumerate(zip(SAID, vectors, strict=True))
    ]


async def test_the_later_one_outdates_the_earlier(told: Sequence[Memory]) -> None:
    first, second, third = told
    assert find_outdated([third, first, second]) == {first.memory_id: second.memory_id}


async def test_the_later_one_takes_its_place(told: Sequence[Memory]) -> None:
    first, second, third = (one.memory_id for one in told)
    entries = [(first, 0.5, RELEVANCE), (third, 0.4, RELEVANCE), (second, 0.1, RELEVANCE)]
    moved, passed = latest_first(entries, {one.memory_id: one for one in told})
    assert ([entry[0] for entry in moved], passed) == ([second, first, third], {first: second})
    entries = [(second, 0.5, RELEVANCE), (first, 0.5, RELEVANCE)]
    moved, _ = latest_first(entries, {one.memory_id: one for one in told})
    assert [entry[0] for entry in moved] == [second, first]


def test_the_latest_is_as_relevant_as_what_it_outdates() -> None:
    relevances = {"oslo": 0.72, "bergen": 0.08, "flute": 0.3}
    assert later_relevances(relevances, {"oslo": "bergen"}) == {"oslo": 0.08, "bergen": 0.72, "flute": 0.3}
    assert later_relevances(relevances, {"bergen": "oslo"}) == relevances
    chain = {"oslo": "bergen", "bergen": "flute"}
    assert later_relevances(relevances, chain) == {"oslo": 0.3, "bergen": 0.08, "flute": 0.72}
    assert later_relevances({}, chain) == {}


async def test_what_stands_stays(told: Sequence[Memory]) -> None:
    first, second, _ = (one.memory_id for one in told)
    entries = [(first, 0.5, PINNED), (second, 0.1, RELEVANCE)]
    assert latest_first(entries, {one.memory_id: one for one in told}) == (entries, {})


@pytest.mark.parametrize(
    "changes",
    [
        {"trust": Trust.LOW},
        {"author": "ben"},
        {"source": Source(speaker="Ben")},
        {"source": Source(speaker="assistant")},
        {"kind": Kind.ENTITY},
        {"vector": None},
    ],
)
async def test_nobody_elses_word_outdates_it(told: Sequence[Memory], changes: dict[str, object]) -> None:
    first, second, _ = told
    assert find_outdated([first, replace(second, **changes)]) == {}  # type: ignore[arg-type]


async def test_what_the_assistant_said_is_outdated_by_the_user(told: Sequence[Memory]) -> None:
    first, second, _ = told
    said = replace(first, source=Source(speaker="assistant"))
    assert find_outdated([said, second]) == {said.memory_id: second.memory_id}


async def test_a_model_is_shown_when_it_was_said(told: Sequence[Memory]) -> None:
    hit = Hit(memory=told[0], score=0.5, outdated_by="later")
    assert (
        SourceEntry.from_hit(hit, "memory", reader=Actor(user="ada")).content
        == f"My office is in Turin. (as of {START:%Y-%m-%d})"
    )


async def test_the_message_that_told_what_was_closed_is_outdated_with_it(told: Sequence[Memory]) -> None:
    first, _, third = told
    message = replace(first, memory_id="message", kind=Kind.EPISODIC, content="Hi! My office is in Turin. Any tips?")
    closing = replace(third, supersedes=(first.memory_id,))
    closed = {first.memory_id: first}
    assert find_outdated([message, closing], closed) == {"message": closing.memory_id}
    assert find_outdated([message, third], closed) == {}
    elsewhere = replace(message, source=Source(session="another"))
    assert find_outdated([elsewhere, closing], closed) == {}
    long = replace(message, content=message.content + " And so on, and so forth." * 9)
    assert find_outdated([long, closing], closed) == {}
    later = replace(message, occurred_at=START + timedelta(days=9))
    assert find_outdated([later, closing], closed) == {}


async def test_what_a_tool_said_may_be_outdated_by_the_user(told: Sequence[Memory]) -> None:
    first, second, _ = told
    tool = replace(first, source=Source(speaker="tool"))
    assert find_outdated([tool, second]) == {tool.memory_id: second.memory_id}
    assert find_outdated([first, replace(second, source=Source(speaker="tool"))]) == {}


async def test_nothing_is_outdated_by_its_own_words(told: Sequence[Memory]) -> None:
    said = "I quit Umbra Labs, I now work for Northwind."
    first, second, _ = told
    value = replace(first, key="employer", content="Northwind", source=Source(quote=said))
    assert find_outdated([value, replace(second, content=said)]) == {}
    assert find_outdated([value, replace(second, content=said, source=Source(quote=said))]) == {}
    assert find_outdated([value, replace(second, content="I quit Northwind.")]) != {}


DOUBTED = [
    ("I take my tea without milk.", "I put oat milk in my tea now."),
    ("My locker code ends in 33.", "There's a new locker code, it ends in 71."),
    ("Ida takes 4 drops of the tincture.", "The nurse raised Ida's drops to 6."),
]
REMARKS = [
    ("I take my tea without milk.", "The tea shop on the corner is closed now."),
    ("My locker code ends in 33.", "My brother has a new locker."),
    ("Ida takes 4 drops of the tincture.", "Ben takes 6 drops now."),
    ("I live in Turin.", "Turin sold its old trams."),
]


@pytest.mark.parametrize(("known", "later"), DOUBTED)
async def test_a_statement_of_which_a_change_is_told_says_by_what_it_may_be_outdated(known: str, later: str) -> None:
    old, new = await in_order_of_telling(known, later)
    assert find_outdated([old, new]) == {old.memory_id: new.memory_id}
    message = replace(new, kind=Kind.EPISODIC)
    assert find_outdated([old, message]) == {}, "what is said in passing marks nothing"


@pytest.mark.parametrize(("known", "later"), REMARKS)
async def test_a_remark_marks_nothing(known: str, later: str) -> None:
    assert find_outdated(await in_order_of_telling(known, later)) == {}


async def in_order_of_telling(*said: str) -> list[Memory]:
    vectors = await MiniLmEmbedder().embed(said)
    return [
        memory(text, at=START + timedelta(days=day), vector=vector)
        for day, (text, vector) in enumerate(zip(said, vectors, strict=True))
    ]


def long(text: str, length: int) -> str:
    """Return a message that says `text`, and then nothing that matters, of `length` characters."""
    return text + " " + "." * (length - len(text) - 1)


@pytest.mark.parametrize(
    ("said", "compared"),
    [
        (long(SAID[1], LONGEST), True),
        (long(SAID[1], LONGEST + 1), False),
        (long(SAID[1], LONGEST_REQUEST + 1), True),
        (long("Can you help? " + SAID[1], LONGEST_REQUEST), True),
        (long("Is it far? " + SAID[1], LONGEST_REQUEST + 1), False),
        (long("Could you look it up. " + SAID[1], LONGEST_REQUEST + 1), False),
        (long("HELP ME with the address. " + SAID[1], LONGEST_REQUEST + 1), False),
    ],
)
async def test_long_messages_and_less_long_requests_are_not_compared(
    told: Sequence[Memory], said: str, compared: bool
) -> None:
    first, second, _ = told
    assert (LONGEST, LONGEST_REQUEST) == (300, 160)
    assert find_outdated([first, replace(second, content=said)]) == (
        {first.memory_id: second.memory_id} if compared else {}
    )


async def test_what_was_changed_more_than_once_is_outdated_by_the_latest(told: Sequence[Memory]) -> None:
    first, second, third = told
    message = replace(first, memory_id="message", kind=Kind.EPISODIC, content="my office is in Turin")
    between = replace(second, memory_id="between", supersedes=(first.memory_id,))
    latest = replace(third, supersedes=("between",))
    assert find_outdated([message, latest], {"between": between, first.memory_id: first}) == {
        "message": latest.memory_id
    }
    turning = {"between": between, first.memory_id: replace(first, supersedes=("between",))}
    assert find_outdated([message, latest], turning) == {"message": latest.memory_id}


EVA = Actor(user="eva")
REPLACED = (
    ("Who chairs the museum?", "The museum's chairwoman is Dr Thandi.", "Mr Osei took over the chair of the museum."),
    ("How do I get to the archive?", "I take the tram to the archive.", "I cycle to the archive since the roadworks."),
    ("Where do we buy flour?", "We buy our flour from the Holm mill.", "Flour comes from the Sande mill since spring."),
)
LEFT = (
    ("Where is our canoe?", "We keep the canoe in the boathouse.", "My uncle keeps his canoe in Piet's barn."),
    ("Where does the choir rehearse?", "Our choir rehearses in St Barnabas.", "St Barnabas church got a new organ."),
    ("How do I get to the archive?", "I take the tram to the archive.", "The archive closes at noon on Fridays."),
    ("What does Patient 12 take?", "Patient 12 takes ramipril.", "Patient 13 takes bisoprolol now."),
)


class CountingEmbedder(MiniLmEmbedder):
    """The default embedder, with the pairs that it judged; it fails if it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.judged: list[tuple[str, str]] = []
        self.fails = False

    async def judge_changes(
        self, pairs: Sequence[tuple[str, str]], *, question: str | None = None, deadline: Deadline | None = None
    ) -> list[float]:
        self.judged.extend(pairs)
        if self.fails:
            raise EmbedderFailed("not_finite")
        return await super().judge_changes(pairs, question=question, deadline=deadline)


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
async def engine(embedder: CountingEmbedder) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=InProcessStore(), embedder=embedder) as engine:
        await engine.add("The dentist opens at nine.", actor=EVA)
        await engine.add("My bike is green.", actor=EVA)
        yield engine


@pytest.mark.parametrize(("question", "earlier", "later"), REPLACED)
async def test_what_replaces_a_statement_in_other_words_stands_before_it(
    engine: MemoryEngine, question: str, earlier: str, later: str
) -> None:
    for text in (earlier, later):
        await engine.add(text, actor=EVA)
    found = (await engine.search(question, actor=EVA)).hits
    assert [hit.memory.content for hit in found[:2]] == [later, earlier]


@pytest.mark.parametrize(("question", "earlier", "later"), LEFT)
async def test_a_remark_or_another_persons_thing_does_not_stand_before_the_answer(
    engine: MemoryEngine, question: str, earlier: str, later: str
) -> None:
    for text in (earlier, later):
        await engine.add(text, actor=EVA)
    assert (await engine.search(question, actor=EVA)).hits[0].memory.content == earlier


async def test_only_few_statements_that_resemble_each_other_are_read_together(
    engine: MemoryEngine, embedder: CountingEmbedder
) -> None:
    question, earlier, later = REPLACED[0]
    await engine.add(earlier, actor=EVA)
    await engine.search(question, actor=EVA)
    assert embedder.judged == []
    for text in (later, "The museum's chairman is Mr Abara.", "Ms Lund is the chair of the museum now."):
        await engine.add(text, actor=EVA)
    await engine.search(question, actor=EVA)
    assert 0 < len(embedder.judged) <= MOST_PAIRS


@pytest.mark.parametrize(("question", "earlier", "later"), REPLACED)
async def test_a_message_that_tells_a_change_stands_before_the_statement_that_it_replaces(
    engine: MemoryEngine, question: str, earlier: str, later: str
) -> None:
    await engine.add(earlier, actor=EVA)
    await engine.record([Message(role="user", content=later)], actor=EVA)
    found = (await engine.search(question, actor=EVA)).hits
    assert [hit.memory.content for hit in found[:2]] == [later, earlier]


@pytest.mark.parametrize(("question", "earlier", "later"), LEFT)
async def test_a_message_that_tells_no_change_does_not_stand_before_the_answer(
    engine: MemoryEngine, question: str, earlier: str, later: str
) -> None:
    await engine.record([Message(role="user", content=text) for text in (earlier, later)], actor=EVA)
    assert (await engine.search(question, actor=EVA)).hits[0].memory.content == earlier


async def test_what_an_assistant_said_is_not_read_as_a_change(engine: MemoryEngine, embedder: CountingEmbedder) -> None:
    question, *texts = REPLACED[0]
    await engine.record([Message(role="assistant", content=text) for text in texts], actor=EVA)
    assert len((await engine.search(question, actor=EVA)).hits) > 1
    assert embedder.judged == []


@pytest.mark.parametrize(
    ("question", "role", "claim", "answer"),
    [
        ("Does the user smoke?", "assistant", "Since you smoke, avoid the pill.", "I don't smoke, never have."),
        (
            "Who runs Halvorsen Shipping?",
            "tool",
            "Halvorsen Shipping, director: Ole Dahl",
            "Ole Dahl left, Kari Moe runs it.",
        ),
    ],
)
async def test_what_the_user_says_later_stands_before_what_an_assistant_or_a_tool_claimed(
    engine: MemoryEngine, question: str, role: str, claim: str, answer: str
) -> None:
    await engine.record([Message(role=role, content=claim), Message(role="user", content=answer)], actor=EVA)
    assert (await engine.search(question, actor=EVA)).hits[0].memory.content == answer


async def test_a_reader_that_fails_is_named_and_the_search_still_answers(
    engine: MemoryEngine, embedder: CountingEmbedder
) -> None:
    question, *texts = REPLACED[0]
    for text in texts:
        await engine.add(text, actor=EVA)
    embedder.fails = True
    found = await engine.search(question, actor=EVA)
    assert found.errors == {"judge": "embedder_failed:not_finite"}
    assert {hit.memory.content for hit in found.hits} >= set(texts)


REX, MAX = "My dog is called Rex", "My dog is called Max"


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[MemoryManager]:
    with MemoryManager(store=str(tmp_path / "mnemic.db")) as opened:
        yield opened


@pytest.mark.parametrize(
    ("asked", "older", "newer"),
    [
        ("What is my cat called?", "My cat is called Tom", "My cat is called Ben"),
        ("What is my dog called?", REX, MAX),
        ("Where do I live?", "I live in Rome", "I live in Oslo"),
        ("Wie heißt mein Hund?", "Mein Hund heißt Rex", "Mein Hund heißt Max"),
        ("Comment s'appelle mon chien ?", "Mon chien s'appelle Rex", "Mon chien s'appelle Max"),
        ("¿Cómo se llama mi perro?", "Mi perro se llama Rex", "Mi perro se llama Max"),
        ("Come si chiama il mio cane?", "Il mio cane si chiama Rex", "Il mio cane si chiama Max"),
    ],
)
def test_the_newer_comes_first_and_both_say_so(manager: MemoryManager, asked: str, older: str, newer: str) -> None:
    for said in (older, newer):
        manager.add(said)
    first, second = manager.search(asked, top_k=2).hits
    assert (first.memory.content, second.memory.content) == (newer, older)
    assert (first.disagrees_with, second.disagrees_with) == ((second.memory.memory_id,), (first.memory.memory_id,))
    assert "disagrees with an earlier statement of" in first.why
    assert "disagrees with a later statement of" in second.why
    assert (first.outdated_by, second.outdated_by) == (None, None)
    assert (first.relevance or 0.0) >= (second.relevance or 1.0)
    assert hit_dict(first)["disagrees_with"] == [second.memory.memory_id]
    (best,) = manager.search(asked, top_k=1).hits
    assert best.memory.content == newer
    assert {one.status for one in manager.list()} == {Status.ACTIVE}


def test_many_hits_are_not_compared_each_with_each(manager: MemoryManager, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(60):
        manager.add(f"My boat is called Wave{number}")
    manager.search("What is my boat called?", top_k=60)
    compared: list[object] = []
    contests = later_statements.contests

    def noted(known: Known, new: Known) -> bool:
        compared.append(new)
        return contests(known, new)

    monkeypatch.setattr(later_statements, "contests", noted)
    assert len(manager.search("What is my boat called?", top_k=60).hits) > 2 * COMPARED
    assert len(compared) <= COMPARED * (COMPARED - 1), "twice the pairs of the best, however many are shown"


def test_two_dogs_of_one_message_do_not_disagree(manager: MemoryManager) -> None:
    manager.add("My dogs are called Rex and Bo")
    manager.add(MAX)
    assert [hit.disagrees_with for hit in manager.search("What are my dogs called?", top_k=2).hits] == [(), ()]


def test_what_one_message_says_does_not_disagree_with_itself(manager: MemoryManager) -> None:
    manager.capture("Hi! I'm Lena, I live in Utrecht with my husband Tom and I work as a nurse at the city hospital.")
    hits = manager.search("where do I work?", top_k=3).hits
    assert {hit.memory.key for hit in hits} >= {"job", None}
    assert [hit.disagrees_with for hit in hits] == [(), (), ()]


def test_two_values_read_from_one_message_are_two_things() -> None:
    rex, bo = (
        memory(f"My dog is called {name}", at=START + timedelta(milliseconds=place), source=Source(span=span))
        for place, (name, span) in enumerate([("Rex", (0, 20)), ("Bo", (22, 40))])
    )
    assert disagreeing([rex, bo]) == {}
    another_day = replace(bo, created_at=bo.created_at + timedelta(days=1))
    assert set(disagreeing([rex, another_day])) == {rex.memory_id, another_day.memory_id}


def test_the_latest_of_several_is_named_first() -> None:
    one, two, three = (
        memory(
            f"My dog is called {name}",
            at=START + timedelta(days=day),
            vector=np.array((1.0, 0.0), np.float32).tobytes(),
        )
        for day, name in enumerate(("Rex", "Max", "Bo"))
    )
    assert disagreeing([two, one, three])[one.memory_id] == (three.memory_id, two.memory_id)
    assert newest_of([one, two, three]) == {one.memory_id: three.memory_id, two.memory_id: three.memory_id}


@pytest.mark.parametrize(
    "changes",
    [
        {"trust": Trust.LOW},
        {"author": "ben"},
        {"source": Source(speaker="Ben")},
        {"status": Status.SUPERSEDED},
        {"occurred_at": START},
    ],
)
def test_only_statements_of_one_person_and_trust_at_two_times_disagree(changes: dict[str, object]) -> None:
    old = memory(REX, at=START, vector=np.array((1.0, 0.0), np.float32).tobytes())
    new = memory(MAX, at=START + timedelta(days=1), vector=np.array((1.0, 0.0), np.float32).tobytes())
    assert newest_of([old, new]) == {old.memory_id: new.memory_id}
    assert disagreeing([old, replace(new, **changes)]) == {}  # type: ignore[arg-type]


def test_the_newer_is_as_relevant_and_the_older_keeps_its_relevance() -> None:
    assert later_relevances({"old": 0.9, "new": 0.2}, {}, {"old": "new"}) == {"old": 0.9, "new": 0.9}
    assert later_relevances({"old": 0.1, "new": 0.2}, {}, {"old": "new"}) == {"old": 0.1, "new": 0.2}
    assert later_relevances({"old": 0.9, "new": 0.2}, {"new": "last"}, {"old": "new"}) == {"old": 0.9, "new": 0.2}


def test_a_model_is_told_that_another_statement_disagrees() -> None:
    hit = Hit(memory=memory(REX, at=START), score=0.5, disagrees_with=("other",))
    shown = SourceEntry.from_hit(hit, "memory", reader=Actor(user="ada")).content
    assert shown == f"{REX} (as of {START:%Y-%m-%d}; another statement disagrees)"
