"""One medicine in another dose or form, and notes of a label and a list."""

from __future__ import annotations

import pytest

from mnemic.language.changes.change_classifier import judge
from mnemic.language.changes.labelled_lists import labelled, rest_of_list
from mnemic.language.frames.statement_frame import Frame

ANOTHER = [
    ("I take ramipril 5 mg.", "I take ramipril 10 mg now."),
    ("I take metformin 500 mg tablets.", "I take metformin as a liquid."),
    ("Ich nehme Ramipril als Tablette.", "Ramipril bekomme ich als Tropfen."),
    ("Je prends du Doliprane en comprimés.", "Je prends le Doliprane en sirop."),
    ("Tomo ibuprofeno en pastillas.", "El ibuprofeno lo tomo en jarabe."),
    ("Ik neem ramipril 5 mg.", "Ik neem ramipril 10 mg."),
]
BESIDE = [
    ("I take 5 mg of ramipril in the morning.", "I take 10 mg of ramipril in the evening."),
    ("I take ramipril 5 mg.", "I take bisoprolol 10 mg."),
    ("I take ibuprofen tablets.", "I also use ibuprofen gel."),
    ("I take ramipril 5 mg.", "My father takes ramipril 10 mg."),
]


@pytest.mark.parametrize(("earlier", "later"), ANOTHER)
def test_another_dose_or_form_takes_the_place(earlier: str, later: str) -> None:
    assert judge(Frame(earlier), Frame(later), 0.6) is not None


@pytest.mark.parametrize(("earlier", "later"), BESIDE)
def test_another_medicine_or_hour_is_beside_it(earlier: str, later: str) -> None:
    assert judge(Frame(earlier), Frame(later), 0.6) is None


def test_a_change_of_one_item_leaves_the_others() -> None:
    note = labelled("Mrs. Ito: Wednesdays, invoice only, ring twice.")
    assert note is not None
    assert rest_of_list(*note, Frame("Mrs. Ito: Fridays now.")) == "Mrs. Ito: invoice only, ring twice."
    assert rest_of_list(*note, Frame("Mrs. Ito has retired.")) == ""
    assert labelled("My car: a red one.") is None
    assert labelled("Deal Alder: stage is proposal, 9k a year, closing in May") is None
    assert labelled("She said: come at ten, or stay at home. I stayed.") is None
