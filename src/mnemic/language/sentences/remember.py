"""Requests to remember: "Remember that ...", "Don't forget: ...", and their equivalents in seven languages.

A statement with a request to remember it is stored whatever the classifier's opinion. A request without content
("remember this one"), a question ("remember when ...?") and an errand ("remember to buy milk") are not.
"""

from __future__ import annotations

import re
from typing import Literal

from mnemic.language.sentences.clauses import is_tag
from mnemic.language.sentences.tables import pattern

_ADDRESS = (
    r"(?:@\w+[,:]? )?(?:(?:ok|okay|hey|hi|so|and|oh|ah|also|just|please|pls|bitte|por favor|per favore|svp|stp)[,!]? )"
    r"{0,3}"
)
_ASK = (
    r"(?:(?:can|could|would|will) you (?:please )?|i(?:'d like| would like| want| need) you to (?:please )?|"
    r"you (?:should|must|need to|have to) (?:please )?|kannst du (?:dir )?(?:bitte )?|peux-tu |puedes |puoi |"
    r"podes |kun je )?"
)
_OPENERS = (
    # English
    r"remember(?: this| that)?|memori[sz]e(?: this| that)?|(?:please )?(?:don't|dont|do not|never)(?: ever)?"
    r"(?: let me)? forget(?: this| that| about)?|(?:make|take) (?:a (?:mental )?|)note(?: of this| of that| that| of)?|"
    r"(?:please )?note(?: (?:this|that|it) down| that| down| to self(?: \w+ you)?)?|jot (?:this |that )?down|"
    r"(?:keep|bear)(?: it| this)? in (?:mind|"
    r"memory|your (?:notes|memory))(?: that| this)?|keep (?:it |this )?(?:on file|noted)(?: that)?|for the record|"
    r"for (?:your|future|later|my) (?:reference|memory|records?|information|notes|files?)|"
    r"(?:just )?so (?:that )?you know|"
    r"(?:should )?know(?: that)?|fyi|add (?:this |that )?to (?:your |the )?(?:memory|notes)(?: that)?|"
    r"(?:save|store|log|record|keep|write down|put down)(?: this| that)(?: down| for later| in memory| for me|"
    r" please)?"
    r"(?: please)?|write (?:this |that )?down(?: that)?|"
    # German
    r"merke? dir(?: bitte| mal)?|(?:bitte )?vergiss (?:bitte )?nicht|"
    r"denk (?:bitte )?daran|"
    r"zur info(?:rmation)?|notiere?(?: dir)?(?: bitte)?|schreib dir auf|"
    r"speichere?(?: dir)?(?: bitte)?"
    r"(?: das)?|behalte? (?:bitte )?im (?:hinter)?kopf|fürs? (?:die akten|protokoll)|"
    r"(?:nur )?damit du(?:'s| es)? weißt|zu deiner information|wisse|"
    # French
    r"retiens(?: bien)?(?: que| qu')?|retenez(?: que)?|n'oublie[sz]? pas(?: que| qu')?|souviens-toi(?: que| bien)?|"
    r"rappelle-toi(?: que)?|note[sz]?(?: bien)?(?: que| qu')|note[sz]?(?=\s?:)|pour (?:ton |votre )?info(?:rmation)?|"
    r"(?:garde[sz]?|gardez) (?:à l'esprit|en tête|en mémoire)(?: que)?|sache[sz]?(?: que| qu')|pour mémoire|"
    r"mémorise[sz]?(?: que)?|à noter(?: que)?|"
    # Spanish
    r"recuerda(?: que)?|acuérdate(?: de)?(?: que)?|no (?:te )?olvides(?: de)?(?: que)?|anota(?: que)?|"
    r"apunta(?: que)?|"
    r"ten en cuenta(?: que)?|ten presente(?: que)?|toma nota(?: de)?(?: que)?|para que (?:lo )?sepas|que sepas que|"
    r"memoriza(?: que)?|guarda(?: esto)?(?: que)?|para tu información|(?:para )?que (?:conste|quede constancia)(?: de)?"
    r"(?: que)?|"
    # Italian
    r"ricorda(?:ti)?(?: che| di)?|non (?:ti )?(?:dimenticare|scordare)(?: che)?|tieni (?:presente|a mente)(?: che)?|"
    r"annota(?:ti)?(?: che)?|segna(?:ti)?(?: che)?|prendi nota(?: che)?|per (?:tua )?informazione|sappi(?: che)?|"
    r"memorizza(?: che)?|nota bene(?: che)?|per la cronaca|"
    # Portuguese
    r"lembra(?:-te)?(?: de)?(?: que)?|lembre(?:-se)?(?: de)?(?: que)?|não (?:te |se )?esqueças?(?: de)?(?: que)?|"
    r"anote?(?: que)?|tome? nota(?: que)?|te(?:m|nha) em (?:conta|mente)(?: que)?|para (?:tua|sua) informação|"
    r"fica a saber(?: que)?|guarde?(?: isto| isso)?|memorize?(?: que)?|regista(?: que)?|"
    r"para (?:constar|registr?o)|"
    # Dutch
    r"onthoud|vergeet (?:alsjeblieft )?niet|denk eraan|noteer|"
    r"ter info(?:rmatie)?|"
    r"hou(?:d)? (?:er )?rekening mee|schrijf (?:dit )?op|voor de goede orde|"
    r"hou(?:d)? in gedachten|sla (?:dit )?op|let op"
)
_OPENING = pattern(
    rf"^\W{{0,3}}{_ADDRESS}{_ASK}(?:{_OPENERS})(?:,? please|,? bitte)?(?!\w)(?P<mark>\s?(?:[:,;–—-]|\.\.\.)\s?| |$)"
)
_LOOSE = pattern(
    rf"^\W{{0,3}}{_ADDRESS}{_ASK}(?:note|know|keep (?:this|that)|guarda|guarde?|segna|nota|anote?|anota|let op|"
    rf"log (?:this|that)|"
    r"record (?:this|that)|apunta|regista|retiens|store (?:this|that)|save (?:this|that)|fyi)(?!\w)"
)
"""Words that also begin other sentences ("note the irony"): without a mark after them they are only a weak sign."""
_EMPTY = pattern(
    r"^(?:to (?!always|never|only|use|call me|answer|reply|speak)\w+.*|(?:when|how|why|what|who|where|which|"
    r"if) .*|"
    r"(?:that |those |the )?(?:time|times|days?|film|movie|song|one|ones)\b(?:.{0,40})|"
    r"(?:this|that|it|them|him|her|me|us|these|those|everything|all|das|es|ça|cela|esto|eso|lo|questo|isto|isso|"
    r"dit|dat)"
    r"(?: one| please| bitte| all)?)[.!?\s]*$"
)
_COURTESY = frozenset(
    "please pls plz ok okay thanks thank thx you u so much a lot will would could can got it this that these those "
    "them all both one for me us my now later next time times future down somewhere safe too also alright right and "
    "well "
    "bitte danke das dies mir mal gut ok schon dir dafür "
    "merci s'il te vous plaît ça cela ceci bien moi le la les "
    "por favor gracias esto eso lo bien me vale "
    "per favore grazie questo questa lo la mi va bene "
    "obrigado obrigada isto isso tá bom se faz "
    "alsjeblieft dank je dank dit dat even goed oké graag".split()
)
"""Words of a request to remember that are nothing to remember."""
_POINTS_ON = pattern(r"\b(?:this|these|following|dies(?:es)?|folgendes|ceci|esto|questo|isto|dit)\b|:\W*$")
"""Words of a request to remember what comes next."""
_AFTERWARDS = pattern(
    r"(?:^|[,;.–—-]\s?|\b(?:so|and|please|pls|but) ){1,3}(?:keep|bear) (?:that|this|it) in mind\b|"
    r"\b(?:please |so |and )(?:remember|note|save|store|don't forget|do not forget) (?:that|this|"
    r"it)(?: down)?[.! ]*$|"
    r"\b(?:merk dir das|denk daran|vergiss das nicht|tiens-en compte|retiens-le|tenlo en cuenta|recuérdalo|"
    r"tienilo (?:a mente|"
    r"presente)|tem isso em conta|lembra-te disso|onthoud dat|hou daar rekening mee)\b"
)


def asked_to_remember(sentence: str) -> tuple[int, bool] | None:
    """Return the start of the statement in a sentence that asks to remember it, and True if the request is certain.
    None if nothing is requested, or the request has no content ("remember this one").
    """
    opening = _OPENING.search(sentence)
    if opening is None:
        return None
    said = sentence[opening.end() :].strip(" .!")
    if _EMPTY.search(said) or is_courtesy(said):
        return None
    marked = bool(opening["mark"].strip())
    return opening.end(), marked or _LOOSE.search(sentence) is None


def is_courtesy(text: str) -> bool:
    """Return True if a text has only words of courtesy: "please", "it, ok?"."""
    return all(word in _COURTESY for word in re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)*", text.lower())) and bool(text)


def bare_request(sentence: str) -> Literal["before", "after"] | None:
    """Return where the words are that a sentence asks to remember without saying them: "Don't forget that please."
    those before it, "Please remember this." those after it. None for other sentences, and for a question ("Remember?").
    """
    opening = _OPENING.search(sentence)
    if opening is None or _LOOSE.search(sentence) is not None:
        return None
    rest = sentence[opening.end() :]
    if not is_courtesy(rest.strip(" .,:;!?…-–—") or "it") or (sentence.rstrip().endswith("?") and not is_tag(sentence)):
        return None
    return "after" if _POINTS_ON.search(sentence) else "before"


def is_asked_afterwards(sentence: str) -> bool:
    """Return True if a sentence ends in a request to remember it ("..., so keep that in mind")."""
    return bool(_AFTERWARDS.search(sentence))


def asks_alone(text: str) -> bool:
    """Return True if a part of a sentence is only the request: "and remember" in "and remember, I'm here for you"."""
    request = asked_to_remember(text)
    return request is not None and not text[request[0] :].strip(" .,!:")
