"""Clause of a query that defines a time by an event: "before the move", "since I started the new job".

It consists of a word for before, after or during, followed by the event (in Chinese, Japanese and Korean preceded by
it). English is covered fully; German, French, Spanish, Italian, Portuguese and Dutch only if an article, a possessive
or a person follows, since the same words also give places. A clause with a date, a time of day or a span, one about the
conversation itself ("before I forget"), and one that only asks for a time are excluded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from mnemic.language.questions.named_dates import named_date
from mnemic.language.questions.question_words import content_words
from mnemic.language.text.english import COUNTS, WEEKDAYS
from mnemic.language.text.pattern import Pattern
from mnemic.language.text.time_expressions import READ, period_of

LONGEST = 200
"""Maximum length of a clause in characters."""
_BEFORE_IT = 40


class Side(StrEnum):
    """Side of the event."""

    BEFORE = "before"
    AFTER = "after"
    DURING = "during"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """An event in the query's words, and the side of it in question. `days`: only so many of them next to the event
    ("the week before ..."); None for any number.
    """

    text: str
    side: Side
    days: float | None = None


_COUNTS = COUNTS | {"the": 1, "couple": 2, "few": 3}
_DAYS_OF = {
    "day": 1.0,
    "night": 1.0,
    "morning": 1.0,
    "evening": 1.0,
    "week": 7.0,
    "weekend": 3.0,
    "month": 30.44,
    "year": 365.25,
}
# A lookahead: it does not consume the event, so that "before the move after the wedding" also yields the second clause.
_EVENT = rf"(?=\s+(?P<event>[^.,;:!?…\n]{{2,{LONGEST}}}))"
_ENGLISH = (
    rf"(?:\b(?:a )?(?P<count>\d{{1,3}}|{'|'.join(_COUNTS)})(?: of)? (?P<unit>{'|'.join(_DAYS_OF)})s? )?"
    r"\b(?P<word>before|prior to|until|till|by the time|after|since|as soon as|once|ever since"
    r"|following(?= (?:the|my|our|his|her|their|a) )"
    rf"|during|while|throughout|when)\b{_EVENT}"
).replace(" ", r"\s+")
_ITS = r"(?:mein|dein|sein|ihr|unser|euer|eur)e?[mrns]?"
# "vor", "après" and "voor" also give places and amounts of time ("vor dem Haus", "vor zwei Jahren"), so these words
# count only before an article, a possessive or a person.
_OTHERS = (
    (Side.BEFORE, rf"bevor|ehe|vor (?=(?:dem|der|den|{_ITS}) )|bis (?=zu[mr] )"),
    (Side.AFTER, rf"nachdem|seitdem|seit (?=(?:dem|der|{_ITS}|ich|wir|er|sie) )|nach (?=(?:dem|der|den|{_ITS}) )"),
    (Side.DURING, r"während|beim"),
    (Side.BEFORE, r"avant (?=(?:le|la|les|mon|ma|mes|notre|son|sa|de|que) |l['’]|d['’]|qu['’])|jusqu['’]"),
    (Side.AFTER, r"(?:après|depuis) (?=(?:le|la|les|mon|ma|mes|notre|son|sa|avoir|être|que) |l['’]|qu['’])"),
    (Side.DURING, r"pendant (?=(?:le|la|les|mon|ma|mes|notre|son|sa|que) |l['’]|qu['’])|lors (?=du |de |d['’])"),
    (Side.BEFORE, r"antes (?=de |del |da |do |que )|hasta (?=que |el |la |mi )|até (?=que |o |a )"),
    (Side.AFTER, r"(?:después|depois) (?=de |del |da |do |que )|desde (?=que |el |la |mi |o |a )|após"),
    (Side.DURING, r"durante|mientras|enquanto|mentre|tijdens|terwijl"),
    (Side.BEFORE, r"prima (?=di |del |della |dello |che |dell['’])|fino (?=al |alla |all['’])"),
    (Side.AFTER, r"dopo (?=il |la |lo |i |le |mio |mia |aver |essere |che |l['’])|da quando"),
    (Side.BEFORE, r"voordat|voor (?=(?:de|het|mijn|onze|ons) )|totdat"),
    (Side.AFTER, r"nadat|na (?=(?:de|het|mijn|onze|ons) )|sinds"),
)
# In Chinese, Japanese and Korean the word follows its event. 前 and 전 also mean "ago" and "in front of", so a particle
# must follow.
_BEHIND = (
    (Side.BEFORE, r"之前|以前|(?:の|する|した)?前(?=[にはの])|기? ?전(?=에|까지)"),
    (Side.AFTER, r"之后|之後|以后|以後|以来|(?:の|した)?後(?=[にはの])|(?:한|은|ㄴ)? ?(?:후|뒤)(?=에)"),
    (Side.DURING, r"期间|期間|的时候|(?:の|した)間(?=[にはの])|동안"),
)
_SIDES = {
    **dict.fromkeys(("before", "prior to", "until", "till", "by the time"), Side.BEFORE),
    **dict.fromkeys(("after", "since", "following", "as soon as", "once", "ever since"), Side.AFTER),
}
_IN_ENGLISH = Pattern(_ENGLISH, re.IGNORECASE)
_BEFORE_EVENT = tuple(
    (side, Pattern(rf"\b(?:{words})\s*(?P<event>[^.,;:!?…\n]{{4,{LONGEST}}})".replace(" ", r"\s+"), re.IGNORECASE))
    for side, words in _OTHERS
)
_AFTER_EVENT = tuple(
    (side, Pattern(rf"(?:^|[,、。?!?!])\s*(?P<event>[^\d\s,、。?!?!][^,、。?!?!]{{1,30}}?)(?:{words})"))
    for side, words in _BEHIND
)
# Kana, CJK ideographs and Hangul.
_UNSPACED = Pattern("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ASKS = Pattern(r"\s(?:what|where|who|whom|which|how|why|did|do|does)\b.*", re.IGNORECASE | re.DOTALL)
"""Matches the question after a clause at its beginning."""
_RUNS_ON = Pattern(r"\s(?:but|and then|before|after|until)\b.*", re.IGNORECASE | re.DOTALL)
_NO_TIME = {
    "after": Pattern(r"\b(?:(?:look|tak|nam|go|ask|run)(?:s|e|es|ed|ing)?|took|went)\s*$", re.IGNORECASE),
    "when": Pattern(
        r"(?:^|\b(?:between|know|knew|tell|told|remember|remind|me|guess|about|of|and|or))\s*$", re.IGNORECASE
    ),
}
"""Words that change the meaning of the word after them: "named after", "do you know when", "between when"."""
_NOT_THEN = Pattern(
    r"\b(?:usual|always|typical|general|normal)(?:ly)?\b|\b(?:often|common)\b"
    r"|\bhow (?:long|old|many (?:day|week|month|year|hour)s?)\b".replace(" ", r"\s+"),
    re.IGNORECASE,
)
"""Matches a question about a permanent fact or about the time between two events, which concerns both sides."""
_PAST = Pattern(
    r"\b(?:\w{2,}ed|was|were|had|did|got|went|came|met|gave|took|made|saw|said|told|bought|sold|began|left|lost|found"
    r"|won|wrote|read|ran|flew|drove|broke|became|fell|felt|grew|heard|held|kept|knew|led|let|paid|put|quit|sat|sent"
    r"|set|slept|spent|spoke|stood|taught|thought|threw|understood|woke|wore|chose|ate|drank|sang|swam|hurt|cut|built"
    r"|brought|caught|fought|hit|rode|rose|shut|stole)\b",
    re.IGNORECASE,
)
"""After "when", "once" and "as soon as" the present tense states a general rule."""
_NEED_PAST = frozenset({"when", "once", "as soon as"})
_ABOUT_THIS = Pattern(
    r"(?:(?:i|you|we|he|she|they) (?:\w+ly )?(?:forget|answer|go|begin|start|continue|reply|respond|ask|leave|tell"
    r"|proceed|decide|do|finish|are|am|have|know|can|need|want)\b"
    r"|(?:asking|answering|continuing|going|proceeding|responding|replying|starting|all|that|this|it|then|there|long"
    r"|now|you|which|what|how|who)\b"
    r"|.{0,40}\b(?:conversations?|chats?|chatting|discussions?|discuss(?:ed|ing)?|talk(?:ed|ing)?)\b)".replace(
        " ", r"\s+"
    ),
    re.IGNORECASE,
)
_TIMES = frozenset(
    """
    tomorrow today tonight yesterday now noon midday midnight dawn dusk sunrise sunset bed bedtime work school class
    lunch dinner breakfast supper brunch hours hour minutes minute day days week weeks weekend weekends month months
    year years night nights morning evening afternoon time times moment end start next last past previous same whole
    other later recently monday spring summer autumn fall winter season holiday holidays christmas easter new am pm
    oclock o'clock eod further notice shower ever
    mon tue tues wed thu thur thurs fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec
    morgen heute gestern mittag mitternacht mittagessen abendessen frühstück arbeit schule schlafen nacht tag tage tagen
    woche wochen wochenende monat monaten jahr jahren stunde stunden abend dem der den die das zum zur
    demain midi minuit soir matin nuit jour jours semaine mois année heure heures le la les du de
    mañana hoy ayer noche día días mes año hora horas mediodía del el tarde
    domani oggi notte giorno giorni settimana mese anno ora ore pranzo cena il
    amanhã hoje noite dia dias semana ano almoço jantar da do o a
    morgen vandaag nacht dag dagen week maand jaar uur avond de het
    """.split()
) | frozenset(WEEKDAYS)
_DATED = Pattern(
    r"^\W*\d|\b\d{1,2}(?::\d\d|\s*[ap]\.?m\b|\s*(?:uhr|heures|h)\b)|\b(?:19|20)\d\d\b"
    r"|\b\d{1,2}(?:st|nd|rd|th)\b|[一二三四五六七八九十两兩几幾数]\s*(?:天|日|周|週|年|月|个|個|小时|時間)",
    re.IGNORECASE,
)


def clause_of(query: str, asked_on: date | None = None) -> Clause | None:
    """Return the first clause of `query` that defines a time by an event; None if there is none."""
    # Cut before and after collapsing white space, to bound the time for a long query or long white space.
    text = " ".join(query[: 2 * READ].split())[:READ]
    if _NOT_THEN.search(text):
        return None
    if not text.isascii() and _UNSPACED.search(text):
        return _first(_AFTER_EVENT, text, asked_on)
    for found in _IN_ENGLISH.finditer(text):
        clause = _english(found, asked_on)
        if clause is not None:
            return clause
    return _first(_BEFORE_EVENT, text, asked_on)


def _english(found: re.Match[str], asked_on: date | None) -> Clause | None:
    before = found.string[: found.start()]
    word = " ".join(found["word"].lower().split())
    start = found.start("word")
    if word in _NO_TIME and _NO_TIME[word].search(found.string, max(0, start - _BEFORE_IT), start):
        return None
    event = found["event"] if before.strip() else _ASKS.sub("", found["event"])
    event = _RUNS_ON.sub("", event).strip(" '\"()")
    if not _tells_an_event(event, asked_on) or _ABOUT_THIS.match(event):
        return None
    if word in _NEED_PAST and not _PAST.search(event):
        return None
    side = _SIDES.get(word, Side.DURING)
    return Clause(text=event, side=side, days=None if side is Side.DURING else _days(found))


def _days(found: re.Match[str]) -> float | None:
    if found["unit"] is None:
        return None
    said = found["count"].lower()
    return _DAYS_OF[found["unit"].lower()] * (_COUNTS.get(said) or int(said))


def _first(patterns: tuple[tuple[Side, Pattern], ...], text: str, asked_on: date | None) -> Clause | None:
    for side, pattern in patterns:
        found = pattern.search(text)
        if found and _tells_an_event(found["event"].strip(), asked_on):
            return Clause(text=found["event"].strip(), side=side)
    return None


def _tells_an_event(event: str, asked_on: date | None) -> bool:
    words = [word.strip(".,;:!?'’()\"").lower() for word in content_words(event)]
    if not any(len(word) > 1 and word not in _TIMES for word in words):
        return False
    dated = _DATED.search(event) or named_date(event) or period_of(event, asked_on or date(2000, 1, 1))
    return not dated
