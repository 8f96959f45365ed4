"""Values of keys in the spelling in which they are stored."""

from __future__ import annotations

import pytest

from mnemic.language.sentences.tables.values import zone


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("Pacific time", "PT"),
        ("Pacıfıc time", "PT"),
        ("mountain ſtandard time", "MT"),
        ("europe/madrid", "Europe/Madrid"),
    ],
)
def test_a_time_zone_has_its_usual_spelling(said: str, stored: str) -> None:
    assert zone(said) == stored
