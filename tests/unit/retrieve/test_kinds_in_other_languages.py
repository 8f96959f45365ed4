"""Questions for a kind of thing in other languages than English, whose answers name a member of it alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import Actor, Settings, build_engine
from mnemic.retrieve.category_members import asks_for_several, instances_of

ASKED = {
    "german": (
        ("Ich spiele dienstags Handball.", "Welchen Sport mache ich?"),
        ("Ich spiele Bratsche.", "Welches Instrument spiele ich?"),
        ("Meine Schwester heißt Katja.", "Wie viele Geschwister habe ich?"),
        ("Ich spreche Polnisch mit meiner Oma.", "Welche Sprachen spreche ich?"),
    ),
    "dutch": (
        ("Ik speel op dinsdag handbal.", "Welke sport doe ik?"),
        ("Ik heb een konijn dat Flip heet.", "Welke huisdieren heb ik?"),
    ),
    "french": (("Je fais de l'escrime le mardi.", "Quel sport est-ce que je fais ?"),),
    "spanish": (("Toco el violonchelo.", "¿Qué instrumentos toco?"),),
    "italian": (("Pratico la scherma il martedì.", "Quali sport pratico?"),),
    "portuguese": (("Eu toco violão.", "Que instrumentos eu toco?"),),
}
OTHERS = {
    "german": ("Ich arbeite als Buchhalter in Köln.", "Mein Auto steht in der Garage.", "Ich mag keine Rosinen."),
    "dutch": ("Ik werk als boekhouder in Gent.", "Mijn zus woont in Leuven.", "Ik lust geen rozijnen."),
    "french": ("Je travaille comme comptable à Lyon.", "Ma sœur habite à Nice.", "Je n'aime pas les raisins secs."),
    "spanish": ("Trabajo como contable en Burgos.", "Mi hermana vive en Vigo.", "No me gustan las pasas."),
    "italian": ("Lavoro come contabile a Torino.", "Mia sorella abita a Bari.", "Non mi piace l'uvetta."),
    "portuguese": ("Eu trabalho como contador em Lisboa.", "Minha irmã mora no Porto.", "Não gosto de passas."),
}


@pytest.mark.parametrize(
    ("language", "told", "asked"), [(language, *pair) for language, pairs in ASKED.items() for pair in pairs]
)
async def test_a_member_is_found_first(tmp_path: Path, language: str, told: str, asked: str) -> None:
    ana = Actor(user="ana")
    async with build_engine(Settings(store=str(tmp_path / "s.db"))) as engine:
        await engine.add(told, actor=ana)
        for other in OTHERS[language]:
            await engine.add(other, actor=ana)
        found = await engine.search(asked, actor=ana)
        assert found.hits[0].memory.content == told
        assert "instances" in found.hits[0].ranks
        assert not found.abstains


def test_a_language_has_its_own_table() -> None:
    assert "handball" in instances_of("Welchen Sport mache ich?")
    assert instances_of("Wo wohnt meine Schwester?") == ""
    assert instances_of("Where do I live?") == ""


def test_a_number_is_asked_for_in_other_languages() -> None:
    assert asks_for_several("Wie viele Bücher habe ich gelesen?")
    assert asks_for_several("Combien de fois suis-je allé à Paris ?")
    assert not asks_for_several("Wo wohne ich?")
