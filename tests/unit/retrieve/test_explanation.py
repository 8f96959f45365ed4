"""The sentence that says why a memory was found, the relevance of a hit, and the names of what moved it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemic.engine import MemoryEngine
from mnemic.retrieve.explanation import as_depended_on, as_found, why
from mnemic.retrieve.question import read_question
from mnemic.retrieve.relevance import RELATED, RelevanceModel, relevances
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Kind, Memory, Message, Origin, Rank, Scored, Source, Trust

ANA = Actor(user="ana")
NOW = datetime(2026, 5, 3, tzinfo=UTC)
MINILM = "all-MiniLM-L6-v2-int8"
QUESTION = read_question("Where in Lisbon does my sister live?")


def memory(
    content: str = "My sister moved to Lisbon.",
    key: str | None = None,
    origin: Origin = Origin.USER_STATED,
    **source: str,
) -> Memory:
    return Memory(
        memory_id="m", version=1, content=content, key=key, kind=Kind.LONG_TERM, scope=ANA.scope("user"),
        confidence=0.8, created_at=NOW, updated_at=NOW, source=Source(origin=origin, **source), trust=Trust.HIGH,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("ranks", "reason", "told"),
    [
        ({"keyword": 2.0, "vector": 0.6}, "relevance", "matches 'Lisbon' and 'sister'; close in meaning; "),
        ({"vector": 0.2, "recency": 1.0}, "relevance", "among the newest; "),
        ({"vector": 0.4}, "relevance", "loosely related in meaning; "),
        ({"vector": 0.6, "judge": 0.9}, "relevance", "close in meaning; reads like an answer; "),
        ({"vector": 0.6, "judge": 0.4}, "relevance", "close in meaning; "),
        ({"graph": 0.5}, "relevance", "mentions what the question names; "),
        ({"learned": 0.1}, "relevance", "moved up by what is around it; "),
        ({"learned": -0.1, "vector": 0.6}, "relevance", "close in meaning; "),
        ({"asking": -0.1, "told": 0.2}, "relevance", "told at the time the question means; "),
        ({"keyword": 1.0}, "preference_bias", "a preference; matches 'Lisbon' and 'sister'; "),
        ({}, "standing", "belongs into every answer; "),
    ],
)
def test_the_sentence(ranks: dict[str, float], reason: str, told: str) -> None:
    placed = {name: Rank(1, score) for name, score in ranks.items()}
    assert why(memory(), placed, reason, QUESTION) == f"{told}said by the user on 3 May 2026"


def test_the_sentence_says_why_a_memory_is_shown_beside_the_others() -> None:
    bare, matched = (
        why(memory(), {}, "standing", QUESTION),
        why(memory(), {"keyword": Rank(1, 2.0)}, "standing", QUESTION),
    )
    assert as_depended_on(bare) == "known of the user, and may matter; said by the user on 3 May 2026"
    preferred = as_depended_on(matched, "preference")
    assert preferred.startswith("a preference that may matter; matches 'Lisbon' and 'sister'; ")
    assert as_found(bare) == why(memory(), {}, "relevance", QUESTION)
    assert as_found(matched) == why(memory(), {"keyword": Rank(1, 2.0)}, "relevance", QUESTION)


def test_an_instance_is_no_match_of_the_context() -> None:
    placed = {"keyword": Rank(1, 1.0), "instances": Rank(1, 1.0)}
    asked = read_question("Which sports do I do?")
    assert why(memory("I go rowing."), placed, "relevance", asked).startswith(
        "names an instance of what is asked for; "
    )


def test_words_of_the_context_alone_and_the_key() -> None:
    placed = {"keyword": Rank(1, 1.0), "key": Rank(1, 1.0)}
    assert why(memory("Porto", key="home_city"), placed, "relevance", QUESTION).startswith(
        "kept under 'home_city'; its context matches; "
    )


@pytest.mark.parametrize(
    ("one", "speaker"),
    [
        (memory(speaker="Ben"), "Ben"),
        (memory(speaker="assistant"), "the assistant"),
        (memory(origin=Origin.WEB), "a web page"),
        (memory(origin=Origin.TOOL_OUTPUT, speaker="user"), "a tool"),
    ],
)
def test_who_said_it(one: Memory, speaker: str) -> None:
    assert why(one, {}, "relevance", QUESTION) == f"among the newest; said by {speaker} on 3 May 2026"


def test_the_relevance_of_a_hit_is_that_of_its_own_cosine_and_words() -> None:
    far = [Scored(str(place), 0.0) for place in range(3, 40)]
    lists = {
        "vector": [Scored("a", 0.7), Scored("b", 0.2), *far],
        "keyword": [Scored("b", 0.5)],
        "key": [Scored("k", 1.0)],
        "graph": [Scored("g", 1.0)],
    }
    found = relevances(lists, dict.fromkeys(["a", "b", "k", "g", "unknown"], 0.1), {}, QUESTION, MINILM)
    assert found["a"] > 0.8 > 0.1 > found["b"] > found["unknown"]
    assert (found["k"], found["g"]) == (RELATED, RELATED)
    assert RelevanceModel.from_lists({"keyword": []}, QUESTION, MINILM) is None
    assert relevances({"keyword": []}, {"a": 0.1}, {}, QUESTION, MINILM) == {}


async def test_a_search_says_what_moved_a_hit_and_cuts_by_relevance() -> None:
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock()) as engine:
        said = [f"The {colour} boat is in the harbour." for colour in ("red", "green", "blue")]
        said += [f"Number {number} was painted on a wall." for number in range(40)]
        await engine.record(
            [Message(role="user", content=text, speaker="Ana", session="s") for text in said], actor=ANA
        )
        result = await engine.search("Which boat of Ana is in the harbour?", actor=ANA, top_k=5)
        best = result.hits[0]
        assert best.relevance is not None
        assert best.relevance > 0.5
        assert {"keyword", "vector", "speaker", "session", "following", "learned"} <= set(best.ranks)
        assert best.why.startswith("matches 'boat' and 'harbour'")
        assert "said by Ana on" in best.why
        assert any(hit.relevance is not None and hit.relevance < 0.2 for hit in result.hits)
        cut = await engine.search("Which boat of Ana is in the harbour?", actor=ANA, top_k=5, min_score=0.2)
        assert {hit.memory.content for hit in cut.hits} == set(said[:3])


@pytest.mark.parametrize(
    ("origin", "speaker", "told"),
    [
        (Origin.IMPORT, {}, "imported, dated 3 May 2026"),
        (Origin.IMPORT, {"speaker": "Ben"}, "said by Ben on 3 May 2026"),
        (Origin.USER_STATED, {}, "said by the user on 3 May 2026"),
    ],
)
def test_an_import_is_nobody_who_speaks(origin: Origin, speaker: dict[str, str], told: str) -> None:
    assert why(memory(origin=origin, **speaker), {}, "relevance", QUESTION).endswith(told)
