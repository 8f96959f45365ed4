"""The reason that a report gives for leaving something out is true, in seven languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic import MemoryManager

REASONS = {
    "third_party": (
        "My neighbour's cousin got divorced.",
        "The baker's wife has left him.",
        "Die Cousine meiner Nachbarin hat sich scheiden lassen.",
        "La cousine de ma voisine a divorcé.",
        "La cugina della mia vicina ha divorziato.",
    ),
    "opinion": (
        "That film was far too long.",
        "I think the new logo looks cheap.",
        "Der Film war viel zu lang.",
        "Ce film était beaucoup trop long.",
        "La película fue demasiado larga.",
        "Il film era troppo lungo.",
        "De film was veel te lang.",
    ),
    "transient": (
        "Can you find me a plumber?",
        "I'm so tired today.",
        "The bus is late again.",
        "My phone is ringing.",
        "Kannst du mir einen Klempner suchen?",
        "Je suis tellement fatigué aujourd'hui.",
        "Tu peux me trouver un plombier ?",
        "Hoy estoy muy cansado.",
        "¿Me buscas un fontanero?",
        "Mi cerchi un idraulico?",
        "Hoje estou tão cansado.",
        "Podes procurar um canalizador?",
        "Ik ben vandaag zo moe.",
        "Kun je een loodgieter zoeken?",
    ),
    "not_durable": (
        "Thanks, that's great!",
        "Good morning!",
        "Haha, nice one.",
        "Merci, c'est super !",
        "Grazie, ottimo!",
        "Bedankt, super!",
    ),
    "not_understood": (
        "She loves it.",
        "Sie mag es.",
        "Elle l'adore.",
        "A ella le encanta.",
        "Lei lo adora.",
        "Ela adora isso.",
        "Zij vindt het leuk.",
    ),
    "hypothetical": (
        "If I lived in Rome, I would eat out every day.",
        "Maybe I'll move to Oslo one day.",
        "Vielleicht ziehe ich mal nach Oslo.",
        "Si j'habitais à Rome, je mangerais dehors.",
        "Peut-être que je déménagerai à Oslo.",
        "Si viviera en Roma, comería fuera.",
        "Quizás me mude a Oslo.",
        "Talvez me mude para Oslo.",
        "Misschien verhuis ik naar Oslo.",
    ),
    "quoted": (
        'My uncle said: "I live in Rome and love it."',
        'The advert says "We deliver in ten minutes".',
        "Mein Onkel sagte: „Ich wohne in Rom und liebe es.“",
        "Mon oncle a dit : « J'habite à Rome. »",
        "Mi tío dijo: «Vivo en Roma».",
        "Mio zio ha detto: «Abito a Roma».",
        "O meu tio disse: «Vivo em Roma».",
        'Mijn oom zei: "Ik woon in Rome en vind het heerlijk."',
    ),
    "joke": (
        "I'm moving to Mars, just kidding.",
        "Ich ziehe auf den Mars, nur ein Scherz.",
        "Je déménage sur Mars, je plaisante.",
        "Me mudo a Marte, es broma.",
        "Mi trasferisco su Marte, scherzo.",
        "Vou viver para Marte, estou a brincar.",
        "Ik verhuis naar Mars, grapje.",
    ),
}
KEPT = (
    "My neighbour's son mows our lawn every Saturday.",
    "My boss's wife is allergic to nuts.",
    "My sister got divorced.",
)


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[MemoryManager]:
    with MemoryManager(store=str(tmp_path / "mnemic.db")) as opened:
        yield opened


@pytest.mark.parametrize("reason", REASONS)
def test_the_reason_of_what_is_left_out_is_true(manager: MemoryManager, reason: str) -> None:
    found = {said: [one.reason for one in manager.capture(said).skipped] for said in REASONS[reason]}
    assert found == {said: [reason] for said in REASONS[reason]}


def test_relatives_of_others_count_where_they_concern_the_speaker_or_safety(manager: MemoryManager) -> None:
    kept = {said: len(manager.capture(said).receipts) for said in KEPT}
    assert all(kept.values()), kept
