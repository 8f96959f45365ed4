"""A speaker is known by the name that others address them with."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.retrieve.nicknames import unique_speaker, unknown_names
from mnemic.retrieve.question import read_question
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Message

ANA = Actor(user="ana")
TWO = frozenset({"Melanie", "Caroline"})


@pytest.mark.parametrize(
    ("query", "speakers", "names"),
    [
        ("What does Mel paint?", TWO, ("Mel",)),
        ("Which of Mel's pictures sold in May?", TWO, ("Mel",)),
        ("What does Melanie say about Mel?", TWO, ()),
        ("what does mel paint?", TWO, ()),
        ("Where is the NASA museum?", TWO, ()),
        ("What does Mel paint?", frozenset({"Melanie"}), ()),
        ("What does Mel paint?", frozenset({"user", "assistant"}), ()),
        ("Did Ann, Bob and Cy go to Rome?", TWO, ("Ann", "Bob")),
        ("Does Mel paint?", frozenset({"user", "Caroline"}), ("Mel",)),
    ],
)
def test_a_name_is_unknown_where_nobody_who_speaks_is_called_so(
    query: str, speakers: frozenset[str], names: tuple[str, ...]
) -> None:
    assert unknown_names(query, speakers) == names


@pytest.mark.parametrize(
    ("said", "speakers", "person"),
    [
        ([("Caroline", "Hey Mel! How are you?"), ("Caroline", "That's lovely, Mel.")], TWO, "Melanie"),
        ([("Caroline", "Thanks Mel"), ("Caroline", "Mel, you made my day")], TWO, "Melanie"),
        ([("Caroline", "Hey Mel!")], TWO, "Melanie"),  # once is enough for a form of the name
        ([("Caroline", "Hey Mel!")], frozenset({"Jo", "Caroline"}), None),  # of nobody's name: once may be anybody
        ([("Caroline", "I met Mel.")], TWO, None),  # nobody is addressed
        ([("Caroline", "Hey Mel!"), ("Melanie", "Bye, Mel!")], TWO, None),  # a third person
        ([("Caroline", "I met Mel today."), ("Caroline", "Mel came along."), ("Caroline", "with Mel")], TWO, None),
        ([("Caroline", "Hey Melon!"), ("Caroline", "Thanks, Melba.")], TWO, None),
        ([("A", "Hi Mel!"), ("A", "Thanks, Mel.")], frozenset("ABC"), None),  # B or C
        ([("A", "Hi Mel!"), ("B", "Thanks, Mel.")], frozenset("ABC"), "C"),
        ([("Ana", "Hi Mel!"), ("Ana", "Thanks, Mel.")], frozenset({"Ana", "user", "tool"}), "user"),
    ],
)
def test_whom_a_name_means_is_told_by_who_is_addressed_with_it(
    said: list[tuple[str, str]], speakers: frozenset[str], person: str | None
) -> None:
    assert unique_speaker("Mel", said, speakers) == person


def test_a_question_is_about_the_speaker_whom_its_name_means() -> None:
    question = read_question("What does Mel's sister paint?", speakers=TWO, aliases={"Mel": "Melanie"})
    assert question.speakers == {"Melanie"}
    assert question.embedded == "What does my sister paint?"
    assert "mel" not in question.keywords.lower()
    assert read_question("What does Mel's sister paint?", speakers=TWO).speakers == frozenset()


async def test_a_search_by_a_nickname_finds_what_that_person_said(tmp_path: Path) -> None:
    told = [
        ("Caroline", "Hey Mel! I paint lighthouses these days."),
        ("Melanie", "I paint lighthouses too, and horses."),
        ("Caroline", "Lovely, Mel!"),
        *[(person, f"The weather of day {day} was fine.") for day in range(20) for person in sorted(TWO)],
    ]
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as engine:
        said = [Message(role="user", speaker=name, content=text, session="s") for name, text in told]
        await engine.record(said, actor=ANA)
        found = await engine.search("What does Mel paint?", actor=ANA, top_k=2)
        other = await engine.search("What does Jo paint?", actor=ANA, top_k=2)
    assert [hit.memory.source.speaker for hit in found.hits][:1] == ["Melanie"]
    assert "from the person asked about" in found.hits[0].why
    assert all("speaker" not in hit.ranks for hit in other.hits)
