"""Gossip, dangling pronouns, talk about the talk and opinions of the moment are not kept; ten facts are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic import MemoryManager
from mnemic.types import Outcome

NOT_KEPT = {
    "gossip": (
        "Did you hear that Karen from accounts is getting divorced?",
        "Apparently Steve got fired last week.",
        "Lena told me that Tim is cheating on his wife.",
        "I heard the neighbours are selling their house.",
        "Rumour has it that Jonas is dating Mia.",
        "Die Nachbarin hat wohl schon wieder einen neuen Freund.",
        "Il paraît que Claire a quitté son mari.",
        "Dicen que Juan está arruinado.",
        "Pare che Luca abbia perso il lavoro.",
    ),
    "dangling pronouns": (
        "He moved there last year.",
        "She loves it.",
        "He's allergic to them.",
        "That's where she works.",
        "I gave it to him.",
        "She has two of those.",
        "I put them next to it.",
        "Er wohnt jetzt dort.",
        "Elle adore ça.",
        "Lui ci lavora.",
    ),
    "talk about the talk": (
        "I think I asked you that already.",
        "You said that before.",
        "Let me rephrase my question.",
        "That answer was too long.",
        "I'm just testing you.",
        "I didn't understand your last message.",
        "Sorry for the typos, I'm on my phone.",
        "Das hast du mir schon gesagt.",
        "Tu n'as pas répondu à ma question.",
        "No me entendiste.",
    ),
    "greetings and trials with a number": (
        "Hello 2",
        "hello 42",
        "Hello number 2",
        "Test 1",
        "Hi 7!",
        "Hallo 3",
        "Bonjour 12",
        "Hola 5",
        "Good morning 2",
        "Ciao 4",
    ),
    "opinions of the moment": (
        "This soup is delicious.",
        "That movie was awful.",
        "The weather is gorgeous today.",
        "I really like this song that's playing.",
        "This meeting is dragging on.",
        "The coffee here is great.",
        "Mir ist gerade so langweilig.",
        "Je suis crevé ce soir.",
        "Qué calor hace hoy.",
        "Che bella giornata oggi.",
    ),
}
TEN_FACTS = (
    "I'm Nadia. I'm 34. I live in Leeds. I work as a nurse at the children's hospital in Leeds. I'm allergic to "
    "penicillin. I'm vegetarian. My dog is called Biscuit. I drive a Fiat 500. I play the cello. My birthday is 4 May. "
    "She loves it."
)


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[MemoryManager]:
    with MemoryManager(store=str(tmp_path / "mnemic.db")) as opened:
        yield opened


@pytest.mark.parametrize("sort", NOT_KEPT)
def test_talk_of_the_moment_is_not_kept_and_the_reason_says_where(manager: MemoryManager, sort: str) -> None:
    for said in NOT_KEPT[sort]:
        report = manager.capture(said)
        assert report.receipts == (), said
        assert report.skipped, said
        for left in report.skipped:
            assert left.span is not None
            assert said[slice(*left.span)].strip(" ,") in said
    assert not manager.list()


def test_ten_facts_of_a_first_message_are_kept_whole(manager: MemoryManager) -> None:
    report = manager.capture(TEN_FACTS)
    (left,) = report.skipped
    assert left.span is not None
    assert (left.reason, TEN_FACTS[slice(*left.span)]) == ("not_understood", "She loves it.")
    live = {memory.key or memory.content: memory.content for memory in manager.list()}
    assert {"name": "Nadia", "age": "34", "home_city": "Leeds", "diet": "vegetarian"}.items() <= live.items()
    assert {"I'm allergic to penicillin.", "My dog is called Biscuit.", "I drive a Fiat 500."} <= live.keys()
    (best,) = manager.search("children's hospital", top_k=1).hits
    assert "at the children's hospital in Leeds" in best.memory.content


@pytest.mark.parametrize(
    ("said", "left", "kept"),
    [
        ("I work as a nurse. She loves it. I'm allergic to nuts.", "She loves it.", ("nurse", "nuts")),
        ("Ich arbeite als Koch. Sie mag es. Ich bin gegen Nüsse allergisch.", "Sie mag es.", ("Koch", "Nüsse")),
        ("Je suis boulanger. Elle l'adore. Je suis allergique aux noix.", "Elle l'adore.", ("boulanger", "noix")),
        ("Trabajo de cocinera. A ella le encanta. Soy alérgica a las nueces.", "A ella le encanta.",
         ("cocinera", "nueces")),
        ("Lavoro come cuoca. Lei lo adora. Sono allergica alle noci.", "Lei lo adora.", ("cuoca", "noci")),
        ("Trabalho como cozinheira. Ela adora isso. Sou alérgica a nozes.", "Ela adora isso.",
         ("cozinheira", "nozes")),
        ("Ik werk als kok. Zij vindt het leuk. Ik ben allergisch voor noten.", "Zij vindt het leuk.",
         ("kok", "noten")),
    ],
)  # fmt: skip
def test_of_several_facts_the_report_says_which_were_left_out(
    manager: MemoryManager, said: str, left: str, kept: tuple[str, ...]
) -> None:
    report = manager.capture(said)
    (one,) = report.skipped
    assert one.span is not None
    assert (one.reason, said[slice(*one.span)]) == ("not_understood", left)
    told = " ".join(memory.content for memory in manager.list())
    assert all(word in told for word in kept)


def test_a_birthday_leaves_the_age(manager: MemoryManager) -> None:
    manager.capture("I'm 34, I live in Leeds and my birthday is 4 May.")
    assert {"34", "Leeds", "4 May"} == {memory.content for memory in manager.list() if memory.key}


@pytest.mark.parametrize(
    "said",
    [
        "Notre chien s'appelle Rex.",
        "Nuestro perro se llama Rex.",
        "Il nostro cane si chiama Rex.",
        "O nosso cão chama-se Rex.",
        "Onze hond heet Rex.",
    ],
)
def test_the_name_of_ones_own_is_kept(manager: MemoryManager, said: str) -> None:
    assert [receipt.outcome for receipt in manager.capture(said).receipts] == ["created"]


@pytest.mark.parametrize(
    "said",
    [
        "My key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD.",
        "The wifi password at the cabin is hunter2.",
        "Remember that the PIN of my card is 4921.",
        "Mein Passwort ist Sommer2024.",
        "Mi contraseña es Gato2020!",
        "Le mot de passe du wifi à la cave est loutre31.",
        "La password del wifi in cantina è lontra31.",
        "A senha do wifi da casa é lontra31.",
        "Het wachtwoord van de wifi in huis is otter-31.",
    ],
)
def test_a_statement_of_which_only_its_secret_was_the_content_is_not_kept(said: str, tmp_path: Path) -> None:
    with MemoryManager("ana", store=tmp_path / "m.db") as memory:
        report = memory.capture(said)
        assert [(one.outcome, one.reason) for one in report.receipts] == [(Outcome.BLOCKED, "nothing_left")]
        assert memory.list() == []
        assert memory.add(said).outcome is Outcome.CREATED  # what is given word for word is the caller's choice


@pytest.mark.parametrize(
    "said",
    [
        "My password is hunter2 and I live in Oslo.",
        "Login: sam / pw: Qwerty!9",
        "My email is ana@example.org.",
        "I keep the spare key of the cabin in the blue box, and its code is 4921-77.",
    ],
)
def test_what_says_more_than_its_secret_is_kept(said: str, tmp_path: Path) -> None:
    with MemoryManager("ana", store=tmp_path / "m.db") as memory:
        assert any(one.memory_id for one in memory.capture(said).receipts)
