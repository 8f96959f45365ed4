"""Secrets that a sentence tells: what opens something, any words about it, and a value that looks like a code.

The words of a sentence are read as classes: names of a secret, things that are opened, forms of "be", of "change", of
"open" and of "enter", prepositions, articles. A value is a secret where these stand around it in one of five orders:
a name before it ("my PIN has always been 4821"), a name behind it, a thing that opens with it, something entered at a
lock, or a note of nothing but a lock and a value. In six languages and English; names of a password in some more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from mnemic.redact.multilingual import fewest
from mnemic.redact.search_primitives import Folded, found, holds, lower_text
from mnemic.redact.types import Found

PASSWORD, PIN, CODE, LOGIN, QUESTION, ANSWER = (1 << bit for bit in range(6))
PLACE, NET, WEAK, LOCK, LOCKER, SECRET = (1 << bit for bit in range(6, 12))
BE, CHANGE, OPEN, ENTER, WITH, AS = (1 << bit for bit in range(12, 18))
OF, TO, ARTICLE, IT, ADVERB, FURTHER = (1 << bit for bit in range(18, 24))
ASSIGNED, COMMA, VALUE = (1 << bit for bit in range(24, 27))

_WORDS = {
    PASSWORD: (
        "password passwords passwort passphrase passcode passkey pwd"
        " passwd pw kennwort mdp contrasena wachtwoord ww"
        " senha parola~d'~ordine palavra-passe palavra~passe palavra-chave palavra~chave mot~de~passe la~contra"
        " mi~contra haslo hasla losenord losenordet adgangskode passord salasana heslo jelszo sifre sifrem парол"
        " пароль пароля пароли"
    ),
    PIN: (
        "pin pins pincode pinnummer pinnumber pinzahl"
        " pin-code pin-number pin~code pin~number geheimzahl geheimnummer"
        " nip puk cvv cvc cvv2 cvc2 sperrcode geheimcode entsperrcode ontgrendelcode"
    ),
    CODE: (
        "code kode codigo codice combination combo"
        " kombination zahlenkombination combinaison combinacion combinazione"
        " combinacao combinatie cijfercombinatie clave chave chiave cle schlussel sleutel"
    ),
    LOGIN: "login log-in",
    SECRET: (
        "secret secrete secreto secreta segreto segreta geheim geheime geheimer unlock unlocking deverrouillage"
        " desbloqueo desbloqueio sblocco my~combo our~combo"
    ),
    QUESTION: (
        "security~question secret~question secret~word memorable~word"
        " code~word sicherheitsfrage geheimfrage codewort"
        " losungswort geheimwort question~secrete question~de~securite mot~secret pregunta~secreta palabra~secreta"
        " pregunta~de~seguridad domanda~segreta domanda~di~sicurezza"
        " parola~segreta pergunta~secreta palavra~secreta"
        " pergunta~de~seguranca geheime~vraag beveiligingsvraag veiligheidsvraag geheim~woord codewoord"
    ),
    ANSWER: (
        "answer answers mine antwort antworte reponse reponds repond respuesta respondo contesto risposta rispondo"
        " resposta antwoord meines lautet"
    ),
    PLACE: (
        "door gate garage alarm building flat apartment entrance"
        " lobby entry elevator intercom gym suitcase luggage bike"
        " sim card visa shed cabin cellar cottage lift"
        " tur haustur tor garagentor gartentor hoftor alarmanlage"
        " gebaude wohnung eingang aufzug keller koffer fahrrad"
        " karte ec-karte bankkarte kreditkarte schlusselbox ferienhaus"
        " porte portail immeuble alarme entree ascenseur casier valise velo carte interphone cave residence"
        " puerta portal portero telefonillo garaje alarma edificio entrada ascensor"
        " maleta bici bicicleta tarjeta trastero verja reja porton"
        " porta portone cancello allarme appartamento palazzo ingresso ascensore valigia bicicletta carta bancomat"
        " cantina citofono"
        " portao garagem apartamento predio elevador mala cartao cave"
        " hek tuinhek deur voordeur achterdeur poort slot fiets"
        " gebouw ingang pas pinpas bankpas kaart simkaart schuur"
    ),
    NET: "wifi wi-fi wlan router",
    WEAK: (
        "phone mobile iphone cellphone tablet ipad laptop computer office house home account voicemail mailbox bank"
        " handy telefon smartphone rechner buro haus konto"
        " telephone portable tablette ordinateur ordi maison bureau"
        " compte messagerie movil telefono celular ordenador portatil casa oficina cuenta cellulare ufficio conto"
        " telemovel telefone computador escritorio conta telefoon mobiel huis kantoor rekening"
    ),
    LOCK: (
        "lock padlock lockbox lock~box key~box keybox safe"
        " vault keypad schloss zahlenschloss vorhangeschloss tresor"
        " tastenfeld cadenas coffre coffre-fort digicode"
        " boite~a~cles candado caja~fuerte teclado lucchetto cassaforte"
        " tastierino cadeado cofre hangslot cijferslot fietsslot kluis sleutelkastje"
    ),
    LOCKER: "locker schliessfach spind casier taquilla armadietto cacifo armario kluisje kastje",
    BE: (
        "is are was were be been being become became es son era sea"
        " ser sido heisst heet est etait etre sont ist sind war lautet"
        " bleibt blieb bleiben reste rester sigue siendo resta rimane diventato diventata stato continua foi sera"
        " blijft luidt zijn werd wordt worden wurde wird 's это هو هي है este ar er"
    ),
    CHANGE: (
        "changed change set updated switched reset takes"
        " geandert gesetzt umgestellt gewechselt eingestellt steht mis"
        " change modifie devenu passe cambiado cambie cambio puesto pasado cambiato impostato messo mudado alterado"
        " mudou passou trocado veranderd gewijzigd ingesteld staat gezet"
    ),
    OPEN: (
        "kommst kommt komme komm entras entro open opens opened opening"
        " unlock unlocks unlocked unlocking disarm disarms deactivate deactivates gets lets"
        " turn~off turns~off switch~off switches~off get~into gets~into get~in"
        " offne offnet offnen offnest aufsperren entsperre"
        " entsperrt entsperren entsperrst entriegeln entriegelt geht"
        " schalte schaltet schalten schaltest ausschalten auf aus"
        " ouvre ouvres ouvrez ouvrir ouvrant ouvrent entrer deverrouille deverrouilles deverrouiller desactive"
        " desactiver debloque debloquer coupe coupes couper eteint eteins eteindre"
        " abre abres abrir abren desbloquea desbloqueas desbloquear desactiva desactivar apaga apagas apagar entra"
        " entrar apre apri aprire aprono sblocca sblocchi sbloccare disattiva disattivi disattivare spegne spegnere"
        " spegni entri entrare abrem desbloqueia desbloqueias desativa desativar desliga desligas desligar"
        " opent openen ontgrendel ontgrendelt ontgrendelen uitschakelen schakel schakelt gaat ga"
    ),
    ENTER: (
        "fais faites fai faccia enter enters entering type types typing punch key~in press"
        " dial use put~in tippe tipp tippen tippst gib gibst gebe"
        " eingeben eintippen eingibst wahle wahlen drucke drucken nimm"
        " benutze tape tapes taper tapez tapant compose"
        " composes composez saisis saisir utilise teclea teclear"
        " tecleando marca marque marcar marcando introduce introducir"
        " pulsa pulsar mete usa usar digita digitare"
        " digiti digitando inserisci inserire digite digitar insira inserir"
        " introduz prem prime toets typ voer tik invoeren intoetsen gebruik"
    ),
    WITH: "with using mit avec con com met via",
    AS: "as als comme como come",
    OF: (
        "de in at on by from for under over of off since until"
        " before after near about to into onto than im am an auf aus"
        " bei seit vor nach unter uber hinter neben bis von vom"
        " zum zur fur als zu dans sur sous chez depuis avant apres"
        " pour vers par du des que en al desde hasta para por"
        " sobre bajo del nel nella nello sul sulla su alla allo da"
        " dal dalla dall' di del della dello dell' dell per tra fra"
        " sotto dopo prima che no na nos nas ao ate do pelo"
        " pela aan bij van voor tot sinds onder naar uit op om d' à aux au"
    ),
    TO: "to into auf a al en in para op per naar au",
    ARTICLE: (
        "my our your mein meine meiner mi mon ma meu minha mio mia mijn"
        " the a an le la les el los il lo der die das den dem het een o os un una um uma l'"
    ),
    IT: "it it's its one mine c' ce that this das es het dat meines lui",
    ADVERB: (
        "je du man always still now again currently noch jetzt immer"
        " schon wieder nun weiterhin nog steeds altijd nu al jaren"
        " toujours encore maintenant desormais siempre todavia aun ahora"
        " sempre ancora adesso ora ainda agora just only"
        " einfach new neu nouveau nuevo nuovo novo has ha a heeft hat ya gia ja von~jeher since"
    ),
    FURTHER: (
        "and then or but because so please thanks lol und dann aber oder"
        " bitte ein et ou puis mais y o pero e ma poi mas"
        " en of maar dan you du tu je man it and on left"
    ),
}
_SUFFIXES = (
    ("passwort", PASSWORD), ("kennwort", PASSWORD), ("wachtwoord", PASSWORD), ("password", PASSWORD),
    ("schloss", LOCK), ("tresor", LOCK), ("schliessfach", LOCKER), ("tur", PLACE), ("deur", PLACE),
    ("poort", PLACE), ("anlage", PLACE), ("karte", PLACE), ("mente", ADVERB),
)  # fmt: skip
"""How compounds end: "Bankpasswort", "Fahrradschloss"."""
_CODES = ("code", "kode")
_ENDINGS = (*(suffix for suffix, _ in _SUFFIXES), *_CODES)
_MARKS = re.compile("[\u0300-\u036f\u064b-\u065f\u0670]")
"""Marks over the letters of the languages above; `unicodedata.combining` would be asked for each letter of a text."""


def _classes() -> dict[str, int]:
    table: dict[str, int] = {}
    for name, words in _WORDS.items():
        for word in words.split():
            said = word.replace("~", " ")
            table[said] = table.get(said, 0) | name
    return table


_TABLE = _classes()
_HEADS = frozenset(word.split(" ")[0] for word in _TABLE if " " in word)
_VALUE = Folded(
    r"(?<![\w.,@/-])\d{1,4}(?: \d{1,4}){1,5}(?![\w@/-]|[.,]\d)"
    r"|(?<![^\s\"'`«“„(:=])(?=[^\s\"',;\ufdd0]{0,63}(?:[\d@#$%^&*_+=~|]|!\w))[^\s\"'`«“„(,;。、」”»\ufdd0]{3,64}"
)
_WORD = Folded(r"['’]s(?![^\W_])|[^\W\d_]{1,8}['’](?!s(?![^\W_]))(?=[^\W_])|[^\W_]+(?:-[^\W_]+)*|[:=]|[,(\u2013]")
_ENDS = Folded(r"[.!?;](?=[\s\"'»”)]|\Z)|\n")
_SIGNS = {":": ASSIGNED, "=": ASSIGNED, ",": COMMA, "(": COMMA, "\u2013": COMMA}
_DIGITS = Folded(r"\d(?:[ -]?\d){2,11}[#*]?")
_LETTERED = Folded(r"(?i)\d{1,4}[a-gi-z]{1,2}\d{1,4}[a-z]?[#*]?")
_DATE = Folded(r"(?:19|20)\d\d-\d\d?-\d\d?|\d\d?-\d\d?-(?:19|20)\d\d")
_TELLING = Folded(r"\d|[@#$%^&*_+=~|]|!(?!!*\Z)")
_NAMES = PASSWORD | PIN | CODE | LOGIN | PLACE | NET | WEAK | LOCK | LOCKER | QUESTION
_GOING_ON = OF | FURTHER | OPEN | CHANGE | WITH | COMMA | ADVERB | ENTER | AS | IT
"""What a sentence goes on with behind its value."""
_NEAR, _BEHIND, _GAP, _TITLE = 12, 6, 3, 4
_REACH = 512
"""Characters of a sentence that are read around its values: far more than the words that count take."""


class _Word(NamedTuple):
    classes: int
    start: int
    end: int
    text: str = ""


@cache
def _named() -> tuple[str, ...]:
    """Return texts of which everything that names a secret or what it opens contains one."""
    names = {word for word, classes in (*_TABLE.items(), *_SUFFIXES) if classes & _NAMES}
    return tuple(fewest(names))


def find_told(text: str) -> Iterator[Found]:
    """Yield the values that a sentence of `text` tells as secrets."""
    lower = lower_text(text) if text.isascii() else _plain(text)
    if not any(name in lower for name in _named()):
        return
    values = [one for one in map(_as_value, _VALUE.finditer(text)) if one is not None]
    asked = holds(text, _ASKED)
    if not values and not asked:
        return
    ends = [0, *(end.end() for end in _ENDS.finditer(text)), len(text)]
    taken = 0
    for first, last in pairwise(ends):
        within = taken
        while taken < len(values) and values[taken].start < last:
            taken += 1
        if taken == within and not asked:
            continue
        near = values[within:taken]
        if near and not asked:
            first, last = max(first, near[0].start - _REACH), min(last, near[-1].end + _REACH)
        words = _words(text, first, last, near)
        if asked:
            yield from _answers(text, words)
        for at, word in enumerate(words):
            if word.classes == VALUE and _is_told(_Sentence(words, at)):
                yield found((word.start, word.end, word.text))


def _as_value(match: re.Match[str]) -> _Word | None:
    value = match.group().rstrip(".!?):")
    if len(value) < 3 or _TELLING.search(value) is None:
        return None
    return _Word(VALUE, match.start(), match.start() + len(value), value)


_ASKED = (
    "secr", "security question", "memorable", "code word", "codewor", "sicherheitsfrage", "geheim", "losungs",
    "question de s", "pregunta", "palabra", "domanda", "parola", "pergunta", "palavra", "vraag", "segret",
)  # fmt: skip
"""Parts of every word of `QUESTION`."""


def _words(text: str, first: int, last: int, values: list[_Word]) -> list[_Word]:
    """Return the words of a sentence and its values, in order, each with its classes; signs between them likewise."""
    words: list[_Word] = []
    rest = iter(values)
    value = next(rest, None)
    reach = 0
    for match in _WORD.compiled.finditer(text, first, last):
        start, end = match.span()
        while value is not None and value.end <= start:
            if value.start >= reach:
                words.append(value)
                reach = value.end
            value = next(rest, None)
        if start >= reach and (value is None or start < value.start):
            words.append(_Word(0, start, end, match.group()))
    words += [value] if value is not None else []
    return _classed([*words, *rest])


def _plain(word: str) -> str:
    """Return the word in lower case and without accents; "è", which is no "e", stays apart."""
    if word.isascii():
        return word.lower()
    if word in "èéÈÉ":
        return "é"
    return _MARKS.sub("", unicodedata.normalize("NFD", word.casefold())).replace("’", "'")


def _classed(words: list[_Word]) -> list[_Word]:
    plain = ["#" if word.classes else _plain(word.text) for word in words]
    out: list[_Word] = []
    at = 0
    while at < len(words):
        taken = 1
        if words[at].classes:
            out.append(words[at])
        else:
            if plain[at] in _HEADS:
                taken = next((n for n in (3, 2) if at + n <= len(plain) and " ".join(plain[at : at + n]) in _TABLE), 1)
            classes = _class(plain[at]) if taken == 1 else _TABLE[" ".join(plain[at : at + taken])]
            out.append(words[at]._replace(classes=classes, end=words[at + taken - 1].end))
        at += taken
    return out


def _class(word: str) -> int:
    known = _TABLE.get(word)
    if known is not None:
        return known
    if not word[0].isalnum():
        return BE if word in ("'s", "’s") else _SIGNS[word]
    if word == "é":
        return BE
    if "-" in word:
        return _TABLE.get(word.rpartition("-")[2], 0)
    if not word.endswith(_ENDINGS):
        return 0
    if word.endswith(_CODES):
        stem = word[: -len("code")]
        inner = _TABLE.get(stem.removesuffix("s")) or _TABLE.get(stem, 0)
        return PIN if inner & (PLACE | LOCK | LOCKER | SECRET | WEAK) else 0
    return next(kind for suffix, kind in _SUFFIXES if word.endswith(suffix))


class _Sentence:
    """The words of a sentence around a value."""

    def __init__(self, words: list[_Word], at: int) -> None:
        self.before = words[max(0, at - _NEAR - _GAP) : at][::-1]
        self.behind = words[at + 1 : at + 1 + _NEAR]
        self.around = 0
        for word in (*self.before, *self.behind):
            self.around |= word.classes
        value = words[at].text
        self.is_digits = _DIGITS.compiled.fullmatch(value) is not None and _DATE.compiled.fullmatch(value) is None
        self.is_code = self.is_digits or _LETTERED.compiled.fullmatch(value) is not None
        self.digits = sum(map(str.isdigit, value))
        self.is_year = self.is_digits and value[:2] in ("19", "20") and len(value) == len("2000")
        self.is_grouped = self.is_digits and "-" in value
        self.is_signed = self.is_code and value[-1] in "#*"
        self.is_word = not self.is_code and _TELLING.search(value) is not None and not value[0].isspace()
        self.is_mixed = self.is_word and any(map(str.isalpha, value)) and value.isascii()
        self.is_login = self.is_mixed and self.digits > 0 and sum(map(str.isalpha, value)) > 2
        self.is_long = len(value) > 5
        self.ends = not self.behind or self.behind[0].classes & _GOING_ON != 0


def _is_told(said: _Sentence) -> bool:
    return (
        _named_before(said)
        or _named_behind(said)
        or _noted(said)
        or (said.is_code and (_opens_with(said) or _entered(said)))
    )


def _named_before(said: _Sentence) -> bool:
    """Find "my PIN has always been 4821", "they changed the keypad, it's 4821 now", "I changed the code to 4821"."""
    before = said.before
    if before and before[0].classes == PIN:
        return said.is_digits and said.ends
    if before and before[0].classes == LOGIN:
        return said.is_login
    if not said.ends and not said.is_word:
        return False
    if before and before[0].classes & TO and not said.is_year:
        changed = next((at for at, word in enumerate(before) if word.classes & CHANGE), None)
        if changed is not None or any(word.classes & CHANGE for word in said.behind[:2]):
            return _names(said, _subject(before, 1), changed=True)
    at = 0
    while at < len(before) and not before[at].classes & (BE | CHANGE | ASSIGNED):
        word = before[at]
        known = word.classes & (ADVERB | ARTICLE | IT) and (at > 0 or not word.classes & OF)
        if at == _GAP or not (known or (not word.classes and said.is_mixed)):
            return False
        at += 1
    if at == len(before):
        return False
    how = before[at].classes
    return _names(said, _subject(before, at + 1), changed=how & CHANGE != 0, assigned=how & ASSIGNED != 0)


def _subject(before: list[_Word], at: int) -> list[_Word]:
    """Return the words that something is told of, from the nearest: a comma ends them, unless "it" stands behind it."""
    subject: list[_Word] = []
    for place in range(at, min(len(before), at + _NEAR)):
        word = before[place]
        if word.classes & VALUE or (word.classes & COMMA and not any(one.classes & IT for one in before[at:place])):
            break
        if not (place == at + 1 and word.classes & (PASSWORD | PIN | CODE) and _goes_on(before[at])):
            subject.append(word)
    return subject


def _goes_on(word: _Word) -> bool:
    """Return True if a name before this word is only a part of a longer noun ("password manager")."""
    return not word.classes and word.text.islower()


def _names(said: _Sentence, subject: list[_Word], *, changed: bool = False, assigned: bool = False) -> bool:
    """Return True if a value of this form is what such words name."""
    told = 0
    for word in subject:
        told |= word.classes

    if told & PASSWORD and (said.is_word or (said.is_code and said.digits > 3)):
        return True
    if not said.is_code:
        return said.is_word and told & CODE != 0 and told & NET != 0
    return (
        told & (PIN | LOCK) != 0
        or (told & CODE != 0 and told & (PLACE | NET | WEAK | LOCK | LOCKER | SECRET) != 0)
        or (told & LOCKER != 0 and (changed or assigned) and said.digits > 3)
        or (said.is_signed and told & PLACE != 0)
    )


def _named_behind(said: _Sentence) -> bool:
    """Find "Biber77 is the wifi password", "they put 4821 as the new code of the gate"."""
    behind = said.behind
    at = 0
    if at < len(behind) and behind[at].classes & COMMA:
        at += 1
    if at < len(behind) and behind[at].classes & IT and not behind[at].classes & BE:
        at += 1
    if at >= len(behind) or not behind[at].classes & (BE | AS):
        return False
    for place in range(at + 1, min(len(behind), at + 2 + _TITLE)):
        word = behind[place]
        if word.classes & COMMA:
            return False
        if not word.classes & (PASSWORD | PIN | CODE):
            continue
        if not any(_goes_on(after) for after in behind[place + 1 : place + 2]):
            return _names(said, behind[at + 1 : place + 1 + _BEHIND])
    return False


def _opens_with(said: _Sentence) -> bool:
    """Find "the safe opens with 4821", "4821 gets you into the cellar", "to get into the cellar it's 4821"."""
    if not said.around & (PLACE | WEAK | LOCK | LOCKER) or not said.around & OPEN:
        return False
    before, at = said.before, 0
    while at < min(len(before), 2) and before[at].classes & (ARTICLE | CODE):
        at += 1
    if at == len(before) or before[at].classes & (COMMA | ASSIGNED):
        return any(word.classes & OPEN for word in said.behind[:2]) and not said.behind[0].classes & BE
    with_it = before[at].classes & WITH or (
        before[at].classes & BE and any(word.classes & IT for word in before[at + 1 : at + 2])
    )
    return said.ends and (with_it != 0 or (before[at].classes & OF != 0 and said.is_grouped))


def _entered(said: _Sentence) -> bool:
    """Find "type 4821 at the gate", "am Tor 4821 eingeben"."""
    if not said.is_digits or not said.ends:
        return False
    if not said.around & (PLACE | LOCK | LOCKER) and not (said.around & WEAK and said.around & OPEN):
        return False
    if said.behind[:1] and said.behind[0].classes & ENTER:
        return True
    for distance, word in enumerate(said.before[:_BEHIND]):
        if word.classes & ENTER:
            return True
        if (
            distance == 0
            and not word.classes & (ARTICLE | ADVERB | CODE)
            and not (word.classes & TO and len(said.before) > 1)
        ):
            return False
    return False


def _noted(said: _Sentence) -> bool:
    """Find "bike lock 4821", "locker at the gym: 4821", "pw netflix Otter#5": a note that begins with what it is of."""
    told = [word for word in said.before if not word.classes & ARTICLE]
    if said.behind or not told or len(told) > _TITLE + 1:
        return False
    if any(word.classes & (BE | CHANGE | OPEN | ENTER | COMMA | VALUE) for word in told) or (told[0].classes & OF):
        return False
    first = told[-2:]
    if not said.is_code:
        return said.is_login and told[-1].classes & PASSWORD != 0 and said.is_long
    if told[-1].classes & PIN:
        return said.is_digits
    locker = told[0].classes & ASSIGNED and said.digits > 3 and any(word.classes & LOCKER for word in first)
    return locker or any(word.classes & LOCK for word in first)


def _answers(text: str, words: list[_Word]) -> Iterator[Found]:
    """Yield what is told as the answer to a question by which somebody proves who they are."""
    for at, word in enumerate(words):
        if not word.classes & QUESTION:
            continue
        named = any(one.classes & ANSWER for one in words[max(0, at - _BEHIND) : at])
        place = at + 1
        while place < len(words) and place - at < _NEAR:
            one = words[place]
            named = named or one.classes & ANSWER != 0
            if one.classes & (BE | ASSIGNED) or (one.classes & ANSWER and not _told_further(words, place)):
                yield from _answer(text, words, place + 1, named=named)
                break
            place += 1


def _told_further(words: list[_Word], at: int) -> bool:
    return any(one.classes & (BE | ASSIGNED) for one in words[at + 1 : at + 1 + _GAP])


def _answer(text: str, words: list[_Word], at: int, *, named: bool) -> Iterator[Found]:
    while at < len(words) and words[at].classes & (ADVERB | ARTICLE | IT):
        at += 1
    last = at
    while last < min(len(words), at + 3) and not words[last].classes & COMMA:
        last += 1
    if not 0 < last - at <= 2:
        return
    start, end = words[at].start, words[last - 1].end
    value = text[start:end]
    if any(one.classes & (OF | BE) for one in words[at:last]):
        return
    if named or value[0].isupper() or _TELLING.search(value) is not None:
        yield found((start, end, value))
