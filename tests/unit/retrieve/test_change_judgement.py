"""Of two statements about the same thing, the later one stands first if it replaces the other, and only then."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import EmbedderFailed
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.retrieve.later_statements import MOST_PAIRS
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.types import Actor, Deadline, Message

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
