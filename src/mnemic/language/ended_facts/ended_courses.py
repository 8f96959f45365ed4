"""Courses and lessons that a person has given up, often for another: "I stopped the Portuguese lessons, doing Spanish
instead".
"""

from __future__ import annotations

from functools import lru_cache

from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import word_classes
from mnemic.language.text.pattern import WordPattern

_DROPPED = WordPattern(
    r"\b(?:stopped|quit|gave up|given up|giving up|dropped(?: out of)?|cancel+ed|ended|packed in|done with|left"
    r"|ditched) (?:(?:with|my|the|our|those|these|taking|going to|doing|all) ){0,3}(?P<en>(?:[\w'-]+ ){1,3}?)"
    r"(?:lessons?|courses?|class(?:es)?|tuition|training)\b"
    r"|\b(?P<de>[\w'-]{3,24}?)(?:kurse?|unterricht|stunden)\b (?:[\w'-]+ ){0,3}(?:abgebrochen|aufgehort|aufgegeben"
    r"|hingeschmissen|beendet|gekundigt)\b"
    r"|\b(?:arrete|abandonne|lache|quitte) (?:les |le |mes |mon )?(?:cours|lecons?) (?:de |d'|du )?(?P<fr>[\w'-]+)"
    r"|\b(?:deje|dejado|abandone|abandonado) (?:las |el |mis |mi )?(?:clases?|curso|lecciones) de (?P<es>[\w'-]+)"
    r"|\b(?:lasciato|abbandonato|smesso(?: con)?|mollato) (?:il |le |i |la )?(?:corso|corsi|lezion[ei]) d(?:i |')"
    r"(?P<it>[\w'-]+)"
    r"|\b(?:deixei|larguei|abandonei|parei(?: com)?) (?:as |o |a )?(?:aulas?|curso|licoes) de (?P<pt>[\w'-]+)"
    r"|\bgestopt met (?:de |mijn |het )?(?P<nl>[\w'-]{3,24}?)-?(?:lessen|les|cursus)\b"
)
"""Matches the subject of lessons that the speaker has given up."""
_TAUGHT = WordPattern(
    r"\b(?:lessons?|courses?|class(?:es)?|tuition)\b|\w(?:kurs|unterricht|stunden)\b|\b(?:cours|lecons?|clases?|curso"
    r"|lecciones|cors[oi]|lezion[ei]|aulas?|licoes)\b|(?:lessen|cursus)\b"
)
_LEARNS = WordPattern(
    r"\b(?:learn\w*|stud(?:y|ying|ied)|taking up|took up|lern\w+|apprend\w*|appris|aprend\w*|estud\w*|impar\w*|studi\w*"
    r"|leer|leren|studeer)\b"
)
_ANOTHER = WordPattern(
    r"\b(?:instead|rather|switch\w*|now|these days|stattdessen|jetzt|nun|dafur|a la place|maintenant|plutot"
    r"|en su lugar|en vez|ahora|invece|adesso|ora|em vez|agora|in plaats|nu)\b"
)
"""Matches a replacement."""


@lru_cache(maxsize=256)
def drops_course(new: Frame) -> bool:
    """Return True if a statement reports that lessons were given up."""
    return _DROPPED.search(new.plain) is not None


def ends_course(old: Frame, new: Frame) -> bool:
    """Return True if `new` gives up the lessons that `old` mentions, or the learning of that subject for another."""
    if old.negated or old.cues & {"end", "past"} or new.cues & {"past", "passing"}:
        return False
    if {old.subject, new.subject} - {"", "self"} and old.subject != new.subject:
        return False
    found = _DROPPED.search(new.plain)
    if found is None or not new.relations <= old.relations:
        return False
    named = next(filter(None, found.groupdict().values()), "").split()
    empty = word_classes()["empty"]
    subject = [word for word in named if word not in empty]
    if not subject or not all(_told_of(word, old) for word in subject):
        return False
    if _TAUGHT.search(old.plain):
        return True
    return _LEARNS.search(old.plain) is not None and _ANOTHER.search(new.plain) is not None


def _told_of(word: str, old: Frame) -> bool:
    """Return True if a statement names the subject, alone or as the first part of a compound."""
    return stem(word) in old.stems or any(token.startswith(word) for token in old.tokens)
