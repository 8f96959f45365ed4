"""Another dose or form of one medicine: "I take ramipril 5 mg", "I take ramipril 10 mg now"; tablets, then drops."""

from __future__ import annotations

from functools import lru_cache

from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import MEMBERS
from mnemic.language.text.pattern import WordPattern

_DOSE = WordPattern(
    r"(?<![\w.,])(\d+(?:[.,]\d+)?) ?(?:mg|mcg|ug|g|ml|iu|ie|ui|units?|einheiten|unites|unidades|unita|eenheden|puffs?"
    r"|hube|bouffees)\b"
)
_FORMS = tuple(
    WordPattern(rf"\b(?:{words})\b")
    for words in """\
tablets?|pills?|\\w*tabletten?|pillen?|comprimes?|cachets?|comprimid\\w+|pastillas?|compress\\w|pastiglie|pillole
capsules?|kapseln?|gelules?|capsulas?|capsule
liquid|syrup|solution|saft|sirup|sirop|jarabe|solucion|sciroppo|xarope|stroop|drank
drops|tropfen|gouttes|gotas|gocce|druppels
patch(?:es)?|pflaster|parches?|cerott\\w|adesivos?|pleisters?
gel|cream|ointment|creme|salbe|pommade|crema|pomada|zalf
spray|inhaler|inhalator|inhalateur|inhalador|inalatore
injections?|shots?|spritzen?|piqures?|inyeccion(?:es)?|iniezion\\w|injec(?:oes|ao)|injecties?|pumpe?|pompe?|bomba|pompa
""".split()
)
_TAKING = frozenset(
    map(
        stem,
        "take taking get use using nehme bekomme schlucke prends prend tomo tome prendo uso neem gebruik slik daily"
        " every day taglich jour dia giorno dag".split(),
    )
)


def another_dose(old: Frame, new: Frame) -> bool:
    """Return True if both are about one medicine of one person, at one time of the day, in another dose or form."""
    if old.event or new.cues & {"add", "past", "passing"} or old.relations != new.relations:
        return False
    if any(old.slots(name) != new.slots(name) for name in MEMBERS):
        return False
    mine, theirs = set(_DOSE.findall(old.plain)), set(_DOSE.findall(new.plain))
    dosed = bool(mine and theirs) and mine.isdisjoint(theirs)
    formed = bool(_forms(old) and _forms(new)) and _forms(old).isdisjoint(_forms(new))
    return (dosed or formed) and bool(_medicines(old) & _medicines(new))


@lru_cache(maxsize=256)
def may_be_medicine(new: Frame) -> bool:
    """Return True if a statement names a dose or a form of a medicine."""
    return _DOSE.search(new.plain) is not None or bool(_forms(new))


def _forms(frame: Frame) -> set[int]:
    return {number for number, words in enumerate(_FORMS) if words.search(frame.plain)}


def _medicines(frame: Frame) -> frozenset[str]:
    """Return the stems that may name the medicine."""
    forms = {stem(word) for words in _FORMS for word in words.findall(frame.plain)}
    return frozenset(one for one in frame.unnumbered if len(one) > 3) - _TAKING - forms
