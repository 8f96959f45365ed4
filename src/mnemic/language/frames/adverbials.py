"""Adverbials of time and frequency, which alone state nothing: "every Tuesday evening"."""

from __future__ import annotations

from mnemic.language.frames.frame_expressions import TOKEN
from mnemic.language.frames.vocabulary import SLOTS, plain, word_classes

FREQUENCIES = frozenset(
    "always never every usually often sometimes once twice each immer nie niemals oft manchmal jeden jede jedes einmal"
    " toujours jamais souvent chaque tous toutes siempre nunca cada todos todas sempre mai ogni tutti tutte spesso"
    " altijd"
    " nooit elke iedere vaak soms".split()
)
"""Adverbs of frequency: they are no verbs, but they distinguish a state from an event."""
_UNITS = frozenset(
    "day days week weeks weekend weekends weekday weekdays month months year years time times other second alternate"
    " tag tage"
    " woche wochen wochenende monat monate jahr jahre jour jours semaine semaines mois annee dia dias semana semanas"
    " mes"
    " meses ano anos giorno giorni settimana settimane mese mesi anno anni mes dag dagen week weken maand maanden jaar"
    " dienstagabend montagabend mittwochabend donnerstagabend freitagabend samstagabend sonntagabend".split()
)


def says_only_when(text: str) -> bool:
    """Return True if all content words of a part of a sentence refer to time."""
    words = word_classes()
    tokens = TOKEN.findall(plain(text))
    content = [word for word in tokens if word not in words["empty"]]
    timed = [
        word
        for word in content
        if word in FREQUENCIES or word in _UNITS or word[0].isdigit() or any(word in words[name] for name in SLOTS)
    ]
    return bool(tokens) and len(timed) == len(content)


def time_first(text: str) -> tuple[str, str]:
    """Return the time expression at the beginning of a part of a sentence, and the rest: "every Tuesday evening",
    "teach a class". The first is empty if the part does not begin with a time.
    """
    words, known = text.split(), word_classes()
    if not words or plain(words[0]) not in FREQUENCIES:
        return "", text
    place = 1
    while place < len(words) and (
        plain(words[place]).strip(",") in _UNITS | FREQUENCIES
        or any(plain(words[place]).strip(",") in known[name] for name in SLOTS)
    ):
        place += 1
    return " ".join(words[:place]).rstrip(","), " ".join(words[place:])


def begins_timed(text: str, pronouns: frozenset[str]) -> bool:
    """Return True if a part begins with its own subject, or a time and then a subject: "every Tuesday evening I go"."""
    when, what = time_first(text)
    return plain(what).split(" ", 1)[0] in (pronouns - {"im"} if when else pronouns)
