"""Time expressions in German, French, Spanish, Italian, Portuguese and Dutch, translated for the English parser.

There is one parser (`mnemic.language.text.time_expressions`), and its grammar is English: "vor zwei Wochen" becomes
"two weeks ago". Other text is not changed; only the parser uses the result.

The names of months in six languages are here by the number of the month. Some are words of another language ("mayo",
"mars"): such a word counts only after a preposition or a day, or before a year.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable

from mnemic.language.text.pattern import Pattern, plain_letters

_NAMES = (
    "januar jänner janvier enero gennaio janeiro januari",
    "februar feber février febrero febbraio fevereiro februari",
    "märz mars marzo março maart",
    "april avril abril aprile",
    "mai mayo maggio maio mei",
    "juni juin junio giugno junho",
    "juli juillet julio luglio julho",
    "august août aout agosto augustus",
    "september septembre septiembre settembre setembro",
    "oktober octobre octubre ottobre outubro",
    "november novembre noviembre novembro",
    "dezember décembre diciembre dicembre dezembro december",
)
MONTH_NUMBERS = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}
_NAME = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_MONTH = Pattern(
    rf"\b(?:(?P<day>\d{{1,2}})\.?(?: de| di)? |(?:im|am|seit|bis|vom|en|au|de|du|depuis|desde|em|in|dal?|nel|vanaf"
    rf"|sinds|van|mois de|mois d')\s?)(?P<name>{_NAME})\b|\b(?P<dated>{_NAME})(?=\s(?:de\s|del\s)?(?:19|20)\d\d\b)",
    re.IGNORECASE,
)


def named_month(text: str) -> tuple[int, int | None] | None:
    """Return the number of the first month that `text` names in one of these languages, and the day before it."""
    found = _MONTH.search(plain_letters(text))
    if found is None:
        return None
    name = found["name"] or found["dated"]
    return MONTH_NUMBERS[name.lower()], int(found["day"]) if found["day"] else None


WEEKDAYS = tuple(name.lower() for name in calendar.day_name)
"""Monday first, as in `date.weekday`."""
MONTHS = tuple(name.lower() for name in calendar.month_name)
"""Index: the number of the month; the first is empty."""
COUNTS = dict(zip("one two three four five six seven eight nine ten eleven twelve".split(), range(1, 13), strict=True))
COUNTS |= {"a": 1, "an": 1}


_UNITS = {
    "minute": "minuten minuto minutos minuti minuut",
    "hour": "stunde stunden heure heures hora horas ora ore uur uren",
    "day": "tag tage tagen jour jours día días dia dias giorno giorni dag dagen",
    "week": "woche wochen semaine semaines semana semanas settimana settimane week weken",
    "weekend": "wochenende week-end weekend finde",
    "month": "monat monate monaten mois mes meses mese mesi mês maand maanden",
    "year": "jahr jahre jahren an ans année années año años anno anni ano anos jaar jaren",
}
NUMBERS = {
    "one": "ein eine einen einem einer un une uno una um uma een één",
    "two": "zwei deux dos due dois duas twee",
    "three": "drei trois tres tre três drie",
    "four": "vier quatre cuatro quattro quatro",
    "five": "fünf cinq cinco cinque vijf",
    "six": "sechs six seis sei zes",
    "seven": "sieben siete sette sete zeven",
    "eight": "acht huit ocho otto oito",
    "nine": "neun neuf nueve nove negen",
    "ten": "zehn dix diez dieci dez tien",
    "eleven": "elf onze once undici",
    "twelve": "zwölf douze doce dodici doze twaalf",
    "fourteen": "vierzehn quatorze catorce quattordici veertien",
    "15": "quinze quince quindici",
    "few": "einigen quelques unos unas algunos algunas alcuni alcune alguns algumas enkele",
    "couple": "paar",
}
DAYS = {
    "monday": "montag lundi lunes lunedì segunda segunda-feira maandag",
    "tuesday": "dienstag mardi martes martedì terça terça-feira dinsdag",
    "wednesday": "mittwoch mercredi miércoles mercoledì quarta quarta-feira woensdag",
    "thursday": "donnerstag jeudi jueves giovedì quinta quinta-feira donderdag",
    "friday": "freitag vendredi viernes venerdì sexta sexta-feira vrijdag",
    "saturday": "samstag samedi sábado sabato zaterdag",
    "sunday": "sonntag dimanche domingo domenica zondag",
}
_SEASONS = {
    "spring": "frühling frühjahr printemps primavera lente voorjaar",
    "summer": "sommer été verano estate verão zomer",
    "autumn": "herbst automne otoño autunno outono herfst najaar",
    "winter": "winter hiver invierno inverno",
}
_NEAR = {
    "the day before yesterday": "vorgestern|avant-hier|anteayer|antes de ayer|l'altro ieri|anteontem|eergisteren",
    "yesterday": "gestern|ayer|ieri|ontem|gisteren",
    "this morning": "heute morgen|heute früh|ce matin|esta mañana|stamattina|stamani|esta manhã|vanochtend|vanmorgen",
    "this evening": "heute abend|ce soir|esta noche|stasera|esta noite|vanavond",
    "today": "heute|aujourd'hui|hoy|oggi|hoje|vandaag",
    "the day after tomorrow": "übermorgen|après-demain|pasado mañana|dopodomani|depois de amanhã|overmorgen",
    "tomorrow": r"(?<!am\s)(?<!guten\s)(?<!heute\s)morgen|demain|(?<!la\s)(?<!por\s)mañana|domani|amanhã",
}


def _by_word(groups: dict[str, str]) -> dict[str, str]:
    return {word: name for name, words in groups.items() for word in words.split()}


def _any(words: Iterable[str]) -> str:
    return "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")"


_UNIT_OF, _NUMBER_OF, _DAY_OF, _SEASON_OF = map(_by_word, (_UNITS, NUMBERS, DAYS, _SEASONS))
_U, _D, _S, _M = (rf"({_any(words)})" for words in (_UNIT_OF, _DAY_OF, _SEASON_OF, MONTH_NUMBERS))
_N = rf"(?:ein |een |um |un )?(\d{{1,3}}|{_any(_NUMBER_OF)})(?: de)?"
_LAST = (
    r"(?:letzte[nsrm]?|vorige[nsrm]?|vergangene[nsrm]?|voriges|vorig|afgelopen|scors[oa]|últim[oa]|ultim[oa]|pasad[oa])"
)
_GONE = r"(?:derni[èe]re?|pasad[oa]|scors[oa]|passad[oa])"
_COMING = r"(?:nächste[nsrm]?|kommende[nsrm]?|volgende|komende|aanstaande|próxim[oa]|prossim[oa])"
_TO_COME = r"(?:prochaine?|próxim[oa]|que viene|prossim[oa]|que vem)"
_THIS = r"(?:diese[nsrm]?|cette|cet|ce|est[ea]|quest[oa]|deze|dit|in diesem)"
_SINCE = r"(?:seit|ab|depuis|desde|da|dal|vanaf|sinds)(?: dem| de| el| le| il)?"
_UNTIL = r"(?:bis(?: zum)?|jusqu'(?:à|au|en)(?: le)?|hasta(?: el)?|fino (?:a|al|alla)|até(?: à| ao)?|tot)"
_ON = r"(?:am|on|el(?: día)?|le|il|em|no dia|a|op)"
_DATE = rf"(\d{{1,2}})(?:\.|er|º|°| de| di)? {_M}(?:(?:,| de| del)? ((?:19|20)\d\d))?(?! ?\d)"
_DOTTED = r"(\d{1,2})\.(0?[1-9]|1[0-2])\.((?:19|20)\d\d)"
"""Day, month and year with points between them, which are in this order in every language that has them."""
_FRENCH = re.compile(r"(?i)\b(?:je|j'\w+|on|nous|il|elle|est|c'est|mon|ma|mes|le|la|les|où|quel\w*)\b")
_HERE = re.compile(r"(?i)\b(?:ich|wir|ist|sind|der|die|das|ik|wij|het|een|bin|bij)\b")
"""Words that indicate that "hier" means "here"."""


def _number(word: str) -> str:
    low = word.lower()
    return low if low.isdigit() else _NUMBER_OF[low]


def _ago(found: re.Match[str]) -> str:
    number, unit = next((found[i], found[i + 1]) for i in range(1, 13, 2) if found[i])
    name = _UNIT_OF[unit.lower()]
    counted = _number(number)
    if name == "day" and counted == "15":
        return "a fortnight ago"
    return f"{'a ' if counted in ('few', 'couple') else ''}{counted} {name}s ago"


def _day(word: str) -> str:
    return _DAY_OF[word.lower()]


def _month(word: str) -> str:
    return MONTHS[MONTH_NUMBERS[word.lower()]]


def _dated(word: str) -> Callable[[re.Match[str]], str]:
    def read(found: re.Match[str]) -> str:
        day, month, year = found.groups()
        named = MONTHS[int(month)] if month.isdigit() else _month(month)
        return f"{word} {day} {named}{' ' + year if year else ''}"

    return read


def _first(found: re.Match[str]) -> str:
    return next(group for group in found.groups() if group)


def _pattern(text: str) -> Pattern:
    return Pattern(rf"(?<![\w'])(?:{text})(?!\w)".replace(" ", r"\s+"), re.IGNORECASE)


_AGO = "|".join(
    part.replace("N", _N).replace("U", _U)
    for part in (
        "vor N U",
        "il y a N U",
        r"(?<!desde\s)hace N U",
        "N U fa",
        "h[áa] N U(?: atrás)?",
        "N U (?:geleden|atrás)",
    )
)
_READ: tuple[tuple[Pattern, Callable[[re.Match[str]], str]], ...] = (
    (
        _pattern(
            r"vor einem halben jahr|il y a une? demie?(?: |-)année|hace medio año|mezzo anno fa|há meio ano"
            r"|meio ano atrás|een half jaar geleden"
        ),
        lambda _: "half a year ago",
    ),
    (
        _pattern(
            r"vor (?:anderthalb|eineinhalb) jahren|il y a un an et demi|hace (?:un )?año y medio|un anno e mezzo fa"
            r"|há um ano e meio|anderhalf jaar geleden"
        ),
        lambda _: "a year and a half ago",
    ),
    (_pattern(_AGO), _ago),
    *((_pattern(words), lambda _, name=name: name) for name, words in _NEAR.items()),
    (_pattern(rf"{_LAST} {_D}|{_D} {_GONE}"), lambda found: f"last {_day(_first(found))}"),
    (_pattern(rf"{_COMING} {_D}|{_D} {_TO_COME}"), lambda found: f"next {_day(_first(found))}"),
    (
        _pattern(rf"{_LAST} {_S}|(?:l'|el |o |il |la )?{_S} {_GONE}"),
        lambda found: f"last {_SEASON_OF[_first(found).lower()]}",
    ),
    (
        _pattern(rf"(?:im|en|en el|nell'|in|no|na|in de|au) ?{_S} (?:de |del |van )?(\d{{4}})"),
        lambda found: f"in {_SEASON_OF[found[1].lower()]} of {found[2]}",
    ),
    (
        _pattern(rf"{_LAST} {_U}|(?:le |la |l'|el |il |o |a )?{_U} {_GONE}|(?:el|o) fin de semana pasado"),
        lambda found: f"last {_UNIT_OF[_first(found).lower()] if any(found.groups()) else 'weekend'}",
    ),
    (_pattern(rf"{_THIS} ?{_U}(?:-ci)?|quest'(anno)"), lambda found: f"this {_UNIT_OF[_first(found).lower()]}"),
    *(
        (_pattern(f"{before} {day}"), _dated(word))
        for before, word in ((_SINCE, "since"), (_UNTIL, "until"), (_ON, "on"), ("since", "since"), ("until", "until"))
        for day in (_DATE, _DOTTED)
    ),
    (
        _pattern(rf"(\d{{1,2}})(?:\.|er|º| de| di)? {_M}(?:,| de| del)? (\d{{4}})"),
        lambda found: f"{found[1]} {_month(found[2])} {found[3]}",
    ),
    (_pattern(rf"{_SINCE} {_D}"), lambda found: f"since {_day(found[1])}"),
    (_pattern(rf"{_UNTIL} {_D}"), lambda found: f"until {_day(found[1])}"),
    (
        _pattern(rf"{_SINCE} {_M}(?:(?: de| del)? (\d{{4}}))?"),
        lambda found: f"since {_month(found[1])}{' ' + found[2] if found[2] else ''}",
    ),
    (_pattern(rf"{_SINCE} ((?:19|20)\d\d)"), lambda found: f"since {found[1]}"),
    (
        _pattern(rf"(?:im|in|en|au mois d[e']|em|nel|a|ad|no mês de) ?{_M}(?: de| del|,)? ((?:19|20)\d\d)"),
        lambda found: f"in {_month(found[1])} {found[2]}",
    ),
    (_pattern(rf"(?:im|in|en|em|nel) {_M}"), lambda found: f"in {_month(found[1])}"),
    (_pattern(r"(?:im jahre?|en|nel|em|in het jaar) ((?:19|20)\d\d)"), lambda found: f"in {found[1]}"),
    (_pattern(rf"(?:am|op|em|na|no|el|este) {_D}"), lambda found: f"on {_day(found[1])}"),
    (
        _pattern(r"(maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag)(?=,? (?:heb|ben|was|had|ging|\w*ge\w+))"),
        lambda found: f"on {_day(found[1])}",
    ),
    (_pattern(r"(?<!le\s)(?<!il\s)(lundi|mardi|mercredi|jeudi|vendredi|lunedì|martedì|mercoledì|giovedì|venerdì)"),
     lambda found: f"on {_day(found[1])}"),
)  # fmt: skip
_MAY_TELL = Pattern(
    rf"(?<!\w)(?:{_any([*_UNIT_OF, *_DAY_OF, *_SEASON_OF, *MONTH_NUMBERS])}|hier|(?:19|20)\d\d"
    rf"|{'|'.join(words for words in _NEAR.values())})(?!\w)",
    re.IGNORECASE,
)


def in_english(text: str) -> str:
    """Return `text` with its times in one of these languages translated into English, and everything else unchanged."""
    text = plain_letters(text).replace("’", "'")
    if _MAY_TELL.search(text) is None:
        return text
    if _FRENCH.search(text) and not _HERE.search(text):
        text = re.sub(r"(?i)(?<![\w-])hier(?!\w)", "yesterday", text)
    for pattern, reading in _READ:
        text = pattern.sub(reading, text)
    return text
