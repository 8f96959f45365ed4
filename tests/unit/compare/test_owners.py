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
