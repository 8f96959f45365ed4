"""Changes that are certain by what two statements say, in seven languages, and what they must leave alone."""

from __future__ import annotations

import pytest

from mnemic.language.changes.certain_changes import amending
from mnemic.language.changes.change_bounds import ChangeBounds
from mnemic.language.changes.change_classifier import judge
from mnemic.language.changes.products import named_products
from mnemic.language.frames.statement_frame import Frame

CHANGES = [
    ("I keep my code on GitHub.", "We switched to GitLab."),
    ("Ich schreibe in Notion mit.", "Ich bin auf Obsidian umgestiegen."),
    ("J'écoute Deezer.", "Je suis passé à Spotify."),
    ("Uso Outlook.", "Me he pasado a Gmail."),
    ("Uso Safari ogni giorno.", "Sono passato a Firefox."),
    ("I live in Dresden.", "I moved to Kiel for good."),
    ("J'habite à Nantes.", "On a emménagé à Reims."),
    ("Our daughter is nine.", "Our daughter turned ten on Sunday."),
    ("I work for Migros.", "I don't work for Migros."),
    ("I've stopped swimming.", "I'm swimming again."),
    ("My wife is pregnant.", "My wife gave birth on Monday."),
    ("Our stall is on the third floor.", "They've relocated our stall to the fifth floor."),
    ("Soy cocinero.", "Ahora soy taxista."),
    ("Sou enfermeira.", "Agora sou professora."),
    ("Ik ben bakker.", "Ik ben nu leraar."),
    ("Lavoro alla Barilla.", "Mi sono licenziato dalla Barilla."),
    ("Je travaille chez Renault.", "J'ai démissionné de chez Renault."),
    ("A reunião é na terça.", "A reunião foi adiada para sexta."),
    ("We have a daughter.", "Our second child was born on Tuesday."),
    ("The lunch is for six guests.", "Make that nine guests."),
    ("Das Essen ist für sechs Gäste.", "Sagen wir neun Gäste."),
    ("Le dîner est pour six invités.", "Disons neuf invités."),
    ("La cena è per sei ospiti.", "Facciamo nove ospiti."),
    ("El curso es para seis alumnos.", "Mejor que sean nueve."),
    ("My aunt lives in Graz.", "Sorry, I meant Linz."),
    ("Meine Tante wohnt in Graz.", "Ich meinte Linz."),
    ("Mijn tante woont in Gent.", "Ik bedoelde Brugge."),
    ("The spare key is under the bench.", "I meant behind the bench."),
    ("We have two children.", "We just had a third child."),
    ("My cousin is pregnant.", "My cousin had a baby boy."),
    ("I have 3 goats.", "I have five goats now."),
    ("I'm vegan.", "I eat cheese again."),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_certain_change_takes_the_place_of_the_earlier_statement(old: str, new: str) -> None:
    assert judge(Frame(old), Frame(new), 0.45) is not None


@pytest.mark.parametrize("among", [1, 32])
@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_certain_change_is_within_reach_however_many_are_near(old: str, new: str, among: int) -> None:
    found = judge(Frame(old), Frame(new), 0.45, among=among)
    reach = ChangeBounds(Frame(new), among)
    assert found is None or (reach.within(Frame(old), 0.45) and not reach.certainly_none(0.45))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Dresden.", "I moved my brother to Kiel."),
        ("I live in Dresden.", "I helped my mum move to Kiel."),
        ("I live in Dresden.", "We moved the meeting to Kiel."),
        ("Vivo en Cuenca.", "He mudado a mi madre a Teruel."),
        ("Send my parcels to the office, always.", "The office is shut, so only this month send them to my home."),
        ("I run four times a week.", "No running for the next two weeks."),
        ("Ich arbeite im Büro.", "Nur diese Woche arbeite ich zu Hause."),
        ("I live in Dresden.", "We moved to Kubernetes."),
        ("I live in Dresden.", "I moved to Slack last week."),
        ("I use PyCharm for Python.", "I switched to IntelliJ for Kotlin."),
        ("Mi hermano vive en Cuenca.", "Mi hermana se ha mudado a Teruel."),
        ("Mio figlio abita a Novara.", "Mia figlia si è trasferita a Asti."),
        ("I'm allergic to wasps.", "I'm not allergic to bees any more."),
        ("Mein Hausarzt ist Dr. Roth.", "Meine Zahnärztin ist jetzt Dr. Blau."),
        ("We own a barn in Kent and a barn in Essex.", "I repainted the barn in Essex."),
        ("I drink.", "I don't drink much."),
        ("Our son is nine.", "Our daughter turned ten on Sunday."),
        ("My sister is pregnant.", "I had my tooth out on Monday."),
    ],
)
def test_what_is_about_something_else_changes_nothing(old: str, new: str) -> None:
    assert judge(Frame(old), Frame(new), 0.45) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Make that ten people.", "ten people"),
        ("Sorry, I meant Friday.", "friday"),
        ("Nein, ich meinte Linz.", "linz"),
        ("Je voulais dire Nancy.", "nancy"),
        ("I meant what I said about the garden wall and the new roof.", None),
        ("I mean it.", None),
        ("Make a cake.", None),
    ],
)
def test_a_correction_that_says_nothing_else_is_read(text: str, value: str | None) -> None:
    assert amending(Frame(text)) == value


def test_a_word_that_names_a_product_with_a_capital_alone_is_no_product_without() -> None:
    assert named_products(Frame("We talk on Teams.")) == {"chat": frozenset({1})}
    assert named_products(Frame("Our teams talk.")) == {}


@pytest.mark.parametrize(
    "said", ["My birthday is 4 May", "My birthday is 4 mai.", "My flight is 12 August", "It is 4/5"]
)
def test_a_date_is_no_age(said: str) -> None:
    assert "age" not in Frame(said).attributes


@pytest.mark.parametrize("said", ["I'm 34", "She is 4", "I'm 35 now", "I'm 34, by the way"])
def test_a_number_of_a_person_alone_is_an_age(said: str) -> None:
    assert "age" in Frame(said).attributes
