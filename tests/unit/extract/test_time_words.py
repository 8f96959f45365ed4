"""One reader of times: what six languages say of a time is read as the English for it is, in telling and in asking."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.questions.times import named_date
from mnemic.language.text.time_expressions import period_of, periods_in
from mnemic.language.text.time_words import in_english
from mnemic.policy.statement_dates import timed, times_in
from mnemic.types import Candidate
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)
TODAY = date(2026, 11, 4)  # a Wednesday
SAME = [
    ("two weeks ago", "vor zwei Wochen", "il y a deux semaines", "hace dos semanas", "due settimane fa",
     "há duas semanas", "twee weken geleden"),
    ("three months ago", "vor drei Monaten", "il y a trois mois", "hace tres meses", "tre mesi fa", "três meses atrás",
     "drie maanden geleden"),
    ("half a year ago", "vor einem halben Jahr", "il y a une demie année", "hace medio año", "mezzo anno fa",
     "há meio ano", "een half jaar geleden"),
    ("a year and a half ago", "vor anderthalb Jahren", "il y a un an et demi", "hace un año y medio",
     "un anno e mezzo fa", "há um ano e meio", "anderhalf jaar geleden"),
    ("a few days ago", "vor einigen Tagen", "il y a quelques jours", "hace unos días", "alcuni giorni fa",
     "há alguns dias", "enkele dagen geleden"),
    ("last Monday", "letzten Montag", "lundi dernier", "el lunes pasado", "lunedì scorso", "segunda-feira passada",
     "afgelopen maandag"),
    ("last week", "letzte Woche", "la semaine dernière", "la semana pasada", "la settimana scorsa", "a semana passada",
     "vorige week"),
    ("last year", "letztes Jahr", "l'année dernière", "el año pasado", "l'anno scorso", "o ano passado", "vorig jaar"),
    ("last summer", "letzten Sommer", "l'été dernier", "el verano pasado", "l'estate scorsa", "o verão passado",
     "afgelopen zomer"),
    ("in summer of 2024", "im Sommer 2024", "en été 2024", "en verano de 2024", "in estate 2024", "no verão de 2024",
     "in de zomer van 2024"),
    ("this month", "diesen Monat", "ce mois-ci", "este mes", "questo mese", "este mês", "deze maand"),
    ("yesterday", "gestern", "j'y étais hier", "ayer", "ieri", "ontem", "gisteren"),
    ("the day before yesterday", "vorgestern", "avant-hier", "anteayer", "l'altro ieri", "anteontem", "eergisteren"),
    ("3 March 2025", "3. März 2025", "3 mars 2025", "3 de marzo de 2025", "3 marzo 2025", "3 de março de 2025",
     "3 maart 2025"),
    ("since March 2025", "seit März 2025", "depuis mars 2025", "desde marzo de 2025", "da marzo 2025",
     "desde março de 2025", "sinds maart 2025"),
]  # fmt: skip
LANGUAGES = ("de", "fr", "es", "it", "pt", "nl")
CASES = [(english, words, language) for english, *told in SAME for language, words in zip(LANGUAGES, told, strict=True)]


@pytest.mark.parametrize(("english", "words", "language"), CASES)
def test_a_time_in_words_is_the_same_in_every_language(english: str, words: str, language: str) -> None:
    assert list(periods_in(words, TODAY)) == list(periods_in(english, TODAY)) != []


@pytest.mark.parametrize(
    "fortnight", ["il y a quinze jours", "hace quince días", "quindici giorni fa", "a fortnight ago"]
)
def test_fifteen_days_are_a_fortnight(fortnight: str) -> None:
    assert [period.day for period in periods_in(fortnight, TODAY)] == [date(2026, 10, 21)]


def test_what_is_no_time_is_left_alone() -> None:
    EXAMPLES.assert_right(lambda text: in_english(text) == text, "what_is_no_time_is_left_alone")


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("Ich wohne seit März 2025 in Ulm.", date(2025, 3, 1), None),
        ("J'habite à Tours depuis lundi.", date(2026, 11, 2), None),
        ("Trabajo en Renfe desde 2021.", date(2021, 1, 1), None),
        ("Resto a Bari fino a venerdì.", None, date(2026, 11, 7)),
        ("Ik ben weg tot vrijdag.", None, date(2026, 11, 7)),
        ("Fico cá até sexta.", None, date(2026, 11, 7)),
    ],
)
def test_a_statement_takes_its_bounds_from_them(text: str, since: date | None, until: date | None) -> None:
    found = times_in(text, datetime(2026, 11, 4, 9, tzinfo=UTC))
    assert (found.valid_from and found.valid_from.date(), found.valid_to and found.valid_to.date()) == (since, until)


def test_a_question_is_about_them() -> None:
    EXAMPLES.assert_right(
        lambda question: period_of(question, TODAY) == period_of("Where was I a week ago?", TODAY),
        "a_question_is_about_them",
    )


@pytest.mark.parametrize(
    "text",
    ["Am Montag bin ich umgezogen.", "El lunes me he mudado.", "Op maandag ben ik gevallen.", "On Monday I moved."],
)
def test_a_day_of_the_week_is_the_last_one_where_the_clause_is_in_the_past(text: str) -> None:
    found = times_in(text, datetime(2026, 11, 4, 9, tzinfo=UTC)).occurred_at
    assert found is not None
    assert found.date() == date(2026, 11, 2)


@pytest.mark.parametrize("text", ["Kleiner Tippfehler gestern: sie heißt Mari.", "A typo yesterday: her name is Mari."])
def test_the_day_of_a_slip_of_the_pen_is_not_that_of_the_fact(text: str) -> None:
    assert times_in(text, datetime(2026, 11, 4, 9, tzinfo=UTC)) == (None, None, None)


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("il y a quinze ans", "15 years ago"),
        ("hace quince meses", "15 months ago"),
        ("quindici giorni fa", "a fortnight ago"),
    ],
)
def test_fifteen_of_any_unit_is_read(said: str, read: str) -> None:
    assert in_english(said) == read


@pytest.mark.parametrize(
    "text", [said for same in SAME for said in same] + ["the sprıng of 2020", "what is on tonight?"]
)
@pytest.mark.parametrize("spelt", [{"i": "ı"}, {"s": "ſ"}, {"i": "İ", "I": "İ"}], ids=["dotless", "long", "dotted"])
def test_a_letter_that_a_pattern_takes_for_another_is_looked_up_as_that(text: str, spelt: dict[str, str]) -> None:
    looked_like = text.translate(str.maketrans(spelt))
    assert list(periods_in(looked_like, TODAY)) == list(periods_in(text, TODAY))
    assert times_in(looked_like, datetime(2026, 11, 4, 12, tzinfo=UTC)) == times_in(
        text, datetime(2026, 11, 4, 12, tzinfo=UTC)
    )
    assert named_date(looked_like) == named_date(text)


PHRASES = {
    "en": ("three days ago", "two weeks ago", "a fortnight ago", "half a year ago", "on Monday"),
    "de": ("vor drei Tagen", "vor zwei Wochen", "vor vierzehn Tagen", "vor einem halben Jahr", "am Montag"),
    "fr": ("il y a trois jours", "il y a deux semaines", "il y a quinze jours", "il y a une demi-année", "lundi"),
    "es": ("hace tres días", "hace dos semanas", "hace quince días", "hace medio año", "el lunes"),
    "it": ("tre giorni fa", "due settimane fa", "quindici giorni fa", "mezzo anno fa", "lunedì"),
    "pt": ("há três dias", "há duas semanas", "há quinze dias", "há meio ano", "na segunda-feira"),
    "nl": ("drie dagen geleden", "twee weken geleden", "veertien dagen geleden", "een half jaar geleden", "op maandag"),
}
DAYS = (date(2026, 11, 1), date(2026, 10, 21), date(2026, 10, 21), date(2026, 5, 6), date(2026, 11, 2))
TOLD = {
    "en": "I moved to Ghent {}.", "de": "Ich bin {} nach Gent gezogen.", "fr": "J'ai déménagé à Gand {}.",
    "es": "Me mudé a Gante {}.", "it": "Mi sono trasferita a Gand {}.", "pt": "Mudei-me para Gante {}.",
    "nl": "Ik ben {} naar Gent verhuisd.",
}  # fmt: skip
ASKED = {
    "en": "Where did I move {}?", "de": "Wohin bin ich {} gezogen?", "fr": "Où ai-je déménagé {} ?",
    "es": "¿A dónde me mudé {}?", "it": "Dove mi sono trasferita {}?", "pt": "Para onde me mudei {}?",
    "nl": "Waar ben ik {} naartoe verhuisd?",
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "phrase", "day"),
    [(language, *one) for language, phrases in PHRASES.items() for one in zip(phrases, DAYS, strict=True)],
)
def test_what_is_told_of_a_time_is_of_the_time_that_is_asked_for(language: str, phrase: str, day: date) -> None:
    found = times_in(TOLD[language].format(phrase), datetime(2026, 11, 4, 9, tzinfo=UTC))
    told, asked = found.occurred_at or found.valid_from, period_of(ASKED[language].format(phrase), TODAY)
    assert told is not None
    assert told.date() == day
    assert asked is not None
    assert asked.begin <= day <= asked.end


def test_a_verb_of_the_past_makes_a_day_of_the_week_the_last_one() -> None:
    def check(text: str) -> Any:
        found = times_in(text, datetime(2026, 11, 4, 9, tzinfo=UTC)).occurred_at
        return found is not None and found.date() == date(2026, 11, 2)

    EXAMPLES.assert_right(check, "a_verb_of_the_past_makes_a_day_of_the_week_the_last_one")


WEDNESDAY = datetime(2026, 11, 18, 15, 30, tzinfo=UTC)
SUNDAY = datetime(2026, 11, 22, 15, 30, tzinfo=UTC)


def midnight(day: str) -> datetime:
    return datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC)


def test_since_gives_the_beginning() -> None:
    EXAMPLES.assert_right(
        lambda text, day: times_in(text, WEDNESDAY) == (midnight(day), None, None), "since_gives_the_beginning"
    )


def test_until_a_day_gives_the_end_of_that_day() -> None:
    EXAMPLES.assert_right(
        lambda text, day: times_in(text, WEDNESDAY) == (None, midnight(day), None),
        "until_a_day_gives_the_end_of_that_day",
    )


@pytest.mark.parametrize(
    ("text", "said_at", "day"),
    [
        ("I broke my arm two weeks ago", WEDNESDAY, "2026-11-04"),
        ("I broke my arm 3 days ago", WEDNESDAY, "2026-11-15"),
        ("I broke my arm a week ago", WEDNESDAY, "2026-11-11"),
        ("I broke my arm yesterday", WEDNESDAY, "2026-11-17"),
        ("I broke my arm the day before yesterday", WEDNESDAY, "2026-11-16"),
        ("I broke my arm on May 3rd, 2019", WEDNESDAY, "2019-05-03"),
        ("I broke my arm on 3 May 2019", WEDNESDAY, "2019-05-03"),
        ("I broke my arm on 3 May", WEDNESDAY, "2026-05-03"),
        ("On the 3rd of May I moved to Leeds", WEDNESDAY, "2026-05-03"),
        ("I moved to Leeds on 2026/05/03", WEDNESDAY, "2026-05-03"),
        ("Ich bin am 03.05.2026 nach Bonn gezogen", WEDNESDAY, "2026-05-03"),
        ("Ich bin am 3. Mai nach Bonn gezogen", WEDNESDAY, "2026-05-03"),
        ("J'ai déménagé à Lyon le 3 mai", WEDNESDAY, "2026-05-03"),
        ("Me mudé a Sevilla el 3 de mayo", WEDNESDAY, "2026-05-03"),
        ("Mi sono trasferito a Torino il 3 maggio", WEDNESDAY, "2026-05-03"),
        ("Mudei-me para Braga em 3 de maio", WEDNESDAY, "2026-05-03"),
        ("Ik ben op 3 mei naar Utrecht verhuisd", WEDNESDAY, "2026-05-03"),
        ("My exam is in three weeks", WEDNESDAY, "2026-12-09"),
        ("I'm moving to Oslo in three weeks", WEDNESDAY, "2026-12-09"),
        ("I will be home in 3 days", WEDNESDAY, "2026-11-21"),
        ("The report's due in two days", WEDNESDAY, "2026-11-20"),
        ("I checked in two weeks ago", WEDNESDAY, "2026-11-04"),
        ("My exam is next Friday", SUNDAY, "2026-11-27"),
        ("My exam is next Tuesday", WEDNESDAY, "2026-11-24"),
        ("I saw Ann last Friday", WEDNESDAY, "2026-11-13"),
        ("The match is tomorrow", WEDNESDAY, "2026-11-19"),
    ],
)
def test_a_day_is_when_it_happens(text: str, said_at: datetime, day: str) -> None:
    assert times_in(text, said_at) == (None, None, midnight(day))


def test_nothing_is_guessed() -> None:
    EXAMPLES.assert_right(lambda text: times_in(text, WEDNESDAY), "nothing_is_guessed")


def test_the_day_is_that_of_the_speakers_zone() -> None:
    late = datetime(2026, 11, 18, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    assert times_in("I saw Ann yesterday", late).occurred_at == midnight("2026-11-17")


def test_a_candidate_takes_what_it_has_not() -> None:
    plain = Candidate(content="lives in Oslo", occurred_at=WEDNESDAY)
    assert timed(plain, "since March", WEDNESDAY).valid_from == midnight("2026-03-01")
    assert timed(plain, "since March", WEDNESDAY).occurred_at == WEDNESDAY
    assert timed(plain, "two weeks ago", WEDNESDAY).occurred_at == midnight("2026-11-04")
    assert timed(plain, "two weeks ago", None) == plain
    keyed = Candidate(content="Oslo", key="home_city", occurred_at=WEDNESDAY, valid_from=midnight("2020-01-01"))
    assert timed(keyed, "yesterday", WEDNESDAY).occurred_at == WEDNESDAY
    assert timed(keyed, "since March", WEDNESDAY).valid_from == midnight("2020-01-01")


@given(
    st.text(alphabet="since until last next may march friday 0123456789-,", max_size=60),
    st.datetimes(datetime(1990, 1, 1), datetime(2038, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_any_text_gives_times_in_order(text: str, said_at: datetime) -> None:
    found = times_in(text, said_at)
    assert found.valid_from is None or found.valid_from <= said_at
    assert found.valid_to is None or found.valid_to > said_at


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("I moved to Lund in March 2025.", (2025, 3)),
        ("I moved to Lund in March 2025. Before that I lived in Malmö.", (2025, 3)),
        ("I started at Zeiss in May 2024.", (2024, 5)),
        ("Ich bin im März 2025 nach Lund gezogen.", (2025, 3)),
        ("J'ai déménagé à Lund en mars 2025.", (2025, 3)),
        ("Me mudé a Lund en marzo de 2025.", (2025, 3)),
        ("Mi sono trasferito a Lund a marzo 2025.", (2025, 3)),
        ("Mudei-me para Lund em março de 2025.", (2025, 3)),
        ("Ik ben in maart 2025 naar Lund verhuisd.", (2025, 3)),
        ("I moved to Lund in 2019.", (2019, 1)),
    ],
)
def test_a_change_in_a_month_or_a_year_begins_with_its_first_day(text: str, since: tuple[int, int]) -> None:
    assert times_in(text, datetime(2026, 3, 2, 9, tzinfo=UTC)).valid_from == datetime(*since, 1, tzinfo=UTC)


@pytest.mark.parametrize("text", ["I'm moving to Lund in June.", "I was born in March 1990.", "I'll move in May 2027."])
def test_what_changes_nothing_yet_or_never_changed_begins_no_day(text: str) -> None:
    assert times_in(text, datetime(2026, 3, 2, 9, tzinfo=UTC)).valid_from is None
