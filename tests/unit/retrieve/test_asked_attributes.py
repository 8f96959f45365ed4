"""Questions about the speaker's home, work and preferences find the statements that give them, then and now."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic import AsyncMemoryManager, Message
from mnemic.types import Status

JANUARY, APRIL, JUNE = (datetime(2026, month, day, 9, tzinfo=UTC) for month, day in ((1, 10), (4, 20), (6, 1)))
Told = tuple[tuple[str, str], str, str]
LIVES: Mapping[str, Told] = {
    "en": (("I live in Valencia.", "I prefer aisle seats."), "I moved to Madrid.", "I prefer window seats now."),
    "de": (
        ("Ich wohne in Jena.", "Ich sitze am liebsten am Gang."),
        "Ich bin nach Erfurt gezogen.",
        "Ich sitze jetzt lieber am Fenster.",
    ),
    "fr": (
        ("J'habite à Lyon.", "Je préfère le siège côté couloir."),
        "J'ai déménagé à Lille.",
        "Je préfère le siège côté fenêtre maintenant.",
    ),
    "es": (
        ("Vivo en Valencia.", "Prefiero el asiento de pasillo."),
        "Me he mudado a Madrid.",
        "Ahora prefiero el asiento de ventana.",
    ),
    "it": (
        ("Abito a Bari.", "Preferisco il posto corridoio."),
        "Mi sono trasferito a Roma.",
        "Ora preferisco il posto finestrino.",
    ),
    "pt": (
        ("Moro no Porto.", "Prefiro o lugar no corredor."),
        "Mudei-me para Braga.",
        "Agora prefiro o lugar à janela.",
    ),
    "nl": (
        ("Ik woon in Gent.", "Ik zit het liefst aan het gangpad."),
        "Ik ben naar Breda verhuisd.",
        "Ik zit nu liever aan het raam.",
    ),
}
THEN = [
    ("en", "Where did I live in March 2026?", "Valencia"),
    ("en", "where did I live on 3 May 2026?", "Madrid"),
    ("en", "What did I prefer before?", "aisle"),
    ("de", "Wo habe ich im März 2026 gewohnt?", "Jena"),
    ("de", "Wo habe ich am 3. Mai 2026 gewohnt?", "Erfurt"),
    ("fr", "Où habitais-je en mars 2026 ?", "Lyon"),
    ("fr", "Où est-ce que j'habitais le 3 mai 2026 ?", "Lille"),
    ("es", "¿Dónde vivía en marzo de 2026?", "Valencia"),
    ("es", "¿Dónde vivía el 3 de mayo de 2026?", "Madrid"),
    ("it", "Dove abitavo a marzo 2026?", "Bari"),
    ("it", "Dove abitavo il 3 maggio 2026?", "Roma"),
    ("pt", "Onde é que eu morava em março de 2026?", "Porto"),
    ("pt", "Onde morava a 3 de maio de 2026?", "Braga"),
    ("nl", "Waar woonde ik in maart 2026?", "Gent"),
    ("nl", "Waar woonde ik op 3 mei 2026?", "Breda"),
]
NOW = [
    ("en", "Where do I live now?", "Madrid"),
    ("de", "Wo wohne ich jetzt?", "Erfurt"),
    ("fr", "Où j'habite maintenant ?", "Lille"),
    ("es", "¿Dónde vivo ahora?", "Madrid"),
    ("it", "Dove abito adesso?", "Roma"),
    ("pt", "Onde moro agora?", "Braga"),
    ("nl", "Waar woon ik nu?", "Breda"),
]


@pytest.fixture
async def manager(tmp_path: Path, language: str) -> AsyncIterator[AsyncMemoryManager]:
    first, moved, prefers = LIVES[language]
    told = [*((text, JANUARY) for text in first), (moved, APRIL), (prefers, JUNE)]
    async with AsyncMemoryManager("ana", store=tmp_path / "m.db") as manager:
        for number, (text, at) in enumerate(told):
            await manager.capture(Message(role="user", content=text, sent_at=at, session=f"s{number}"))
        yield manager


@pytest.mark.parametrize(("language", "question", "answer"), THEN)
async def test_a_question_about_then_finds_what_was_true(
    manager: AsyncMemoryManager, question: str, answer: str
) -> None:
    assert answer in (await manager.search(question)).hits[0].memory.content
    assert answer in (await manager.context(question)).text


@pytest.mark.parametrize(("language", "question", "answer"), NOW)
async def test_a_question_about_now_finds_what_holds_and_nothing_closed(
    manager: AsyncMemoryManager, question: str, answer: str
) -> None:
    hits = (await manager.search(question)).hits
    assert answer in hits[0].memory.content
    assert {hit.memory.status for hit in hits} == {Status.ACTIVE}


@pytest.mark.parametrize("language", ["en"])
async def test_another_persons_home_is_not_the_speakers(manager: AsyncMemoryManager) -> None:
    await manager.capture(Message(role="user", content="My sister lives in Oslo.", sent_at=JUNE, session="s9"))
    assert (await manager.search("Where do I live?")).hits[0].memory.content == "Madrid"
    assert (await manager.search("Where does my sister live?")).hits[0].memory.content == "My sister lives in Oslo."


@pytest.mark.parametrize("how", ["capture", "add"])
@pytest.mark.parametrize("last", [0, 1, 2])
async def test_the_speakers_new_work_precedes_that_of_others(tmp_path: Path, how: str, last: int) -> None:
    said = ["I work at Bosch.", "I quit Bosch, I'm at Fiat now."]
    said.insert(last, "My wife works at Siemens.")
    async with AsyncMemoryManager(store=str(tmp_path / "mnemic.db")) as manager:
        for one in said:
            await getattr(manager, how)(one)
        first, *_ = (await manager.search("Where do I work?")).hits
    assert first.memory.content == "I quit Bosch, I'm at Fiat now."


FILLING = (
    "My sister works at a bank",
    "I work out three times a week",
    "The washing machine does not work",
    "I work best in the morning",
    "I used to work at Bosch",
    "The office coffee machine is cleaned on Fridays",
    "I am working on a new novel",
    "We work from home on Fridays",
)


@pytest.mark.parametrize("question", ["Where do I work?", "Who do I work for?"])
@pytest.mark.parametrize(
    "stated",
    [
        "I'm a nurse at Charité",
        "I joined Spotify in May",
        "I'm with Deutsche Bank",
        "I run a bakery in Kreuzberg",
        "My company is called Brightwave",
    ],
)
async def test_ones_own_work_in_other_words_comes_first(tmp_path: Path, stated: str, question: str) -> None:
    async with AsyncMemoryManager(store=str(tmp_path / "mnemic.db")) as manager:
        for one in (*FILLING[:4], stated, *FILLING[4:]):
            await manager.add(one)
        found = await manager.search(question)
        then = await manager.search("Where did I work before?")
    first = found.hits[0]
    assert first.memory.content == stated
    assert (first.relevance or 0) >= 0.5
    assert first.ranks["asked"].score > 0
    assert "says what is asked for" in first.why
    assert then.hits[0].memory.content == "I used to work at Bosch"


async def test_work_that_is_over_says_so(tmp_path: Path) -> None:
    async with AsyncMemoryManager(store=str(tmp_path / "mnemic.db")) as manager:
        for one in ("I used to work at Bosch", "I'm a nurse at Charité", "I like rye bread"):
            await manager.add(one)
        over = next(hit for hit in (await manager.search("Where do I work?")).hits if "Bosch" in hit.memory.content)
    assert over.ranks["asked"].score < 0
    assert "says that it is over" in over.why


CHATTED = (
    "We watched a film about sailors.",
    "I love jazz.",
    "The bakery downstairs closes at six.",
    "Rex likes walks.",
)


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("I moved to Lisbon last week.", "Where do I live?"),
        ("What a month. I moved to Lisbon last week and the flat is damp.", "Where do I live?"),
        ("Ich bin letzte Woche nach Lissabon gezogen.", "Wo wohne ich?"),
        ("J'ai déménagé à Lisbonne la semaine dernière.", "Où est-ce que j'habite ?"),
        ("I just started as a nurse at the Charité.", "Where do I work?"),
        ("I just started as a nurse at the Charité.", "What is my job?"),
    ],
)
async def test_what_was_said_in_a_chat_answers_as_a_statement_does(tmp_path: Path, told: str, question: str) -> None:
    async with AsyncMemoryManager(store=str(tmp_path / "mnemic.db")) as manager:
        await manager.record([Message(role="user", content=text, session="s1") for text in (*CHATTED, told)])
        found = await manager.search(question)
        shown = await manager.context(question)
    first = found.hits[0]
    assert first.memory.content == told
    assert (first.relevance or 0) >= 0.5
    assert not found.abstains
    assert "says what is asked for" in first.why
    assert [hit.memory.content for hit in shown.hits] == [told]


@pytest.mark.parametrize(
    "told",
    [
        Message(role="assistant", content="I moved to Lisbon last week.", session="s1"),
        Message(role="user", speaker="Ben", content="I moved to Lisbon last week.", session="s1"),
        Message(role="user", content="My sister moved to Lisbon last week.", session="s1"),
        Message(role="user", content="Should I move to Lisbon?", session="s1"),
    ],
    ids=["of the assistant", "of somebody else", "about somebody else", "a question"],
)
async def test_what_others_say_of_themselves_is_not_about_the_asker(tmp_path: Path, told: Message) -> None:
    async with AsyncMemoryManager(store=str(tmp_path / "mnemic.db")) as manager:
        await manager.record([*(Message(role="user", content=text, session="s1") for text in CHATTED), told])
        found = await manager.search("Where do I live?")
    assert all("asked" not in hit.ranks for hit in found.hits)
