"""A value of somebody else's thing is no new value of one's own, and the other way round."""

from __future__ import annotations

import pytest

from mnemic_language.changes.change_classifier import framed, judge
from mnemic_language.changes.owners import owner_of

OWNERS = [
    "Maria's",
    "Tom's",
    "Ana and Tom's",
    "Dr. Hale's",
    "Her",
    "Your",
    "The company's",
    "Our neighbour's",
    "My sister's",
]
THINGS = [
    ("birthday is on 3 May.", "birthday is on 7 June."),
    ("height is 1.70 m.", "height is 1.82 m."),
    ("salary is 4,000 euros.", "salary is 5,000 euros."),
    ("rent is 900 euros.", "rent is 1,200 euros."),
    ("shoe size is 42.", "shoe size is 38."),
    ("address is 4 Mill Lane.", "address is 9 Oak Road."),
    ("phone number is 555 0100.", "phone number is 555 0199."),
    ("meeting is at 3 pm.", "meeting is at 5 pm."),
]
PAIRS = [
    ("Maria's height is 1.70 m.", "Tom's height is 1.82 m."),
    ("Meine Größe ist 1,70 m.", "Marias Größe ist 1,82 m."),
    ("Mein Geburtstag ist am 3. Mai.", "Marias Geburtstag ist am 7. Juni."),
    ("Meine Miete ist 900 Euro.", "Seine Miete ist 1200 Euro."),
    ("Ma taille est 1,70 m.", "La taille de Maria est 1,82 m."),
    ("Mi alquiler es de 900 euros.", "Su alquiler es de 1200 euros."),
    ("Il mio compleanno è il 3 maggio.", "Il compleanno di Maria è il 7 giugno."),
    ("O meu aniversário é a 3 de maio.", "O aniversário da Maria é a 7 de junho."),
    ("Mijn verjaardag is op 3 mei.", "Maria's verjaardag is op 7 juni."),
    ("My height is 1.70 m.", "The height of Maria is 1.82 m."),
    ("I'm 1.70 m tall.", "Maria is 1.82 m tall."),
    ("I weigh 70 kg.", "Tom weighs 85 kg."),
    ("I was born on 3 May 1990.", "Maria was born on 7 June 1992."),
    ("Ich wiege 70 kg.", "Tom wiegt 85 kg."),
    ("Je pèse 70 kg.", "Tom pèse 85 kg."),
]
SAME = [
    ("My height is 1.70 m.", "My height is 1.72 m now."),
    ("Maria's height is 1.70 m.", "Maria's height is 1.72 m now."),
    ("My rent is 900 euros.", "Now my rent is 1,200 euros."),
    ("Maria's salary is 4,000 euros.", "Maria's salary is 5,000 euros now."),
    ("The flat's rent is 900 euros.", "My rent is 1,200 euros now."),
    ("Monday's meeting is at 3 pm.", "Monday's meeting is at 5 pm now."),
]


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize(("one", "another"), THINGS)
@pytest.mark.parametrize("cosine", [0.5, 0.75, 0.9])
def test_the_thing_of_another_changes_nothing_of_ones_own(owner: str, one: str, another: str, cosine: float) -> None:
    assert judge(framed(f"My {one}"), framed(f"{owner} {another}"), cosine) is None
    assert judge(framed(f"{owner} {one}"), framed(f"My {another}"), cosine) is None


@pytest.mark.parametrize(("one", "another"), PAIRS)
@pytest.mark.parametrize("cosine", [0.5, 0.75, 0.9])
def test_it_is_so_in_other_words_and_languages(one: str, another: str, cosine: float) -> None:
    assert judge(framed(one), framed(another), cosine) is None
    assert judge(framed(another), framed(one), cosine) is None


@pytest.mark.parametrize(("old", "new"), SAME)
def test_another_value_of_the_same_thing_still_replaces_the_old_one(old: str, new: str) -> None:
    assert judge(framed(old), framed(new), 0.85) is not None


@pytest.mark.parametrize(
    ("sentence", "owner"),
    [
        ("That's my car.", ""),
        ("Monday's meeting is at 3.", ""),
        ("Today's lunch is soup.", ""),
        ("The flat's rent is 900 euros.", ""),
        ("My company's rent is 900 euros.", ""),
        ("The end of May is near.", ""),
        ("Now my height is 1.82 m.", "self"),
        ("Ihre Größe ist 1,82 m.", "other"),
        ("Dr. Hale's salary is 5,000 euros.", "hal"),
    ],
)
def test_an_owner_is_read_at_the_head_of_a_sentence(sentence: str, owner: str) -> None:
    assert owner_of(sentence) == owner


PEOPLE = ["I", "Tom", "Dr. Hale", "My sister", "My friend Ben"]
SAID = [
    (("live in Bonn", "lives in Bonn"), ("live in Kiel", "lives in Kiel")),
    (("work at Acme", "works at Acme"), ("work at Initech", "works at Initech")),
    (("weigh 60 kg", "weighs 60 kg"), ("weigh 85 kg", "weighs 85 kg")),
    (("prefer tea", "prefers tea"), ("prefer coffee", "prefers coffee")),
    (("drive a Volvo", "drives a Volvo"), ("drive a Fiat", "drives a Fiat")),
    (("earn 4,000 euros", "earns 4,000 euros"), ("earn 5,000 euros", "earns 5,000 euros")),
    (("am vegan", "is vegan"), ("eat meat", "eats meat")),
    (("am married to Kim", "is married to Kim"), ("am married to Lou", "is married to Lou")),
]
IN_OTHER_LANGUAGES = [
    ("Peso 70 kg.", "Tom pesa ahora 85 kg."),
    ("Mi hermana pesa 70 kg.", "Tom pesa ahora 85 kg."),
    ("Gano 4000 euros.", "Tom gana ahora 5000 euros."),
    ("Peso 70 kg.", "Marco adesso pesa 85 kg."),
    ("Abito a Roma.", "Marco abita a Milano adesso."),
    ("Peso 70 kg.", "Pedro pesa agora 85 kg."),
    ("Moro em Lisboa.", "O Pedro mora agora no Porto."),
    ("Trabalho na Acme.", "Ana já trabalha na Initech."),
    ("Ich wohne in Bonn.", "Tom wohnt jetzt in Kiel."),
    ("Ich fahre einen Golf.", "Anna fährt jetzt einen Tesla."),
    ("J'habite à Lyon.", "Tom habite maintenant à Paris."),
    ("Ik woon in Gent.", "Tom woont nu in Breda."),
]


def _of(person: str, forms: tuple[str, str]) -> str:
    return f"{person} {forms[0] if person == 'I' else forms[1]}"


@pytest.mark.parametrize(("one", "another"), SAID)
@pytest.mark.parametrize("now", ["{}.", "{} now.", "Now {}.", "{} these days."])
def test_the_news_of_one_person_changes_nothing_of_another(
    one: tuple[str, str], another: tuple[str, str], now: str
) -> None:
    for who in PEOPLE:
        for other in PEOPLE:
            old, new = framed(f"{_of(who, one)}."), framed(now.format(_of(other, another)))
            for cosine in (0.5, 0.75, 0.9):
                assert who == other or judge(old, new, cosine) is None, (old.text, new.text, cosine)


@pytest.mark.parametrize(("mine", "theirs"), IN_OTHER_LANGUAGES)
@pytest.mark.parametrize("cosine", [0.5, 0.75, 0.9])
def test_news_of_another_person_in_other_languages_change_nothing(mine: str, theirs: str, cosine: float) -> None:
    assert judge(framed(mine), framed(theirs), cosine) is None
    assert judge(framed(theirs), framed(mine), cosine) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Bonn.", "I live in Kiel now."),
        ("Tom lives in Bonn.", "Tom lives in Kiel now."),
        ("Tom lives in Bonn.", "He lives in Kiel now."),
        ("My sister lives in Bonn.", "My sister Ana lives in Kiel now."),
        ("My sister Ana lives in Bonn.", "Ana lives in Kiel now."),
        ("We live in Bonn.", "I live in Kiel now."),
        ("Tom leads the team.", "Ana leads the team now."),
        ("Slack is our chat tool.", "Teams is our chat tool now."),
        ("Dr. Hale is my dentist.", "Dr. Mori is my dentist now."),
        ("Tom's in charge of billing.", "Ana is in charge of billing now."),
        ("Peso 70 kg.", "Ahora peso 72 kg."),
        ("Responde sempre em inglês por favor.", "Podes voltar ao português, já treinei o suficiente."),
        ("Moro em Coimbra, perto da universidade.", "Mudámo-nos para Aveiro em agosto."),
    ],
)
def test_news_of_the_same_person_or_matter_still_change_it(old: str, new: str) -> None:
    assert judge(framed(old), framed(new), 0.8) is not None
