"""Dates and times as people write them."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic_travel.dates import Date, find_dates, find_times, is_american
from mnemic_travel.months import month_named


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("TUE 07 JUNE 2016", [(7, 6, 2016)]),
        ("07 JUN 12:10", [(7, 6, None)]),
        ("20-Jul 20-Jul", [(20, 7, None), (20, 7, None)]),
        ("05-Juni-2017", [(5, 6, 2017)]),
        ("am 3. März 2018", [(3, 3, 2018)]),
        ("5 de noviembre de 2017", [(5, 11, 2017)]),
        ("le 1er août 2018", [(1, 8, 2018)]),
        ("14 janv. 2018", [(14, 1, 2018)]),
        ("Nov 5, 2017 and November 6th", [(5, 11, 2017), (6, 11, None)]),
        ("09JAN", [(9, 1, None)]),
        ("23.04.2017 | 15/06/17 | 2017-06-15T10:00", [(23, 4, 2017), (15, 6, 2017), (15, 6, 2017)]),
        ("06/15/2017", [(15, 6, 2017)]),
        ("2017年6月15日", [(15, 6, 2017)]),
        ("am 10.3. und am 11.3.", [(10, 3, None), (11, 3, None)]),
        ("version 1.2.3, 99 Foo 2017, 45.13.2017, 978.44", []),
    ],
)
def test_dates(text: str, dates: list[tuple[int, int, int | None]]) -> None:
    assert [(day.day, day.month, day.year) for _, _, day in find_dates(text)] == dates


def test_with_am_and_pm_the_month_comes_first() -> None:
    text = "03/04/2027 8:15 PM"
    assert is_american(text)
    assert [day for *_, day in find_dates(text, american=is_american(text))] == [Date(4, 3, 2027)]
    assert not is_american("03/04/2027 20:15")


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("12:10", ["12:10"]),
        ("8:15 PM, 12:05 a.m., 9am", ["20:15", "00:05", "09:00"]),
        ("18h05 et 10.30 Uhr", ["18:05", "10:30"]),
        ("23.04.2017 11:09:45", ["11:09"]),
        ("25:10, 12:61, 978.44, 10:30kg", []),
    ],
)
def test_times(text: str, times: list[str]) -> None:
    assert [str(clock) for *_, clock in find_times(text)] == times


def test_a_day_later() -> None:
    assert [clock.days_later for *_, clock in find_times("22:00 +1, 23:00 (+2 days), 21:00")] == [1, 2, 0]


def test_a_date_without_a_year_is_the_next_one() -> None:
    sent = date(2017, 12, 29)
    assert Date(20, 7).resolve_date(sent) == date(2018, 7, 20)
    assert Date(30, 12).resolve_date(sent) == date(2017, 12, 30)
    assert Date(27, 12).resolve_date(sent) == date(2017, 12, 27)
    assert Date(29, 2).resolve_date(date(2019, 3, 1)) == date(2020, 2, 29)
    assert Date(20, 7).resolve_date(None) is None
    assert Date(31, 2, 2018).resolve_date(sent) is None


@given(st.dates(min_value=date(2000, 1, 1), max_value=date(2099, 12, 31)))
def test_every_day_is_read_in_every_spelling(day: date) -> None:
    for spelling in ("%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%d-%b-%Y", "%b %d, %Y"):
        assert [found.resolve_date(None) for *_, found in find_dates(day.strftime(spelling))] == [day]


def test_months_are_known_by_name_and_by_abbreviation() -> None:
    assert [month_named(name) for name in ("März", "MRZ", "août", "Dez.", "lipca", "marraskuuta", "jui", "foo")] == [
        3, 3, 8, 12, 7, 11, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["MAR 6 giugno 2017", "MAR 6 juin 2017", "Mar 6 de junio de 2017"])
def test_the_abbreviation_of_a_weekday_is_no_month_before_a_date(text: str) -> None:
    assert [found for _, _, found in find_dates(text)] == [Date(6, 6, 2017)]
