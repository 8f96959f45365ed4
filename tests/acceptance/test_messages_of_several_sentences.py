"""A message of several sentences ends or changes what one of its clauses is about, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mnemic.types import Candidate
from tests.acceptance.current_statements import left

TOLD = (
    ("I live in Bonn with two cats. I work at Acme.", "The weekend was lovely. We moved to Kiel."),
    ("I go to the gym on Tuesdays.", "It was a busy week. I cancelled my gym membership."),
    ("My rent is 850 euros.", "The landlord wrote to us. My rent is 910 euros now."),
    ("The team meeting is on Tuesday.", "Thanks for the help. The team meeting has moved to Thursday."),
    ("I take enalapril every morning.", "I saw my doctor today. I no longer take enalapril."),
    ("Our kayak weighs 22 kilos.", "We put a new seat in. Our kayak weighs 24 kilos now."),
    ("I am vegan. My sister Ana bakes for us.", "Ana was sad about it. I am not vegan anymore."),
    ("Ich wohne in Bonn. Meine Miete beträgt 850 Euro.", "Der Vermieter schrieb. Meine Miete beträgt jetzt 910 Euro."),
    ("Trabajo en Acme.", "Fue una semana larga. Ya no trabajo en Acme."),
)
APART = (
    (
        "I wrapped the lamp for Ana. We still have to carry it up 7 floors.",
        "I cancelled the bookshelf. We still have to carry it up 12 floors.",
    ),
    ("We bought a tent in May. It weighs 4 kilos.", "We sold the kayak last week. It weighs 22 kilos."),
    ("My flatmate wants to borrow my car. My dentist likes him.", "My flatmate sold his guitar. He sang well."),
    (
        "I booked a trip to Japan three months ago. I chose the package with Kyoto.",
        "The prices have gone up by 200 dollars since I booked. I am glad that I did it early.",
    ),
    (
        "Our choir had a blast volunteering. It is our way of giving back.",
        "It is inspiring how you make a difference. Sadly you can't volunteer at the shelter anymore.",
    ),
    (
        "I track my daily expenses in a spreadsheet. I want to eat out less.",
        "My aunt Ashlee told us of increased medical expenses. I must think about that.",
    ),
    ("Wir haben im Mai ein Zelt gekauft. Es wiegt 4 Kilo.", "Wir haben das Kajak verkauft. Es wiegt 22 Kilo."),
    ("Nous avons acheté une tente. Elle pèse 4 kilos.", "Nous avons vendu le kayak. Il pèse 22 kilos."),
)


@pytest.mark.parametrize(("old", "new"), TOLD)
async def test_a_clause_among_others_changes_what_it_is_about(old: str, new: str) -> None:
    current = await left(old, new)
    assert new in current
    assert old not in current


@pytest.mark.parametrize(("old", "new"), APART)
async def test_words_of_two_sentences_together_change_nothing(old: str, new: str) -> None:
    assert await left(old, new) == {old, new}


@pytest.mark.parametrize(("old", "new"), APART)
async def test_the_order_of_arrival_makes_no_difference(old: str, new: str) -> None:
    said = datetime(2026, 5, 4, tzinfo=UTC)
    first, later = (
        Candidate(content=old, occurred_at=said - timedelta(days=9)),
        Candidate(content=new, occurred_at=said),
    )

    assert await left(later, first) == {old, new}
