"""Ends that another person causes for the speaker: "My doctor took me off warfarin".

The end concerns the thing that it names, and no fact about that person.
"""

from __future__ import annotations

from functools import lru_cache

from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import word_classes
from mnemic.language.text.pattern import WordPattern

_JUST = r"(?:has |have )?(?:just |now |finally )?"
_ENDS = WordPattern(
    rf"\b(?:my|the|our) (?:[\w-]+ ){{0,2}}?[\w-]+ {_JUST}(?:took|taken) (?:me|us) off (?:the |my |our )?"
    r"(?P<en>[\w-]+(?: [\w-]+)?)"
    r"|\b(?:my|the|our) (?:[\w-]+ ){0,2}?(?:doctor|gp|consultant|cardiologist|psychiatrist|neurologist|specialist"
    rf"|surgeon|dermatologist|nurse|oncologist|physician) {_JUST}(?:stopped|discontinued) (?:my |the )?(?P<en2>[\w-]+)"
    r"|\bi(?:'ve been| have been| was| got) taken off (?:the |my )?(?P<en3>[\w-]+)"
    r"|\bmein\w* [\w-]+ hat (?:mir )?(?:das |die |den |mein\w* )?(?P<de>[\w-]+) (?:wieder )?(?:abgesetzt|gestoppt)\b"
    r"|\bm(?:on|a) [\w-]+ (?:m')?a (?:arrete|stoppe|supprime|enleve|interrompu) (?:la |le |les |l'|mon |ma )?"
    r"(?P<fr>[\w-]+)"
    r"|\bmi [\w-]+ (?:me )?(?:ha )?(?:quito|quitado|suspendio|suspendido|retiro|retirado) (?:la |el |mi )?"
    r"(?P<es>[\w-]+)"
    r"|\b(?:il mio|la mia) [\w-]+ (?:mi )?ha (?:tolto|sospeso|interrotto) (?:il |la |lo |l')?(?P<it>[\w-]+)"
    r"|\b(?:o meu|a minha|meu|minha) [\w-]+ (?:me )?(?:tirou(?:-me)?|suspendeu|parou|cortou) (?:a |o )?(?P<pt>[\w-]+)"
    r"|\bmijn [\w-]+ heeft (?:de |het |mijn )?(?P<nl>[\w-]+) (?:gestopt|stopgezet)\b"
    r"|\bmijn [\w-]+ heeft me van (?:de |het )?(?P<nl2>[\w-]+) (?:af ?)?gehaald\b"
)
"""Matches a thing that the speaker no longer has because of another person's act."""
_HAS_IT = WordPattern(
    r"\b(?:i(?:'m| am) (?:still |now |currently |back )?on|i (?:also )?(?:take|use|get)"
    r"|i(?:'ve| have) been (?:on|taking)|(?:put|started) me on|ich (?:nehme|bekomme|schlucke)|je (?:prends|suis sous)"
    r"|(?:yo )?tomo|(?:io )?prendo|ik (?:slik|neem|gebruik))\b"
)
"""Matches a statement that the speaker takes something, or is on it."""


def ended_by_another(old: Frame, new: Frame) -> bool:
    """Return True if `new` states that another person ended something that the speaker takes or is on in `old`."""
    things = _ended(new)
    if not things or old.negated or old.cues & {"past", "end"} or _HAS_IT.search(old.plain) is None:
        return False
    return any(_names(old, thing) for thing in things)


def of_another_end(old: Frame, new: Frame) -> bool:
    """Return True if `new` reports such an end of a thing that `old` does not name."""
    things = _ended(new)
    return bool(things) and not any(_names(old, thing) for thing in things)


@lru_cache(maxsize=256)
def tells_such_end(new: Frame) -> bool:
    """Return True if a statement reports that another person ended something for the speaker."""
    return _ENDS.search(new.plain) is not None


@lru_cache(maxsize=256)
def _ended(new: Frame) -> list[str]:
    """Return the words for the ended thing."""
    if "past" in new.cues or "passing" in new.cues:
        return []
    empty = word_classes()["empty"]
    named = (name for found in _ENDS.finditer(new.plain) for name in found.groupdict().values() if name)
    return [word for name in named for word in name.split() if word not in empty]


def _names(old: Frame, thing: str) -> bool:
    return stem(thing) in old.stems
