"""Negation in a frame, where one language's word for it means something else in another."""

from __future__ import annotations

import pytest

from mnemic.language.changes.change_classifier import judge
from mnemic.language.frames.statement_frame import Frame


@pytest.mark.parametrize(
    "text", ["Prefiro o lugar no corredor.", "Moro no Porto.", "Trabalho no centro.", "Estou no trem."]
)
def test_in_the_denies_nothing_in_portuguese(text: str) -> None:
    assert not Frame(text).negated


@pytest.mark.parametrize(
    "text", ["I have no car.", "Yo no vivo en Madrid.", "No me gusta el queso.", "Não moro no Porto."]
)
def test_a_denial_is_one(text: str) -> None:
    assert Frame(text).negated


def test_a_seat_by_the_window_takes_the_place_of_one_on_the_aisle() -> None:
    old, new = Frame("Prefiro o lugar no corredor."), Frame("Agora prefiro o lugar à janela.")
    assert judge(old, new, 0.8, among=3) is not None
