"""Whatever somebody asks to be remembered is kept whole, in seven languages, also what would be left out unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import MemoryManager

FORMS = {
    "en": ("Remember {}", "Remember that {}", "Don't forget {}", "Don't forget that {}", "Please remember: {}",
           "For the record, {}"),
    "de": ("Merk dir: {}", "Vergiss nicht: {}", "Bitte merk dir: {}", "Fürs Protokoll: {}"),
    "fr": ("Retiens : {}", "N'oublie pas : {}", "Souviens-toi : {}", "Pour mémoire, {}"),
    "es": ("Recuerda: {}", "No olvides: {}", "Por favor, recuerda: {}", "Para que conste, {}"),
    "it": ("Ricorda: {}", "Non dimenticare: {}", "Per favore ricorda: {}", "Per la cronaca, {}"),
    "pt": ("Lembra-te: {}", "Não te esqueças: {}", "Por favor lembra-te: {}", "Para que conste, {}"),
    "nl": ("Onthoud: {}", "Vergeet niet: {}", "Onthoud alsjeblieft: {}", "Voor de goede orde: {}"),
}  # fmt: skip
SAID = {
    # what keeps somebody safe, where something is, and what is of no use to anybody else
    "en": ("I can't take stairs, I use a wheelchair", "the spare key is under the blue pot", "my ringtone is a duck"),
    "de": ("ich kann keine Treppen steigen, ich sitze im Rollstuhl", "der Ersatzschlüssel liegt unter dem blauen Topf",
           "mein Klingelton ist eine Ente"),
    "fr": ("je ne peux pas prendre les escaliers, je suis en fauteuil roulant",
           "la clé de secours est sous le pot bleu", "ma sonnerie est un canard"),
    "es": ("no puedo subir escaleras, voy en silla de ruedas", "la llave de repuesto está debajo de la maceta azul",
           "mi tono de llamada es un pato"),
    "it": ("non posso fare le scale, uso la sedia a rotelle", "la chiave di riserva è sotto il vaso blu",
           "la mia suoneria è un'anatra"),
    "pt": ("não posso subir escadas, uso cadeira de rodas", "a chave suplente está debaixo do vaso azul",
           "o meu toque é um pato"),
    "nl": ("ik kan geen trappen lopen, ik zit in een rolstoel", "de reservesleutel ligt onder de blauwe pot",
           "mijn beltoon is een eend"),
}  # fmt: skip
ALL = [(form, said) for language, forms in FORMS.items() for form in forms for said in SAID[language]]


@pytest.mark.parametrize(("form", "said"), ALL)
def test_it_is_kept_whole(form: str, said: str, tmp_path: Path) -> None:
    with MemoryManager(store=tmp_path / "m.db") as memory:
        report = memory.capture(f"{form.format(said)}.")
        kept = " ".join(one.content.casefold() for one in memory.list())
    assert [one.stored for one in report.receipts], report.skipped
    assert all(word in kept for word in said.casefold().replace(",", "").split()), kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("My parrot is called Juno. Remember that please.", {"My parrot is called Juno."}),
        ("Please remember this. I work on Sundays.", {"I work on Sundays."}),
        ("Remember that I love chess, got it?", {"I love chess."}),
        ("We have three hens. Remember it, ok?", {"We have three hens."}),
        ("Ich bin Linkshänder. Merk dir das bitte!", {"Ich bin Linkshänder."}),
        ("remember that please!", set()),
        ("Remember this, ok?", set()),
        ("Got it?", set()),
    ],
)
def test_courtesy_around_a_request_is_no_memory(said: str, kept: set[str], tmp_path: Path) -> None:
    with MemoryManager(store=tmp_path / "m.db") as memory:
        memory.capture(said)
        assert {one.content for one in memory.list()} == kept
