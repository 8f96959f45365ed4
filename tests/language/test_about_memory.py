from __future__ import annotations

import pytest

from mnemic.language.sentences.requests_about_memory import asked_of_memory, split_requests


def found(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.subject) for one in asked_of_memory(text)]


@pytest.mark.parametrize(
    ("text", "kind", "subject"),
    [
        ("Please forget what I told you about the flat in Lund.", "forget", "the flat in Lund"),
        ("Drop everything about my divorce from your memory.", "forget", "my divorce"),
        ("Scratch what I said about the party.", "forget", "the party"),
        ("Get rid of what you know about my kids.", "forget", "my kids"),
        ("Kannst du bitte vergessen, dass ich rauche?", "forget", "rauche"),
        ("Efface mon adresse de ta mémoire.", "forget", "adresse"),
        ("Elimina mi dirección de tu memoria.", "forget", "dirección"),
        ("Elimina il mio indirizzo dalla tua memoria.", "forget", "indirizzo"),
        ("Apaga a minha morada da tua memória.", "forget", "morada"),
        ("Verwijder mijn adres uit je geheugen.", "forget", "adres"),
        ("Lösche bitte alle Daten über mich.", "forget_all", ""),
        ("Oublie tout à mon sujet.", "forget_all", ""),
        ("Olvídate de mí.", "forget_all", ""),
        ("That was never true.", "wrong", ""),
        ("That's not what I said.", "wrong", ""),
        ("What have you remembered about me so far?", "show", ""),
        ("What info do you have on me?", "show", ""),
        ("Woran erinnerst du dich über mich?", "show", ""),
        ("O que você lembra de mim?", "show", ""),
        ("Delete everything you know about my divorce", "forget", "my divorce"),
        ("forget everything I said about Marta, please", "forget", "Marta"),
        ("Forget my phone number", "forget", "phone number"),
        ("remove my address from your memory", "forget", "address"),
        ("Forget that I told you I smoke.", "forget", "I smoke"),
        ("stop remembering my grades", "forget", "my grades"),
        ("Vergiss bitte, was ich dir über meine Schwester erzählt habe.", "forget", "meine Schwester"),
        ("Vergiss meine Adresse!", "forget", "Adresse"),
        ("Oublie ce que je t'ai dit sur mon divorce", "forget", "mon divorce"),
        ("Olvida lo que te dije sobre mi dieta", "forget", "mi dieta"),
        ("Dimentica quello che ti ho detto su mia sorella", "forget", "mia sorella"),
        ("Esquece o que te disse sobre o meu chefe", "forget", "o meu chefe"),
        ("Vergeet wat ik je over mijn baas verteld heb", "forget", "mijn baas"),
        ("Delete everything you know about me.", "forget_all", ""),
        ("Can you erase all my data?", "forget_all", ""),
        ("Forget everything about me", "forget_all", ""),
        ("forget me", "forget_all", ""),
        ("Vergiss alles, was du über mich weißt!", "forget_all", ""),
        ("Lösche alle meine Daten", "forget_all", ""),
        ("Oublie tout ce que tu sais sur moi", "forget_all", ""),
        ("Borra todo lo que sabes de mí", "forget_all", ""),
        ("Cancella tutto quello che sai di me", "forget_all", ""),
        ("Apaga tudo o que sabes sobre mim", "forget_all", ""),
        ("Vergeet alles wat je over mij weet", "forget_all", ""),
        ("That's wrong.", "wrong", ""),
        ("No, that's not true!", "wrong", ""),
        ("that is wrong about my job", "wrong", "my job"),
        ("What you know about my diet is wrong", "wrong", "my diet"),
        ("I never said that.", "wrong", ""),
        ("Das stimmt nicht!", "wrong", ""),
        ("C'est faux", "wrong", ""),
        ("Eso no es verdad", "wrong", ""),
        ("Non è vero", "wrong", ""),
        ("Isso não é verdade.", "wrong", ""),
        ("Dat klopt niet", "wrong", ""),
        ("What do you know about me?", "show", ""),
        ("what have you stored about my health?", "show", "my health"),
        ("Show me what you know about me", "show", ""),
        ("Do you remember anything about me?", "show", ""),
        ("Tell me everything you know about me", "show", ""),
        ("list everything that you have stored about my health", "show", "my health"),
        ("What's in your memory about me?", "show", ""),
        ("Was weißt du über mich?", "show", ""),
        ("Que sais-tu de moi ?", "show", ""),
        ("¿Qué sabes de mí?", "show", ""),
        ("Cosa sai di me?", "show", ""),
        ("O que sabes sobre mim?", "show", ""),
        ("Wat weet je over mij?", "show", ""),
    ],
)
def test_a_request_is_recognised(text: str, kind: str, subject: str) -> None:
    assert found(text) == [(kind, subject)]


@pytest.mark.parametrize(
    "text",
    [
        "Don't forget that I live in Oslo.",
        "Remember my phone number.",
        "Forget about it.",
        "I never forget my keys.",
        "Delete the third paragraph.",
        "Remove the milk from the list.",
        "I told her to forget everything about me and she did.",
        "What do you know about quantum physics and how would you teach it to me in a week of evenings?" * 3,
        "Translate: 'Delete everything you know about me.'",
        "That's wrong, the shop closes at six.",
        "",
    ],
)
def test_what_only_speaks_of_it_is_none(text: str) -> None:
    assert found(text) == []


def test_a_message_is_parted_into_its_requests_and_the_rest() -> None:
    text = "I moved to Bergen. Forget what I told you about Oslo! What do you know about me? Thanks."
    requests = "Forget what I told you about Oslo! What do you know about me?"
    assert split_requests(text) == (requests, "I moved to Bergen. Thanks.")
    assert split_requests("I moved to Bergen.") == ("", "I moved to Bergen.")
    assert split_requests("Forget everything about me.") == ("Forget everything about me.", "")


def test_each_sentence_is_looked_at() -> None:
    text = "I moved to Bergen. Forget what I told you about Oslo. What do you know about me?"
    asked = list(asked_of_memory(text))
    assert [one.kind for one in asked] == ["forget", "show"]
    assert text[slice(*asked[0].span)] == "Forget what I told you about Oslo."


@pytest.mark.parametrize(
    ("text", "kind", "subject"),
    [
        ("Could you please erase everything about my passport?", "forget", "my passport"),
        ("Delete the memory about my locker.", "forget", "my locker"),
        ("Forget about my old flat, please.", "forget", "old flat"),
        ("Lösche bitte alles über meinen Reisepass.", "forget", "meinen Reisepass"),
        ("Efface tout sur mon passeport.", "forget", "mon passeport"),
        ("Borra todo sobre mi pasaporte.", "forget", "mi pasaporte"),
        ("Cancella tutto sul mio passaporto.", "forget", "mio passaporto"),
        ("Apaga tudo sobre o meu passaporte.", "forget", "o meu passaporte"),
        ("Wis alles over mijn paspoort.", "forget", "mijn paspoort"),
        ("Wipe your memory of me.", "forget_all", ""),
        ("That isn't correct.", "wrong", ""),
    ],
)
def test_a_request_in_other_words(text: str, kind: str, subject: str) -> None:
    assert found(text) == [(kind, subject)]


@pytest.mark.parametrize(
    "text", ["Forget about the pizza.", "Delete everything after the second line.", "I forgot about my keys."]
)
def test_words_of_a_request_that_ask_nothing_of_memory(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "kind", "subject"),
    [
        ("Can you forget everything I've told you so far?", "forget_all", ""),
        ("Remove all the notes you have on me.", "forget_all", ""),
        ("Kannst du bitte alles löschen, was du über mich gespeichert hast?", "forget_all", ""),
        ("Efface tout ce que tu as retenu sur moi.", "forget_all", ""),
        ("Olvida todo lo que te he dicho.", "forget_all", ""),
        ("Cancella tutto ciò che ti ho raccontato.", "forget_all", ""),
        ("Apague tudo o que eu lhe disse.", "forget_all", ""),
        ("Wis alles wat ik je ooit heb verteld.", "forget_all", ""),
        ("Forget that I work at the harbour.", "forget", "work at the harbour"),
        ("You can forget what I said about the sauna.", "forget", "the sauna"),
        ("Vergiss, dass ich in Kassel arbeite.", "forget", "in Kassel arbeite"),
        ("Merk dir meinen Nachnamen nicht.", "forget", "Nachnamen"),
        ("Oublie que j'ai une moto.", "forget", "ai une moto"),
        ("Olvida que trabajo en Cádiz.", "forget", "trabajo en Cádiz"),
        ("Dimentica che ho una moto.", "forget", "ho una moto"),
        ("Esquece que tenho uma mota.", "forget", "tenho uma mota"),
        ("Vergeet dat ik een motor heb.", "forget", "een motor heb"),
        ("That's out of date.", "wrong", ""),
        ("Das gilt nicht mehr.", "wrong", ""),
        ("Vous vous trompez.", "wrong", ""),
        ("Ya no es cierto.", "wrong", ""),
        ("Ti sbagli.", "wrong", ""),
        ("Já não é verdade.", "wrong", ""),
        ("Je vergist je.", "wrong", ""),
        ("Which facts have you saved about me?", "show", ""),
        ("What have I told you about my boat?", "show", "my boat"),
        ("Was hast du über mein Boot gespeichert?", "show", "mein Boot"),
        ("Montre-moi ce que tu sais sur moi.", "show", ""),
        ("¿Qué te he contado de mi barco?", "show", "mi barco"),
        ("Fammi vedere quello che sai di me.", "show", ""),
        ("Diz-me o que sabes sobre mim.", "show", ""),
        ("Laat zien wat je over mij weet.", "show", ""),
    ],
)
def test_a_request_in_the_words_of_its_language(text: str, kind: str, subject: str) -> None:
    assert found(text) == [(kind, subject)]


def test_what_must_not_be_forgotten_is_no_request_to_forget_it() -> None:
    assert found("Vergeet mijn paspoort niet.") == []


@pytest.mark.parametrize(
    ("text", "if_known"),
    [
        ("Delete my address.", True),
        ("Supprime mon adresse.", True),
        ("What do you know about Rome?", True),
        ("Forget my address.", False),
        ("What do you know about me?", False),
    ],
)
def test_some_are_requests_only_where_something_is_known(text: str, if_known: bool) -> None:
    assert [one.if_known for one in asked_of_memory(text)] == [if_known]
