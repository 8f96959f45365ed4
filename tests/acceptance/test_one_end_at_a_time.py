"""Ends of one thing only: a home and not the job there, a film's dog and not one's own.

Each line tells things of one person in two talks, weeks apart; the words before " | " are those that are looked for in
what is left.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from mnemic.engine import MemoryEngine
from mnemic.types import Actor, Message, Status
from mnemic_eval.replay import chosen_embedder, throwaway_engine

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
async def engine() -> AsyncIterator[MemoryEngine]:
    async with throwaway_engine(chosen_embedder(None, None)) as made:
        yield made


async def left(engine: MemoryEngine, texts: str) -> str:
    """Return what is live, in one text, after the statements of a line."""
    actor = Actor(user=texts)
    for number, text in enumerate(texts.split(" / ")):
        said = Message(role="user", content=text, sent_at=MONDAY + timedelta(days=20) * number, session=f"s{number}")
        await engine.capture(said, actor=actor)
    return " ".join(one.content for one in await engine.list(actor=actor, limit=20) if one.status is Status.ACTIVE)


STAYS = """\
nurse | I'm a nurse in Leeds. / I left Leeds.
Krankenschwester | Ich bin Krankenschwester in Kiel. / Ich habe Kiel verlassen.
infirmière | Je suis infirmière à Lyon. / J'ai quitté Lyon.
enfermera | Soy enfermera en Sevilla. / Me fui de Sevilla.
infermiera | Faccio l'infermiera a Torino. / Ho lasciato Torino.
enfermeira | Sou enfermeira em Braga. / Saí de Braga.
verpleegster | Ik ben verpleegster in Delft. / Ik heb Delft verlaten.
Okafor | My doctor is called Dr. Okafor. / My doctor moved to Leeds.
Okafor | My doctor is Dr. Okafor. / My doctor has moved to Leeds.
Reyes | My boss is called Reyes. / My boss sold the old Fiat.
Weber | Mein Arzt heißt Dr. Weber. / Mein Arzt ist nach Kiel gezogen.
Petit | Mon médecin s'appelle Dr Petit. / Mon médecin a déménagé à Lyon.
Ruiz | Mi médico se llama Dr. Ruiz. / Mi médico se ha mudado a Lugo.
Rossi | Il mio medico si chiama dottor Rossi. / Il mio medico si è trasferito a Lecce.
Lima | O meu médico chama-se Dr. Lima. / O meu médico mudou-se para Faro.
Bos | Mijn huisarts heet dokter Bos. / Mijn huisarts is naar Breda verhuisd."""

ENDS = """\
I have worked at Zeiss | I have worked at Zeiss since 2019. / I left Zeiss.
I've been working | I've been working for Zeiss for six years. / I quit Zeiss.
I've been at Zeiss | I've been at Zeiss since 2019. / I left Zeiss in May.
bei Zeiss | Ich arbeite seit 2019 bei Zeiss. / Ich habe Zeiss verlassen.
seit 2019 | Ich bin seit 2019 bei Zeiss. / Ich habe Zeiss verlassen.
depuis 2019 | Je travaille chez Zeiss depuis 2019. / J'ai quitté Zeiss.
seis años | Llevo seis años trabajando en Zeiss. / Dejé Zeiss.
dal 2019 | Lavoro alla Zeiss dal 2019. / Ho lasciato la Zeiss.
desde 2019 | Trabalho na Zeiss desde 2019. / Saí da Zeiss.
sinds 2019 | Ik werk sinds 2019 bij Zeiss. / Ik heb Zeiss verlaten."""

KEPT = """\
I have a cat.
I have a dog.
We have two dogs.
I've got a rabbit.
We've got three hens.
Ich habe eine Katze.
J'ai un chat.
Tengo un gato.
Ho un gatto.
Tenho um gato.
Ik heb een kat."""

THOUGHT_OF = """\
Ich spiele mit dem Gedanken umzuziehen.
Ich spiele mit dem Gedanken, nach Bonn zu ziehen.
Ich trage mich mit dem Gedanken, zu kündigen.
I'm toying with the idea of moving to Bonn.
I'm playing with the thought of quitting.
Je joue avec l'idée de déménager.
Juego con la idea de mudarme.
Gioco con l'idea di trasferirmi.
Brinco com a ideia de me mudar.
Ik speel met de gedachte om te verhuizen."""


def _pairs(table: str) -> list[tuple[str, str]]:
    return [(word, texts) for line in table.split("\n") for word, texts in [line.split(" | ", 1)]]


@pytest.mark.parametrize(("word", "texts"), _pairs(STAYS))
async def test_it_stays(engine: MemoryEngine, word: str, texts: str) -> None:
    assert word in await left(engine, texts)


@pytest.mark.parametrize(("word", "texts"), _pairs(ENDS))
async def test_it_ends(engine: MemoryEngine, word: str, texts: str) -> None:
    assert word in await left(engine, texts.split(" / ", maxsplit=1)[0])
    assert word not in await left(engine, texts)


@pytest.mark.parametrize("text", KEPT.split("\n"))
async def test_it_is_kept(engine: MemoryEngine, text: str) -> None:
    assert text in await left(engine, text)


@pytest.mark.parametrize("text", THOUGHT_OF.split("\n"))
async def test_what_is_only_thought_of_is_not_kept(engine: MemoryEngine, text: str) -> None:
    assert await left(engine, text) == ""


@pytest.mark.parametrize(
    ("animal", "asked", "said"),
    [
        ("I have a Labrador.", "How was the film?", "Sad. The dog died."),
        ("I have a Labrador.", "Sure, what happened?", "We watched Marley & Me last night. The dog died."),
        ("Ich habe einen Dackel.", "Wie war der Film?", "Der Hund ist gestorben."),
        ("J'ai un caniche.", "C'était bien, le film ?", "Le chien est mort."),
        ("Tengo un galgo.", "¿Qué tal la película?", "El perro murió."),
        ("Ho un bassotto.", "Com'era il film?", "Il cane è morto."),
        ("Tenho um labrador.", "Como foi o filme?", "O cachorro morreu."),
        ("Ik heb een teckel.", "Hoe was de film?", "De hond is dood."),
    ],
)
async def test_an_animal_of_a_film_is_not_ones_own(engine: MemoryEngine, animal: str, asked: str, said: str) -> None:
    actor = Actor(user=said)
    await engine.capture(Message(role="user", content=animal, session="a", sent_at=MONDAY), actor=actor)
    later = MONDAY + timedelta(days=20)
    await engine.capture_many(
        [
            Message(role="assistant", content=asked, session="b", sent_at=later),
            Message(role="user", content=said, session="b", sent_at=later + timedelta(minutes=1)),
        ],
        actor=actor,
    )
    assert animal in [one.content for one in await engine.list(actor=actor) if one.status is Status.ACTIVE]


async def test_a_dated_move_ends_an_earlier_home_without_a_date(engine: MemoryEngine) -> None:
    actor = Actor(user="moves")
    await engine.add("I live in Hamburg.", actor=actor)
    said = Message(role="user", content="I moved to Berlin on 3 March 2024.", sent_at=datetime.now(UTC))
    await engine.capture(said, actor=actor)
    now = [one.content for one in await engine.list(actor=actor) if one.status is Status.ACTIVE]
    assert "I live in Hamburg." not in now
    assert any("Berlin" in one for one in now)
