"""Times in questions: a date that one names, a clause that gives an event, the events of a time and nothing else, and
forms of the past.

A clause that defines a time by an event ("before the move", "since I started the new job") consists of a word for
before, after or during, followed by the event (in Chinese, Japanese and Korean preceded by it). English is covered
fully; German, French, Spanish, Italian, Portuguese and Dutch only if an article, a possessive or a person follows,
since the same words also give places. A clause with a date, a time of day or a span, one about the conversation itself
("before I forget"), and one that only asks for a time are excluded.

The words of a question about the events of a time ("What did Ana do last month?") are not those of the answer, so it is
recognised by its form in seven languages; the words besides the time and the form name the subject of the answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from functools import lru_cache

from mnemic.language.questions.question_words import content_words
from mnemic.language.text.analyse import terms
from mnemic.language.text.pattern import Pattern, plain_letters
from mnemic.language.text.time_expressions import READ, period_of
from mnemic.language.text.time_words import COUNTS, MONTH_NUMBERS, MONTHS, WEEKDAYS, in_english, named_month

_MONTH = re.compile(rf"\b({'|'.join(MONTHS[1:])})\b", re.IGNORECASE)
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A year, a month or a day in a query; its missing parts are None."""

    year: int | None
    month: int | None = None
    day: int | None = None

    @property
    def days(self) -> tuple[date | None, date | None]:
        """Its first and last day; None, None if it has no year, or is in no calendar."""
        if self.year is None:
            return None, None
        try:
            first = date(self.year, self.month or 1, self.day or 1)
        except ValueError:
            return None, None
        if self.day:
            return first, first
        months = 1 if self.month else 12
        return first, (first + timedelta(days=31 * months)).replace(day=1) - timedelta(days=1)

    def may_be_said_on(self, said_on: date) -> bool:
        """Return True if a message of `said_on` may concern this date.

        A day is mentioned from the day before it until ten days after it, a month within itself and the first ten days
        of the next, a year within itself.
        """
        if self.month is None:
            return said_on.year == self.year
        years = [self.year] if self.year else [said_on.year, said_on.year - 1]
        return any(self._may_be_said_in(year, said_on) for year in years)

    def _may_be_said_in(self, year: int, said_on: date) -> bool:
        try:
            first = date(year, self.month or 1, self.day or 1)
        except ValueError:
            return False
        if self.day:
            return first - timedelta(days=1) <= said_on <= first + timedelta(days=10)
        return first <= said_on <= (first + timedelta(days=31)).replace(day=10)


def named_date(query: str) -> NamedDate | None:
    """Return the first month (with its day and year) or year that `query` names; "may" in lower case is the verb."""
    query = plain_letters(query)
    month = next((found for found in _MONTH.finditer(query) if found.group(1) != "may"), None)
    year = _YEAR.search(query)
    if month is None:
        return _named_abroad(query, int(year.group(1)) if year else None)
    name = month.group(1)
    day = re.search(
        rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {name}\b|\b{name},? (\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)",
        query,
        re.IGNORECASE,
    )
    return NamedDate(
        year=int(year.group(1)) if year else None,
        month=MONTHS.index(name.lower()),
        day=int(day.group(1) or day.group(2)) if day else None,
    )


def _named_abroad(query: str, year: int | None) -> NamedDate | None:
    """Return the month that `query` names in another language than English, or only the year."""
    found = named_month(query)
    if found is None:
        return NamedDate(year) if year else None
    return NamedDate(year, *found)


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


_WAS = Pattern(
    r"\b(?:did|were|had|used to|lived|worked|wohnte\w*|arbeitete\w*|lebte\w*|mochte\w*|trank\w*|aß\w*|fuhr\w*|hieß\w*"
    r"|warst|waren|hatte\w*|étais|était|étaient|avais|avait|\w{3,20}(?<!jam)(?<!franç)(?<!angl)(?<!port)ais(?=-| |\?)"
    r"|\w{1,20}(?:[^aeiou]aba|abas|ábamos|[^aeiou]ías?|íamos)(?<!todavía)(?<!policía)(?<!compañía)(?<!energía)"
    r"|tenías?|era|eras|viví|trabajé|fui|tuve|vivi|abitav[oai]|vivev[oai]|avev[oai]|lavorav[oai]|er[oi]|bevev[oai]"
    r"|mangiav[oai]|guidav[oai]|usav[oai]|preferiv[oai]|morava|vivia|tinha|trabalhava|bebia|comia|preferia|usava|conduzia"
    r"|dirigia|morei|trabalhei|woonde\w*|werkte\w*|leefde\w*|dronk\w*|gebruikte\w*|heette)\b"
    r"|\b(?:habe|hast|hat|haben|bin|heb|hebben|heeft|ben)\b.{1,60}?\b(?:ge\w{2,20}(?:t|en|d)|\w{3,20}iert)\b"
    r"|\b(?:ai-je|as-tu|a-t-(?:il|elle|on)|avons-nous|j'ai|tu as|on a) \w{2,20}(?:é|ée|i|u)\b"
    r"|\b(?:he|has|hemos|ho|hai|abbiamo) \w{2,20}(?:ado|ido|ato|uto|ito|sto|tto)\b",
    re.IGNORECASE,
)
_ENGLISH_WAS = Pattern(r"\bwas\b", re.IGNORECASE)
_GERMAN_WAR = Pattern(r"\bwar\b", re.IGNORECASE)
"""Past of "sein", and an English noun."""
_GERMAN = Pattern(
    r"\b(?:ich|du|wir|mein\w*|unser\w*|ist|sind|habe|hast|hat|trinke|esse|mag|heißt|für|nicht|der|das|den|weißt|soll|kann)\b",
    re.IGNORECASE,
)
"""Words of a German question, in which "was" means "what"."""
_BEFORE = Pattern(
    r"\b(?:before(?: that)?\W*$|before (?:now|i changed|the change)|previously|formerly|originally|used to|back then"
    r"|did (?:\w+ ){1,3}use to"
    r"|in the past|(?:my|our) (?:old|former|previous|ex)\b|früher|vorher|damals|zuvor|auparavant|autrefois|avant\W*$"
    r"|à l'époque|antes\W*$|anteriormente|antes de|prima\W*$|in passato|un tempo|antigamente|vroeger|voorheen"
    r"|eerder\W*$)",
    re.IGNORECASE,
)
_UNTIL = Pattern(r"\b(?:before|vor|bis|avant|antes de|prima di|antes|voor)\s+(?:\w+\s+){0,2}(?:\w+)", re.IGNORECASE)


@lru_cache(maxsize=64)
def tells_past(text: str) -> bool:
    """Return True if a verb of a question is in the past; cached, as a search calls it several times."""
    form = _GERMAN_WAR if _GERMAN.search(text) else _ENGLISH_WAS
    return bool(_WAS.search(text) or form.search(text))


@lru_cache(maxsize=64)
def asks_before(text: str) -> bool:
    """Return True if a question is about an earlier state."""
    return _BEFORE.search(text) is not None


def ends_before(text: str) -> bool:
    """Return True if a question is about the time before a date or an event."""
    return _UNTIL.search(text) is not None


_READ = 200
"""Maximum number of characters of a question; a longer one has more conditions than a time."""
_SAID = 500
"""Number of characters of a statement or a message that are searched for an event."""
_FORMS = Pattern(
    r"\A\W*(?:(?:and|so|but|ok|please|tell me|remind me|do you (?:know|remember)|y|et|und|e|en)\b,? )*"
    r"(?:what(?: all| else)?(?:['’]s)?\b(?P<en>.*?)\b(?:do|done|doing|up to|go(?:ne)? through|going on"
    r"|happen(?:ed|ing)?|take place|took place)\b"
    r"|was\b(?P<de>.*?)\b(?:machte\w*|tat|taten|gemacht|getan|unternommen|erlebt|passiert\w*|geschah|geschehen)\b"
    r"|qu(?:e\b|['’]est-ce qu(?:e\b|['’])|['’])(?P<fr>.*?)\b(?:fait|faisait|passé|arrivé|vécu)\b"
    r"|qué\b(?P<es>.*?)\b(?:hizo|hice|hicimos|hicieron|hiciste|hecho|pasó|pasado|ocurrió|sucedió)\b"
    r"|(?:che cosa|cosa|cos['’])(?P<it>.*?)\b(?:fatto|fece|facevo|successo|accaduto)\b"
    r"|o que\b(?P<pt>.*?)\b(?:fez|fiz|fizemos|fizeram|aconteceu|houve)\b"
    r"|wat\b(?P<nl>.*?)\b(?:gedaan|gebeurd\w*|deed|deden|meegemaakt)\b)(?P<rest>.*)\Z",
    re.IGNORECASE,
)
_WORDS_OF_TIME = frozenset(
    terms(
        "last past previous this that week weeks month months year years day days weekend fortnight decade yesterday "
        "today tonight night time letzter zeit kürzlich neulich récemment últimamente ultimamente recente recentemente "
        "onlangs laatste tijd night morning afternoon evening spring summer autumn fall winter ago recently lately "
        "couple few several since until half early late mid beginning end one two three four five six seven eight nine "
        "ten eleven twelve monday tuesday wednesday thursday friday saturday sunday"
    )
) | frozenset(terms(" ".join((*MONTHS, *MONTH_NUMBERS))))
_EMPTY = frozenset(
    terms(
        "did do does done doing have has had was were been get got go went happen happened tell know remember "
        "ist war habe hab hast hat haben bin alles los sich es er sie man "
        "est-ce a ai as ont avons s'est se me ha he han hemos has ho hai abbiamo "
        "è era foi eu nós heeft heb hebben is er ze al zoal "
        "i we you my our us me ich wir du je on nous yo io noi ik wij"
    )
)
_OF_ASKER = Pattern(r"\b(?:i|ich|je|ai-je|yo|hice|io|ho|eu|fiz|ik)\b(?! (?:and|und|et|y|e|en) )", re.IGNORECASE)
_LATELY = Pattern(
    r"\b(?:lately|recently|in letzter zeit|kürzlich|neulich|récemment|ces derniers temps|últimamente|recientemente"
    r"|ultimamente|di recente|recentemente|onlangs|de laatste tijd)\b",
    re.IGNORECASE,
)
_HAPPENED = Pattern(
    r"\b(?:\w{2,18}ed|was|were|had|did|got|went|came|met|gave|took|made|bought|sold|began|left|lost|found|won|wrote"
    r"|ran|flew|drove|broke|became|fell|kept|led|paid|quit|sent|slept|spent|spoke|taught|threw|woke|wore|chose|ate"
    r"|drank|sang|swam|built|brought|caught|fought|rode|stole|saw|visited|hurt myself|cut my)\b"
    r"|\b(?:war|waren|hatten?|wurden?|ging|kam|(?:habe|hat|haben|bin|ist|sind)\b.{1,80}\b(?:\w{0,8}ge\w{2,20}(?:t|en)"
    r"|\w{3,20}iert|(?:be|ver|er)\w{2,20}(?:t|en)))\b"
    r"|\b(?:j['’]ai|a|avons|avez|ont|je suis|est|sommes|sont) \w{1,20}(?:é|ée|és|ées|i|u|is|it)\b|\bétait\b"
    r"|\b(?:fui|fue|fuimos|vi|vio|hice|hizo|hicimos|tuve|estuve|comí|bebí|\w{2,18}(?:(?<![aei]r)é|ió|amos|imos)"
    r"|(?:he|ha|hemos|han) \w{2,20}(?:ado|ido|to|cho))\b"
    r"|\b(?:ho|ha|abbiamo|hanno|sono|è|siamo) \w{2,20}[ts][oaie]\b"
    r"|\b(?:fiz|fez|fomos|foi|mudei|mudou|comprei|comprou|comecei|\w{3,18}(?:ámos|aram|ou|ei))\b"
    r"|\b(?:heb|heeft|hebben|ben|is|zijn)\b.{1,80}\bge\w{2,20}\b",
    re.IGNORECASE,
)


def asked_about(text: str) -> frozenset[str] | None:
    """Return the terms for the subject of a question about the events of a time, none for all events; None for any
    other question. Another function checks if it gives a time.
    """
    found = None if len(text) > _READ else _FORMS.search(in_english(text))
    if found is None:
        return None
    left = content_words(" ".join(part for part in found.groups() if part))
    return (
        frozenset(terms(" ".join(left)))
        - _WORDS_OF_TIME
        - _EMPTY
        - frozenset(one for one in terms(text) if one.isdigit())
    )


def is_of_asker(text: str) -> bool:
    """Return True if the question is only about its author."""
    return _OF_ASKER.search(text) is not None


def is_about_oneself(text: str) -> bool:
    """Return True if a statement names no subject, or the user as one: "Visited the dentist", "Compré una bici"."""
    found = _HAPPENED.search(text[:_SAID])
    return text.lower().startswith("the user ") or (found is not None and found.start() == 0)


def asks_lately(text: str) -> bool:
    """Return True if the question is about the last weeks, without a number of them."""
    return _LATELY.search(text) is not None


def tells_what_happened(text: str) -> bool:
    """Return True if `text` reports an event, and not only a state."""
    return _HAPPENED.search(text[:_SAID]) is not None
