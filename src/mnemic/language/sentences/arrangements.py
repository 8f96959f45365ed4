"""Arrangements: the number of guests or the time of an event of the speaker: "The dinner is for six people", "Mein
Paket kommt am Dienstag". They resemble world talk, as no word in them names their speaker.
"""

from __future__ import annotations

from mnemic.language.text.normalise import plain
from mnemic.language.text.pattern import Pattern
from mnemic.language.text.stated_values import values_in

LONGEST = 12
"""Maximum words of an arrangement."""
_NAMED = (
    r"(?:the|my|our|der|die|das|mein\w*|unser\w*|le|la|l'|mon|ma|notre|el|mi|nuestr[oa]|il|lo|il mio|la mia|il nostro"
    r"|la nostra|o|a|o meu|a minha|meu|minha|o nosso|a nossa|de|het|mijn|onze|ons)"
)
_HEADCOUNT = Pattern(
    rf"\A\W{{0,3}}(?:{_NAMED} ?[\w' -]{{3,40}} (?:is|will be|ist|est|sera|es|sera|e|fica|is) (?:booked |set |gebucht"
    r" |reserviert |reserve |prevu )?(?:for|fur|pour|para|per|voor)"
    r"|there(?:'ll| will|'re| are)(?: be)?(?: going to be)?|we(?:'ll| will) be|we're|wir (?:sind|werden)|es kommen"
    r"|nous (?:serons|sommes)"
    r"|on (?:sera|est)|il y aura|(?:seremos|somos|seran|vienen|vendran)|(?:saremo|siamo|verranno|vengono)(?: in)?"
    r"|(?:vao|seremos|somos|vem|virao)|we (?:zijn|worden)(?: met)?|er komen|er zijn) (?P<count>[\w'-]+)"
    r"(?: (?P<whom>people|persons|guests|adults|kids|of us|personen|leute|gaste|leuten|personnes|invites|convives"
    r"|personas"
    r"|invitados|comensales|persone|invitati|ospiti|pessoas|convidados|mensen|gasten|man)\b)?"
    r"(?P<where>.{0,60})"
)
_TIMED = Pattern(
    rf"\A\W{{0,3}}{_NAMED} ?(?P<what>[\w' -]{{3,40}}?) (?:is|are|starts|begins|takes place|arrives|comes|leaves"
    rf"|is due|is set"
    r"|is booked|ist|kommt|beginnt|startet|findet|geht|trifft|est|arrive|commence|part|a lieu|es|llega|empieza|sale"
    r"|arriva"
    r"|inizia|comincia|parte|chega|comeca|sai|e|komt|begint|vertrekt|is)"
    r"(?: \w+){0,2}? (?:on|at|by|am|um|ab|a|le|el|il|na|no|dia|op|om) (?P<when>.{1,40})"
)


def is_arrangement(text: str) -> bool:
    """Return True if a clause gives the number of participants of something, or its day or hour."""
    words = text.split()
    if len(words) > LONGEST or "?" in text:
        return False
    said = plain(text).replace("’", "'")
    found = _HEADCOUNT.match(said)
    if (
        found is not None
        and _is_number(found["count"])
        and (found["whom"] or " for " in said or found["where"].strip(" .!"))
    ):
        return True
    timed = _TIMED.match(said)
    return timed is not None and _is_time(timed["when"])


def _is_number(word: str) -> bool:
    return any(value.sort == "number" for value in values_in(word))


def _is_time(words: str) -> bool:
    return words[:1].isdigit() or any(value.sort == "time" for value in values_in(words))
