"""Ends and changes that name an employer, a product, an animal's kind or a medicine; and neighbours that none closes.

Each pair is told in two talks; those of `IN_ONE_TALK` within minutes, too.
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


async def live(engine: MemoryEngine, texts: str, *, one_talk: bool = False) -> tuple[list[str], list[str]]:
    """Return the contents that are live after the texts, parted by " / ", and the reasons of the last receipts."""
    actor, reasons = Actor(user=f"{one_talk} {texts}"), []
    for number, text in enumerate(texts.split(" / ")):
        at = MONDAY + (timedelta(minutes=2) if one_talk else timedelta(days=20)) * number
        said = Message(role="user", content=text, sent_at=at, session="s" if one_talk else f"s{number}")
        reasons = [one.reason or "" for one in (await engine.capture(said, actor=actor)).receipts]
    now = [one.content for one in await engine.list(actor=actor, limit=20) if one.status is Status.ACTIVE]
    return now, reasons


EMPLOYERS = (
    ("I'm a receptionist at the Marriott. / I quit the Marriott.", "receptionist"),
    ("I'm a receptionist at the Marriott. / I left the Marriott in May.", "receptionist"),
    ("I'm a receptionist. / I work at the Marriott. / I quit the Marriott.", "receptionist"),
    ("I work at Tesco. / I moved to Waitrose.", "Tesco"),
    ("I work at Siemens. / I've moved to Google.", "Siemens"),
    ("Ich bin Elektriker bei Siemens. / Ich habe Siemens verlassen.", "Elektriker"),
    ("Je suis comptable chez Renault. / J'ai quitté Renault.", "comptable"),
    ("Trabajo en Iberia como mecánico. / Dejé Iberia.", "mecánico"),
    ("Faccio il cuoco alla Barilla. / Ho lasciato la Barilla.", "cuoco"),
    ("Sou engenheiro na Petrobras. / Saí da Petrobras.", "engenheiro"),
    ("Ik ben monteur bij Philips. / Ik heb Philips verlassen.", "monteur"),
)
PRODUCTS = (
    ("I use Trello. / I use Todoist instead.", "Trello."),
    ("I use Trello. / I use Todoist instead now.", "Trello."),
    ("I bank with Barclays. / I bank with Monzo instead.", "Barclays"),
    ("Ich nutze Trello. / Ich nutze stattdessen Todoist.", "Trello"),
    ("J'utilise Trello. / J'utilise Todoist à la place.", "Trello"),
    ("Uso Trello. / Uso Todoist en su lugar.", "Trello"),
    ("Uso Trello. / Uso invece Todoist.", "Trello"),
    ("Eu uso Trello. / Em vez disso uso Todoist.", "Trello"),
    ("Ik gebruik Trello. / Ik gebruik in plaats daarvan Todoist.", "Trello"),
)
ANIMALS = (
    ("I have a Labrador. / The dog died.", "Labrador"),
    ("I have a cat called Tom. / The cat died.", "Tom"),
    ("I adopted a beagle last year. / Our dog passed away.", "beagle"),
    ("I have a budgie. / The bird died.", "budgie"),
    ("Ich habe einen Dackel. / Der Hund ist gestorben.", "Dackel"),
    ("J'ai un caniche. / Le chien est mort.", "caniche"),
    ("Tengo un galgo. / El perro murió.", "galgo"),
    ("Ho un bassotto. / Il cane è morto.", "bassotto"),
    ("Tenho um labrador. / O cachorro morreu.", "labrador"),
    ("Ik heb een teckel. / De hond is dood.", "teckel"),
)
MEDICINES = (
    ("My doctor is called Dr. Patel. / I take warfarin. / My doctor took me off warfarin.", "I take"),
    ("I'm on warfarin. / I was taken off warfarin.", "I'm on"),
    ("Mein Arzt heißt Dr. Weber. / Ich nehme Warfarin. / Mein Arzt hat das Warfarin abgesetzt.", "nehme"),
    ("Je prends de la warfarine. / Mon médecin a arrêté la warfarine.", "prends"),
    ("Tomo warfarina. / Mi médico me quitó la warfarina.", "Tomo"),
    ("Prendo il warfarin. / Il mio medico mi ha tolto il warfarin.", "Prendo"),
    ("Tomo varfarina. / O meu médico suspendeu a varfarina.", "Tomo"),
    ("Ik slik warfarine. / Mijn huisarts heeft de warfarine gestopt.", "slik"),
)
IN_ONE_TALK = (
    ("Prefiro o lugar no corredor. / Agora prefiro o lugar à janela.", "corredor"),
    ("Je préfère une place côté couloir. / Maintenant je préfère côté fenêtre.", "couloir"),
    ("Ik zit het liefst aan het gangpad. / Nu zit ik liever aan het raam.", "gangpad"),
    ("Bebo chá. / Agora bebo café.", "chá"),
    ("I'm a receptionist at the Marriott. / I left the Marriott.", "receptionist"),
    ("I use Trello. / I use Todoist instead.", "Trello"),
    ("I have a Labrador. / The dog died.", "Labrador"),
    ("I take warfarin. / My doctor took me off warfarin.", "I take"),
)
BESIDE = (
    ("I'm a receptionist at the Marriott. / I left the Marriott at six.", "receptionist"),
    ("I'm a receptionist at the Marriott. / I left the Hilton.", "Marriott"),
    ("I'm a receptionist at the Marriott. / I left the Marriott to get lunch.", "receptionist"),
    ("I'm a receptionist at the Marriott. / I left my umbrella at the Marriott.", "receptionist"),
    ("I'm a receptionist at the Marriott. / I nearly left the Marriott.", "receptionist"),
    ("I'm a receptionist at the Marriott. / I want to quit the Marriott.", "receptionist"),
    ("I'm a receptionist at the Marriott. / My sister quit the Marriott.", "receptionist"),
    ("I work at Tesco. / I moved to Hull.", "Tesco"),
    ("I work at Google. / We moved to Microsoft Teams.", "Google"),
    ("I shop at Tesco. / I moved to Waitrose.", "Tesco"),
    ("I live in Hull. / I moved to Waitrose.", "Hull"),
    ("I live in Hull. / I moved to Sheffield City Council.", "Hull"),
    ("I use Trello. / I use Todoist instead of Asana.", "Trello"),
    ("I use Trello. / My sister uses Todoist instead.", "I use Trello."),
    ("I use Slack. / I use Todoist instead.", "Slack"),
    ("I use Trello at work. / At home I use Todoist instead.", "Trello"),
    ("I use Trello for work. / I use Todoist instead for my private lists.", "Trello"),
    ("I have a Labrador. / The cat died.", "Labrador"),
    ("My sister has a Labrador. / The dog died.", "Labrador"),
    ("I have a parrot. / The budgie died.", "parrot"),
    ("I have a Labrador. / My sister's dog died.", "I have a Labrador."),
    ("I have a Labrador. / The dog nearly died.", "Labrador"),
    ("I have a Labrador. / The dog is dead tired.", "Labrador"),
    ("I have a Labrador. / In the film the dog died.", "Labrador"),
    ("Ich habe einen Dackel. / Der Hund wäre fast gestorben.", "Dackel"),
    ("I have two cars, a Golf and a Volvo. / I sold the Fiat.", "two cars, a Golf"),
    ("I have two cars, a Golf and a Volvo. / My brother sold the Golf.", "two cars, a Golf"),
    ("I have two sons, Max and Leo. / Max moved out.", "two sons, Max and Leo"),
    ("My doctor is called Dr. Patel. / I take warfarin. / My doctor took me off warfarin.", "Patel"),
    ("Mijn huisarts heet De Vries. / Ik slik warfarine. / Mijn huisarts heeft de warfarine gestopt.", "De Vries"),
    ("I take ramipril. / My doctor took me off warfarin.", "ramipril"),
    ("I take warfarin. / My doctor took my mother off warfarin.", "I take warfarin."),
    ("I take warfarin. / My sister took me off her list.", "I take warfarin."),
)
PARTS = (
    ("I have two cars, a Golf and a Volvo. / I sold the Golf.", "I have a Volvo."),
    ("I have a Golf and a Volvo. / I sold the Golf.", "I have a Volvo."),
    ("We have two cats, Tom and Lily. / Tom died.", "We have one cat, Lily."),
    ("I have three dogs: Rex, Max and Bo. / Rex died.", "I have two dogs: Max and Bo."),
    ("Ich habe zwei Autos, einen Golf und einen Volvo. / Ich habe den Golf verkauft.", "Ich habe einen Volvo."),
    ("J'ai deux voitures, une Golf et une Volvo. / J'ai vendu la Golf.", "J'ai une Volvo."),
    ("Tengo dos coches, un Golf y un Volvo. / Vendí el Golf.", "Tengo un Volvo."),
    ("Ho due macchine, una Golf e una Volvo. / Ho venduto la Golf.", "Ho una Volvo."),
    ("Tenho dois carros, um Golf e um Volvo. / Vendi o Golf.", "Tenho um Volvo."),
    ("Ik heb twee auto's, een Golf en een Volvo. / Ik heb de Golf verkocht.", "Ik heb een Volvo."),
)


@pytest.mark.parametrize(("told", "gone"), [*EMPLOYERS, *PRODUCTS, *ANIMALS, *MEDICINES])
async def test_it_is_closed(engine: MemoryEngine, told: str, gone: str) -> None:
    now, _ = await live(engine, told)
    assert now
    assert not any(gone in content for content in now)


@pytest.mark.parametrize(("told", "gone"), IN_ONE_TALK)
async def test_it_is_closed_within_one_talk(engine: MemoryEngine, told: str, gone: str) -> None:
    now, _ = await live(engine, told, one_talk=True)
    assert now
    assert not any(gone in content for content in now)


@pytest.mark.parametrize("one_talk", [False, True])
@pytest.mark.parametrize(("told", "kept"), BESIDE)
async def test_its_neighbour_stays(engine: MemoryEngine, told: str, kept: str, one_talk: bool) -> None:
    now, _ = await live(engine, told, one_talk=one_talk)
    assert any(kept in content for content in now)


@pytest.mark.parametrize("one_talk", [False, True])
@pytest.mark.parametrize(("told", "rest"), PARTS)
async def test_of_several_the_rest_stays(engine: MemoryEngine, told: str, rest: str, one_talk: bool) -> None:
    now, _ = await live(engine, told, one_talk=one_talk)
    assert rest in now
    assert not any("two cars" in content or "zwei" in content for content in now)


@pytest.mark.parametrize("one_talk", [False, True])
@pytest.mark.parametrize(
    "told",
    [
        "I have a cat called Tom. / I also have a cat called Lily. / The cat died.",
        "I have a Labrador. / I have a poodle, too. / The dog died.",
        "I have two cars, a Golf and a Volvo. / I sold the car.",
    ],
)
async def test_one_of_two_is_asked_after(engine: MemoryEngine, told: str, one_talk: bool) -> None:
    now, reasons = await live(engine, told, one_talk=one_talk)
    assert reasons == ["which_of_several"]
    assert set(told.split(" / ")[:-1]) <= set(now)
