"""The name of a person is not changed by what the person does."""

from __future__ import annotations

import pytest

from mnemic.language.changes.change_classifier import judge
from mnemic.language.ended_facts.left_jobs import leaves_work, left
from mnemic.language.frames.statement_frame import Frame

STAYS = [
    ("My sister Emma.", "My sister moved to Graz."),
    ("My sister is called Emma.", "My sister moved to Graz."),
    ("Meine Schwester Emma.", "Meine Schwester ist nach Graz gezogen."),
    ("Meine Schwester heißt Emma.", "Meine Schwester ist nach Graz gezogen."),
    ("Ma sœur s'appelle Emma.", "Ma sœur a déménagé à Graz."),
    ("Mi hermana se llama Emma.", "Mi hermana se ha mudado a Graz."),
    ("Mia sorella si chiama Emma.", "Mia sorella si è trasferita a Graz."),
    ("A minha irmã chama-se Emma.", "A minha irmã mudou-se para Graz."),
    ("Mijn zus heet Emma.", "Mijn zus is naar Graz verhuisd."),
]
GOES = [
    ("My girlfriend Marta.", "Marta and I split up two weeks ago."),
    ("My sister's name is Anna.", "Actually it's Ana with one n."),
    ("My sister lives in Bonn.", "My sister moved to Graz."),
]


@pytest.mark.parametrize(("earlier", "later"), STAYS)
def test_a_name_stays_whatever_its_bearer_does(earlier: str, later: str) -> None:
    assert judge(Frame(earlier), Frame(later), 0.7) is None


@pytest.mark.parametrize(("earlier", "later"), GOES)
def test_an_end_or_a_correction_changes_it(earlier: str, later: str) -> None:
    assert judge(Frame(earlier), Frame(later), 0.6) is not None


def test_a_loss_in_the_background_is_no_news() -> None:
    assert leaves_work(Frame("I lost my job."))
    assert leaves_work(Frame("I need cheap recipes because I lost my job."))
    assert not leaves_work(Frame("Since I lost my job, I've been baking."))
    assert not leaves_work(Frame("Seitdem ich meinen Job verloren habe, backe ich."))


def test_a_job_of_another_kind_is_not_the_one_just_got() -> None:
    assert not left(Frame("I finally got my dream job!"), Frame("I left my IT job after three years."))
    assert left(Frame("I got a job at Aldi."), Frame("I quit my job."))
    assert left(Frame("I work as a nurse."), Frame("I quit my nursing job."))


def test_a_finished_set_ends_no_fear() -> None:
    known = Frame("I'm too afraid to go home, for fear of contamination.")
    assert judge(known, Frame("I just finished my sets at the gym, so I'm at home now."), 0.1) is None
