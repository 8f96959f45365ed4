"""Ends told in other words: things that went to somebody else, animals, ailments, posts and numbers."""

from __future__ import annotations

import pytest

from mnemic.language.changes.change_bounds import ChangeBounds
from mnemic.language.changes.change_classifier import judge
from mnemic.language.frames.statement_frame import Frame

ENDED = [
    ("We have an old Vespa in the shed.", "The Vespa found a new owner on Saturday."),
    ("Ich habe einen Golf.", "Der Golf wurde heute von einem Händler abgeholt."),
    ("J'ai une Clio blanche.", "La Clio a trouvé preneur hier."),
    ("Tengo una Ibiza roja.", "La Ibiza se la llevó un vecino."),
    ("Ho una Vespa azzurra.", "La Vespa l'ho ceduta a un collega."),
    ("Tenho uma Kombi.", "A Kombi foi embora ontem."),
    ("Ik heb een Gazelle.", "De Gazelle heeft een nieuwe eigenaar."),
    ("Our dog Bruno is eleven.", "We had to put Bruno to sleep on Monday."),
    ("Mein Hund heißt Bruno.", "Bruno ist gestern für immer eingeschlafen."),
    ("Ma chienne s'appelle Ulla.", "Ulla nous a quittés ce matin."),
    ("Mi perro se llama Bruno.", "Bruno nos dejó el jueves."),
    ("Il mio cane si chiama Bruno.", "Bruno se n'è andato stanotte."),
    ("Meu cachorro se chama Bruno.", "Bruno virou estrelinha na segunda."),
    ("Mijn hond heet Bruno.", "Bruno is vannacht ingeslapen."),
    ("I'm allergic to strawberries.", "The strawberry allergy has disappeared."),
    ("Alfie is allergic to egg.", "He's grown out of the egg allergy!"),
    ("Ich habe Heuschnupfen.", "Der Heuschnupfen ist verschwunden."),
    ("Je suis allergique aux fraises.", "Mon allergie aux fraises est passée."),
    ("Soy alérgica a las fresas.", "Se me ha quitado la alergia a las fresas."),
    ("Sono allergica alle fragole.", "La mia allergia alle fragole è sparita."),
    ("Tenho alergia a morangos.", "A alergia a morangos desapareceu."),
    ("Ik ben allergisch voor aardbeien.", "Mijn aardbeienallergie is verdwenen."),
    ("I work as a barber in Hull.", "I started as a postman on Monday."),
    ("Ich arbeite als Friseur.", "Ich habe am Montag als Postbote angefangen."),
    ("Trabajo de peluquero.", "El martes empecé como cartero."),
    ("Ik werk als kapper.", "Gisteren ben ik begonnen als postbode."),
    ("There'll be 12 people at the picnic.", "Make that 15 people at the picnic, the twins are coming."),
    ("Am Grillfest sind wir 12.", "Sagen wir 15 beim Grillfest, die Nachbarn kommen auch."),
]
KEPT = [
    ("I drive a Golf.", "My aunt's Golf went to a student."),
    ("My friend Bruno lives in Hull.", "We said goodbye to Bruno at the station."),
    ("I'm allergic to strawberries.", "My allergy to cats has disappeared."),
    ("I'm allergic to strawberries.", "My son's allergy to strawberries has disappeared."),
    ("I work as a barber in Hull.", "I also started as a volunteer at the shelter."),
    ("I work as a barber in Hull.", "My wife started as a postwoman."),
    ("I drive a Tipo.", "My dentist has sold his Tipo."),
    ("Ich fahre einen Polo.", "Mein Zahnarzt hat seinen Polo verkauft."),
    ("Ho una Tipo.", "Il mio dentista ha venduto la Tipo."),
    ("I drink my tea without sugar.", "If the tea is from a machine, I take sugar."),
    ("Bebo el té sin azúcar.", "Si el té es de máquina, le pongo azúcar."),
    ("I don't eat meat.", "At Christmas with my in-laws, I eat a little goose."),
    ("Ho il conto in Posta.", "Se la Posta chiudesse la filiale, passerei a un'altra banca."),
    ("Ik bank bij Triodos.", "Als Triodos duurder zou worden, zou ik overstappen."),
    ("I work in a pharmacy.", "I think he started to see me as a rival at the pharmacy."),
    ("I'm from Oregon.", "I'm from Portland, born and raised."),
    ("My favourite flower is the tulip.", "I know this isn't a tulip, but it looks like one."),
    ("Mijn linkerschouder doet pijn.", "Mijn rechterschouder doet geen pijn meer."),
]


@pytest.mark.parametrize(("earlier", "later"), ENDED)
def test_an_end_in_other_words_closes(earlier: str, later: str) -> None:
    old, new = Frame(earlier), Frame(later)
    assert judge(old, new, 0.3, among=24) is not None
    assert ChangeBounds(new, 24).within(old, 0.3)


@pytest.mark.parametrize(("earlier", "later"), KEPT)
def test_what_is_about_something_else_closes_nothing(earlier: str, later: str) -> None:
    assert judge(Frame(earlier), Frame(later), 0.7) is None
