"""Secrets in plain words: what opens something, any words about it, and the value."""

from __future__ import annotations

import pytest

from mnemic.redact.redactor import Redactor
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


KEY = b"k" * 32


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("The wifi password at our holiday flat is otter-lamp-31.", "otter-lamp-31"),
        ("My bank password is still Herbst1999", "Herbst1999"),
        ("login: eva / pw: Kastanie5", "Kastanie5"),
        ("user: eva\npassword: kastanie", "kastanie"),
        ("wlan: Nordlicht / Kastanie55", "Kastanie55"),
        ("the PIN of her debit card is 6093", "6093"),
        ("Pin for the shed: 6093", "6093"),
        ("the alarm code at the shop is 6093", "6093"),
        ("Das WLAN-Passwort im Ferienhaus ist Otter31", "Otter31"),
        ("Die PIN meines Handys lautet 6093", "6093"),
        ("Le mot de passe du wifi à la cave est loutre31", "loutre31"),
        ("Le PIN de mon téléphone est 6093", "6093"),
        ("La contraseña del wifi de la casa es nutria31", "nutria31"),
        ("El PIN de mi móvil es 6093", "6093"),
        ("La password del wifi in cantina è lontra31", "lontra31"),
        ("Il PIN del telefono è 6093", "6093"),
        ("A senha do wifi da casa é lontra31", "lontra31"),
        ("O PIN do meu telefone é 6093", "6093"),
        ("Het wachtwoord van de wifi in huis is otter-31", "otter-31"),
        ("De pincode van de schuur is 6093", "6093"),
        ("Le code de ma carte bancaire est 6093", "6093"),
        ("Le code du portail est 60A93", "60A93"),
        ("El código de la alarma es 6093", "6093"),
        ("Il codice del bancomat è 6093", "6093"),
        ("Il codice dell'allarme è 6093", "6093"),
        ("O código do cartão é 6093", "6093"),
        ("De code van mijn kluis is 6093", "6093"),
        ("Der Code für die Haustür ist 6093", "6093"),
        ("Der Türcode ist 6093#", "6093#"),
        ("Die Geheimzahl meiner EC-Karte lautet 6093", "6093"),
        ("The combination of the bike lock is 6-0-9-3", "6-0-9-3"),
        ("The CVV of my card is 609", "609"),
        ("Kastanie55 is the wifi password", "Kastanie55"),
        ("Use Kastanie55 as the password for the guests", "Kastanie55"),
        ("Kastanie55 ist mein Passwort.", "Kastanie55"),
        ("Mon code secret c'est 4921.", "4921"),
        ("Mein Sperrcode ist 4921.", "4921"),
        ("Il NIP de ma carte est 4921", "4921"),
        ("Mon NIP est 4921.", "4921"),
        ("The safe opens with 4821.", "4821"),
        ("The garage keypad is 4821*", "4821*"),
        ("My security question answer is Waldi7.", "Waldi7"),
        ("The answer to my security question is Kastanie.", "Kastanie"),
        ("My passkey is Otter-lamp-31.", "Otter-lamp-31"),
        ("To open the lockbox, enter 4821.", "4821"),
        ("Punch in 4821 to get through the gate.", "4821"),
        ("Type 4821 on the keypad by the door.", "4821"),
        ("The bike lock is set to 4821.", "4821"),
        ("Der Tresor geht mit 4821 auf.", "4821"),
        ("Die Alarmanlage schaltet man mit 4821 aus.", "4821"),
        ("Le coffre s'ouvre avec 4821.", "4821"),
        ("Pour entrer dans l'immeuble, tape 4821.", "4821"),
        ("La caja fuerte se abre con 4821.", "4821"),
        ("Mi clave secreta es 4821.", "4821"),
        ("La cassaforte si apre con 4821.", "4821"),
        ("Il mio codice segreto è 4821.", "4821"),
        ("O cofre abre com 4821.", "4821"),
        ("O meu código secreto é 4821.", "4821"),
        ("De kluis gaat open met 4821.", "4821"),
        ("Mijn geheime code is 4821.", "4821"),
        ("My voicemail PIN's 4821.", "4821"),
        ("You unlock my phone with 482193.", "482193"),
        ("Mein Handy entsperrst du mit 482193.", "482193"),
        ("The front door takes 4821#.", "4821#"),
        ("PUK: 12345678", "12345678"),
        ("My voicemail PIN has always been 6093.", "6093"),
        ("El PIN de mi tarjeta siempre ha sido 6093", "6093"),
        ("De pincode van mijn pas is al jaren 6093", "6093"),
        ("Der Code für die Haustür wurde auf 6093 geändert.", "6093"),
        ("Il codice dell'allarme adesso è diventato 6093", "6093"),
        ("Hemos cambiado el código de la alarma a 6093", "6093"),
        ("O código do alarme passou a ser 6093", "6093"),
        ("De alarmcode is veranderd in 6093", "6093"),
        ("They changed the keypad downstairs, it's 6093 now", "6093"),
        ("My Apple ID password got reset, the new one is Otter!Creek", "Otter!Creek"),
        ("sorry, mijn telefoon ontgrendel je met 609314", "609314"),
        ("60-93-14 gets you into the safe in the basement", "60-93-14"),
        ("Pour entrer dans l'immeuble c'est le 60A93", "60A93"),
        ("Tipp am Garagentor einfach 6093 ein", "6093"),
        ("Marca 6093 en el teclado del garaje", "6093"),
        ("Otter!45 c'est le mot de passe de l'ordi", "Otter!45"),
        ("Ils ont mis 6093 comme nouveau code du portail", "6093"),
        ("6093 ist der Türcode vom Büro", "6093"),
        ("la contra del wifi es Nutria_31", "Nutria_31"),
        ("Cambié la clave del wifi a Nutria_31", "Nutria_31"),
        ("mdp netflix Loutre#5", "Loutre#5"),
        ("Combination of my gym locker: 60 9 31", "60 9 31"),
        ("Candado bici 609", "609"),
        ("Schließfach im Studio: 6093", "6093"),
        ("Netflix : eva@example.com / Loutre31", "Loutre31"),
        ("À la question secrète je réponds toujours Biquette", "Biquette"),
        ("The bank asks for a secret word, mine is Marigold-Nine.", "Marigold-Nine"),
    ],
)
def test_a_secret_in_plain_words_is_redacted(text: str, secret: str) -> None:
    shown = Redactor().redact(text, KEY).text
    assert secret not in shown
    assert "[SECRET#" in shown


def test_words_about_a_secret_stay() -> None:
    EXAMPLES.assert_right(lambda text: Redactor().redact(text, KEY).text == text, "words_about_a_secret_stay", floor=1)
