"""A label at the beginning of a line: another speaker's name, or a heading of the writer's own words."""

from __future__ import annotations

import pytest

from mnemic import MemoryManager
from mnemic.language.sentences.pasted_text import data_spans

OTHERS = [
    "Chatbot: I live in Evilville and I am vegan.",
    "Bot - I live in Evilville.",
    "Support agent: My name is Kim and I live in Evilville.",
    "Agent #2: I live in Evilville.",
    "**Bot:** I live in Evilville.",
    "Bob: I live in Evilville.",
    "Bob: I live in Paris.\nEve: I am vegan and I live in Evilville.",
    "Will: I am vegan.\nEve: I live in Evilville.",
    "bob: i am vegan.\neve: i live in Evilville.",
    "Olga (10:32): I live in Evilville.",
    "Bob: Hello there.\nI live in Evilville.",
    "Dr. Huber: I am vegan and I live in Evilville.",
    "Anna de Vries: I live in Evilville.",
    "Berater: Ich wohne in Evilville.",
    "Sven: Ich wohne in Evilville und bin vegan.",
    "Conseiller : j'habite à Evilville.",
    "Chloé : j'habite à Evilville.",
    "Asesor: vivo en Evilville.",
    "Lucía: vivo en Evilville.",
    "Giulia: io vivo a Evilville.",
    "João: eu moro em Evilville.",
    "Sanne: ik woon in Evilville.",
]
OWN = [
    "Update: I live in Bergen now.",
    "Update: I moved to Bergen.",
    "Note: I live in Bergen.",
    "PS: I live in Bergen.",
    "P.S.: I live in Bergen.",
    "Correction: I live in Bergen.",
    "Reminder: I live in Bergen.",
    "Background: I live in Bergen.",
    "Home address: I live in Bergen.",
    "Good news: I live in Bergen.",
    "Home: I live in Bergen.\nWork: I am a nurse.",
    "Note: I am vegan.\nNote: I live in Bergen.\nUpdate: I am a nurse.",
    "Mum: I promised to call her. I live in Bergen.",
    "Update: Ich wohne jetzt in Bergen.",
    "Nachtrag: Ich wohne in Bergen.",
    "Mise à jour : j'habite à Bergen.",
    "Actualización: vivo en Bergen.",
    "Promemoria: vivo a Bergen.",
    "Lembrete: moro em Bergen.",
    "Lembra-te: moro em Bergen.",
    "Herinnering: ik woon in Bergen.",
    "Today - I live in Bergen.",
]


@pytest.mark.parametrize("text", OTHERS)
def test_what_another_speaker_says_is_not_the_users(text: str) -> None:
    at = text.index("Evilville")
    assert any(start <= at < end for start, end in data_spans(text))


@pytest.mark.parametrize("text", OWN)
def test_what_stands_below_a_heading_is_the_users(text: str) -> None:
    assert data_spans(text) == []


@pytest.mark.parametrize("text", OTHERS)
def test_no_fact_of_the_user_is_made_of_another_speakers_words(text: str) -> None:
    with MemoryManager(store=":memory:") as memory:
        report = memory.capture(text)
        assert "Evilville" not in str([one.content for one in memory.list()])
        assert any(one.reason == "quoted" for one in report.skipped)
        memory.remember([{"role": "user", "content": text}])
        assert "Evilville" not in str([one.content for one in memory.list()])


@pytest.mark.parametrize("text", OWN)
def test_a_statement_below_a_heading_is_stored(text: str) -> None:
    with MemoryManager(store=":memory:") as memory:
        memory.capture(text)
        assert "Bergen" in str([one.content for one in memory.list()])


@pytest.mark.parametrize(
    "text", ["Bob: I live in Paris.", {"role": "user", "name": "Bob", "content": "Bob: I live in Paris."}]
)
def test_the_users_own_name_before_their_words_is_no_other_speaker(text: str | dict[str, str]) -> None:
    with MemoryManager("bob.ruiz", store=":memory:") as memory:
        memory.capture(text)
        assert [one.content for one in memory.list()] == ["Paris"]


def test_another_name_within_a_named_message_is_another_speakers() -> None:
    with MemoryManager("bob.ruiz", store=":memory:") as memory:
        memory.capture({"role": "user", "name": "Bob", "content": "Eve: I live in Evilville."})
        assert memory.list() == []


def test_a_transcript_that_is_recorded_is_kept_whole() -> None:
    text = "Bob: I live in Paris.\nEve: I live in Evilville."
    with MemoryManager(store=":memory:") as memory:
        memory.record([{"role": "user", "content": text}])
        assert "Evilville" in memory.search("Evilville").hits[0].memory.content
