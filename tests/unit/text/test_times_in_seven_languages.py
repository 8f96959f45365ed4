"""One reader of times for telling and asking, in seven languages: days, weeks, a fortnight, half a year, a weekday."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

import pytest

from mnemic.language.text.time_expressions import period_of
from mnemic.policy.statement_dates import times_in

WEDNESDAY = datetime(2026, 5, 6, 12, tzinfo=UTC)


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I saw Ana yesterday.", date(2026, 5, 5)),
        ("Gestern habe ich Ana gesehen.", date(2026, 5, 5)),
        ("Hier j'ai vu Ana.", date(2026, 5, 5)),
        ("Ayer vi a Ana.", date(2026, 5, 5)),
        ("Ieri ho visto Ana.", date(2026, 5, 5)),
        ("Ontem vi a Ana.", date(2026, 5, 5)),
        ("Gisteren heb ik Ana gezien.", date(2026, 5, 5)),
        ("I saw Ana three days ago.", date(2026, 5, 3)),
        ("Vor drei Tagen habe ich Ana gesehen.", date(2026, 5, 3)),
        ("J'ai vu Ana il y a trois jours.", date(2026, 5, 3)),
        ("Vi a Ana hace tres días.", date(2026, 5, 3)),
        ("Ho visto Ana tre giorni fa.", date(2026, 5, 3)),
        ("Vi a Ana há três dias.", date(2026, 5, 3)),
        ("Drie dagen geleden heb ik Ana gezien.", date(2026, 5, 3)),
        ("I moved two weeks ago.", date(2026, 4, 22)),
        ("Ich bin vor zwei Wochen umgezogen.", date(2026, 4, 22)),
        ("J'ai déménagé il y a deux semaines.", date(2026, 4, 22)),
        ("Me mudé hace dos semanas.", date(2026, 4, 22)),
        ("Mi sono trasferito due settimane fa.", date(2026, 4, 22)),
        ("Mudei-me há duas semanas.", date(2026, 4, 22)),
        ("Ik ben twee weken geleden verhuisd.", date(2026, 4, 22)),
        ("I moved a fortnight ago.", date(2026, 4, 22)),
        ("Ich bin vor vierzehn Tagen umgezogen.", date(2026, 4, 22)),
        ("J'ai déménagé il y a quinze jours.", date(2026, 4, 22)),
        ("Me mudé hace quince días.", date(2026, 4, 22)),
        ("Mi sono trasferito quindici giorni fa.", date(2026, 4, 22)),
        ("Mudei-me há quinze dias.", date(2026, 4, 22)),
        ("Ik ben veertien dagen geleden verhuisd.", date(2026, 4, 22)),
        ("I saw Ana on Monday.", date(2026, 5, 4)),
        ("Am Montag habe ich Ana gesehen.", date(2026, 5, 4)),
        ("J'ai vu Ana lundi.", date(2026, 5, 4)),
        ("El lunes vi a Ana.", date(2026, 5, 4)),
        ("Lunedì ho visto Ana.", date(2026, 5, 4)),
        ("Na segunda-feira vi a Ana.", date(2026, 5, 4)),
        ("Maandag heb ik Ana gezien.", date(2026, 5, 4)),
    ],
)
def test_a_day_is_that_of_what_is_told(text: str, day: date) -> None:
    assert times_in(text, WEDNESDAY) == (None, None, midnight(day))


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I moved two years ago.", date(2024, 5, 6)),
        ("I moved half a year ago.", date(2025, 11, 5)),
        ("Ich bin vor einem halben Jahr umgezogen.", date(2025, 11, 5)),
        ("Me mudé hace medio año.", date(2025, 11, 5)),
        ("Mi sono trasferito mezzo anno fa.", date(2025, 11, 5)),
        ("Mudei-me há meio ano.", date(2025, 11, 5)),
        ("Ik ben een half jaar geleden verhuisd.", date(2025, 11, 5)),
        ("I moved to Bergen last week.", date(2026, 4, 27)),
        ("Letzte Woche bin ich nach Bergen gezogen.", date(2026, 4, 27)),
        ("J'ai déménagé à Bergen la semaine dernière.", date(2026, 4, 27)),
        ("Me mudé a Bergen la semana pasada.", date(2026, 4, 27)),
        ("Mi sono trasferito a Bergen la settimana scorsa.", date(2026, 4, 27)),
        ("Mudei-me para Bergen na semana passada.", date(2026, 4, 27)),
        ("Vorige week ben ik naar Bergen verhuisd.", date(2026, 4, 27)),
        ("I moved to Bergen last month.", date(2026, 4, 1)),
        ("Letzten Monat bin ich nach Bergen gezogen.", date(2026, 4, 1)),
        ("J'ai déménagé à Bergen le mois dernier.", date(2026, 4, 1)),
        ("Me mudé a Bergen el mes pasado.", date(2026, 4, 1)),
        ("Mi sono trasferito a Bergen il mese scorso.", date(2026, 4, 1)),
        ("Mudei-me para Bergen no mês passado.", date(2026, 4, 1)),
        ("Vorige maand ben ik naar Bergen verhuisd.", date(2026, 4, 1)),
        ("I moved to Bergen last year.", date(2025, 1, 1)),
        ("Letztes Jahr bin ich nach Bergen gezogen.", date(2025, 1, 1)),
        ("J'ai déménagé à Bergen l'année dernière.", date(2025, 1, 1)),
        ("Me mudé a Bergen el año pasado.", date(2025, 1, 1)),
        ("Mi sono trasferito a Bergen l'anno scorso.", date(2025, 1, 1)),
        ("Mudei-me para Bergen no ano passado.", date(2025, 1, 1)),
        ("Vorig jaar ben ik naar Bergen verhuisd.", date(2025, 1, 1)),
        ("I moved to Bergen two months ago.", date(2026, 3, 7)),
        ("Ich bin vor zwei Monaten nach Bergen gezogen.", date(2026, 3, 7)),
        ("J'ai déménagé à Bergen il y a deux mois.", date(2026, 3, 7)),
        ("Me mudé a Bergen hace dos meses.", date(2026, 3, 7)),
        ("Mi sono trasferito a Bergen due mesi fa.", date(2026, 3, 7)),
        ("Mudei-me para Bergen há dois meses.", date(2026, 3, 7)),
        ("Ik ben twee maanden geleden naar Bergen verhuisd.", date(2026, 3, 7)),
    ],
)
def test_a_change_at_a_longer_time_dates_what_holds_since(text: str, day: date) -> None:
    assert times_in(text, WEDNESDAY) == (midnight(day), None, None)


@pytest.mark.parametrize("text", ["I saw Ana last week.", "It rained last month.", "Letzte Woche war ich müde."])
def test_what_changes_nothing_is_not_dated_by_a_longer_time(text: str) -> None:
    assert times_in(text, WEDNESDAY) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ("What did I do yesterday?", date(2026, 5, 5), date(2026, 5, 5)),
        ("Was habe ich gestern gemacht?", date(2026, 5, 5), date(2026, 5, 5)),
        ("Qu'est-ce que j'ai fait hier ?", date(2026, 5, 5), date(2026, 5, 5)),
        ("¿Qué hice ayer?", date(2026, 5, 5), date(2026, 5, 5)),
        ("Che cosa ho fatto ieri?", date(2026, 5, 5), date(2026, 5, 5)),
        ("O que fiz ontem?", date(2026, 5, 5), date(2026, 5, 5)),
        ("Wat heb ik gisteren gedaan?", date(2026, 5, 5), date(2026, 5, 5)),
        ("What did I do three days ago?", date(2026, 5, 2), date(2026, 5, 4)),
        ("Was habe ich vor drei Tagen gemacht?", date(2026, 5, 2), date(2026, 5, 4)),
        ("Qu'ai-je fait il y a trois jours ?", date(2026, 5, 2), date(2026, 5, 4)),
        ("¿Qué hice hace tres días?", date(2026, 5, 2), date(2026, 5, 4)),
        ("Cosa ho fatto tre giorni fa?", date(2026, 5, 2), date(2026, 5, 4)),
        ("O que fiz há três dias?", date(2026, 5, 2), date(2026, 5, 4)),
        ("Wat heb ik drie dagen geleden gedaan?", date(2026, 5, 2), date(2026, 5, 4)),
        ("Where was I two weeks ago?", date(2026, 4, 18), date(2026, 4, 26)),
        ("Wo war ich vor zwei Wochen?", date(2026, 4, 18), date(2026, 4, 26)),
        ("Où étais-je il y a deux semaines ?", date(2026, 4, 18), date(2026, 4, 26)),
        ("¿Dónde estaba hace dos semanas?", date(2026, 4, 18), date(2026, 4, 26)),
        ("Dov'ero due settimane fa?", date(2026, 4, 18), date(2026, 4, 26)),
        ("Onde estava há duas semanas?", date(2026, 4, 18), date(2026, 4, 26)),
        ("Waar was ik twee weken geleden?", date(2026, 4, 18), date(2026, 4, 26)),
        ("Where was I a fortnight ago?", date(2026, 4, 18), date(2026, 4, 26)),
        ("Wo war ich vor vierzehn Tagen?", date(2026, 4, 18), date(2026, 4, 26)),
        ("Où étais-je il y a quinze jours ?", date(2026, 4, 18), date(2026, 4, 26)),
        ("¿Dónde estaba hace quince días?", date(2026, 4, 18), date(2026, 4, 26)),
        ("Dov'ero quindici giorni fa?", date(2026, 4, 18), date(2026, 4, 26)),
        ("Onde estava há quinze dias?", date(2026, 4, 18), date(2026, 4, 26)),
        ("Waar was ik veertien dagen geleden?", date(2026, 4, 18), date(2026, 4, 26)),
        ("Where did I live half a year ago?", date(2025, 9, 5), date(2026, 1, 5)),
        ("Wo wohnte ich vor einem halben Jahr?", date(2025, 9, 5), date(2026, 1, 5)),
        ("¿Dónde vivía hace medio año?", date(2025, 9, 5), date(2026, 1, 5)),
        ("Dove abitavo mezzo anno fa?", date(2025, 9, 5), date(2026, 1, 5)),
        ("Onde vivia há meio ano?", date(2025, 9, 5), date(2026, 1, 5)),
        ("Waar woonde ik een half jaar geleden?", date(2025, 9, 5), date(2026, 1, 5)),
        ("What did I eat on Monday?", date(2026, 5, 4), date(2026, 5, 4)),
        ("Was habe ich am Montag gegessen?", date(2026, 5, 4), date(2026, 5, 4)),
        ("Qu'ai-je mangé lundi ?", date(2026, 5, 4), date(2026, 5, 4)),
        ("¿Qué comí el lunes?", date(2026, 5, 4), date(2026, 5, 4)),
        ("Cosa ho mangiato lunedì?", date(2026, 5, 4), date(2026, 5, 4)),
        ("O que comi na segunda-feira?", date(2026, 5, 4), date(2026, 5, 4)),
        ("Wat heb ik maandag gegeten?", date(2026, 5, 4), date(2026, 5, 4)),
        ("Where was I last week?", date(2026, 4, 27), date(2026, 5, 3)),
        ("Wo war ich letzte Woche?", date(2026, 4, 27), date(2026, 5, 3)),
        ("Où étais-je la semaine dernière ?", date(2026, 4, 27), date(2026, 5, 3)),
        ("¿Dónde estaba la semana pasada?", date(2026, 4, 27), date(2026, 5, 3)),
        ("Dov'ero la settimana scorsa?", date(2026, 4, 27), date(2026, 5, 3)),
        ("Onde estava na semana passada?", date(2026, 4, 27), date(2026, 5, 3)),
        ("Waar was ik vorige week?", date(2026, 4, 27), date(2026, 5, 3)),
        ("Where was I last month?", date(2026, 4, 1), date(2026, 4, 30)),
        ("Wo war ich letzten Monat?", date(2026, 4, 1), date(2026, 4, 30)),
        ("Où étais-je le mois dernier ?", date(2026, 4, 1), date(2026, 4, 30)),
        ("¿Dónde estaba el mes pasado?", date(2026, 4, 1), date(2026, 4, 30)),
        ("Dov'ero il mese scorso?", date(2026, 4, 1), date(2026, 4, 30)),
        ("Onde estava no mês passado?", date(2026, 4, 1), date(2026, 4, 30)),
        ("Waar was ik vorige maand?", date(2026, 4, 1), date(2026, 4, 30)),
    ],
)
def test_a_question_means_the_same_days(text: str, begin: date, end: date) -> None:
    found = period_of(text, WEDNESDAY.date())
    assert found is not None
    assert (found.begin, found.end) == (begin, end)
