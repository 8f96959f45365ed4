from __future__ import annotations

from datetime import UTC, date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.text.time_expressions import Period, period_of
from mnemic.policy.statement_dates import times_in
from mnemic.retrieve.question import read_question

ASKED = date(2024, 5, 15)
"""A Wednesday."""


@pytest.mark.parametrize(
    ("query", "begin", "end"),
    [
        ("What did I buy two weeks ago?", date(2024, 4, 27), date(2024, 5, 5)),
        ("what was it 3 days ago", date(2024, 5, 11), date(2024, 5, 13)),
        ("Whom did I meet a couple of months ago?", date(2024, 2, 29), date(2024, 4, 1)),
        ("and a year ago?", date(2023, 1, 14), date(2023, 9, 15)),
        ("How often did I bake in the past two weeks?", date(2024, 5, 1), ASKED),
        ("over the last 10 days", date(2024, 5, 5), ASKED),
        ("last week", date(2024, 5, 6), date(2024, 5, 12)),
        ("last weekend", date(2024, 5, 10), date(2024, 5, 12)),
        ("this month", date(2024, 5, 1), ASKED),
        ("last month", date(2024, 4, 1), date(2024, 4, 30)),
        ("last year", date(2023, 1, 1), date(2023, 12, 31)),
        ("last spring", date(2023, 3, 1), date(2023, 5, 31)),
        ("this spring", date(2024, 3, 1), date(2024, 5, 31)),
        ("in the summer", date(2023, 6, 1), date(2023, 8, 31)),
        ("last winter", date(2023, 12, 1), date(2024, 2, 29)),
        ("in autumn of 2021", date(2021, 9, 1), date(2021, 11, 30)),
        ("last Wednesday", date(2024, 5, 8), date(2024, 5, 8)),
        ("last Tuesday", date(2024, 5, 14), date(2024, 5, 14)),
        ("yesterday", date(2024, 5, 14), date(2024, 5, 14)),
        ("the day before yesterday", date(2024, 5, 13), date(2024, 5, 13)),
        ("Where have I been since last March?", date(2024, 3, 1), ASKED),
        ("What have I read since June?", date(2023, 6, 1), ASKED),
        ("What have I read since June 2022?", date(2022, 6, 1), ASKED),
        ("What have I read since 2019?", date(2019, 1, 1), ASKED),
    ],
)
def test_a_time_is_read_by_the_day_it_is_asked_on(query: str, begin: date, end: date) -> None:
    assert period_of(query, ASKED) == Period(begin, end)


@pytest.mark.parametrize("query", ["since June 2024", "since 2031", "since March 3 2022", "since then"])
def test_what_is_no_time_until_now_is_left(query: str) -> None:
    assert period_of(f"What have I read {query}?", ASKED) is None


AGREED = (
    ("yesterday", date(2024, 5, 14)),
    ("the day before yesterday", date(2024, 5, 13)),
    ("this morning", ASKED),
    ("an hour ago", ASKED),
    ("two weeks ago", date(2024, 5, 1)),
    ("fifteen days ago", date(2024, 4, 30)),
    ("a dozen days ago", date(2024, 5, 3)),
    ("a fortnight ago", date(2024, 5, 1)),
    ("on Monday", date(2024, 5, 13)),
    ("last Friday", date(2024, 5, 10)),
    ("on 2024-03-03", date(2024, 3, 3)),
)


@pytest.mark.parametrize(("told", "day"), AGREED)
def test_who_tells_and_who_asks_mean_the_same_day(told: str, day: date) -> None:
    said_at = datetime.combine(ASKED, time(9), UTC)
    moment = times_in(f"I went there {told}.", said_at).occurred_at
    asked = period_of(f"Where did I go {told}?", ASKED)
    assert asked is not None
    assert asked.begin <= day <= asked.end
    assert moment == (None if "hour" in told else datetime.combine(day, time(), UTC))


@pytest.mark.parametrize(
    ("told", "begin", "end"),
    [
        ("half a year ago", date(2023, 9, 15), date(2024, 1, 15)),
        ("a year and a half ago", date(2022, 9, 15), date(2023, 1, 15)),
        ("the other day", date(2024, 5, 5), date(2024, 5, 14)),
        ("several weeks ago", date(2024, 4, 13), date(2024, 4, 21)),
    ],
)
def test_what_is_no_exact_day_is_a_time_around_it(told: str, begin: date, end: date) -> None:
    assert period_of(f"Where did I go {told}?", ASKED) == Period(begin, end)
    assert times_in(f"I went there {told}.", datetime.combine(ASKED, time(9), UTC)).occurred_at is None


@pytest.mark.parametrize("text", ["What will I do on Monday?", "Am I going to Rome on Friday?", "Remind me tomorrow."])
def test_what_is_to_come_is_not_asked_of_memory(text: str) -> None:
    assert period_of(text, ASKED) is None


@pytest.mark.parametrize("query", ["", "When did I move?", "the spring in my mattress", "900 years ago", "in a week"])
def test_what_tells_no_time_has_none(query: str) -> None:
    read = period_of(query, ASKED)
    assert read is None or read.end.year < 1200


def test_what_lies_before_the_calendar_has_no_time() -> None:
    assert period_of("999 years ago", date(900, 1, 1)) is None


def test_something_is_told_in_its_time_or_soon_after() -> None:
    week = Period(date(2024, 5, 6), date(2024, 5, 12))
    assert [week.may_be_said_on(date(2024, 5, day)) for day in (5, 6, 12, 19, 20)] == [False, True, True, True, False]
    day = Period(ASKED, ASKED)
    assert [day.may_be_said_on(date(2024, 5, one)) for one in (15, 16, 17)] == [True, True, False]


def test_a_question_tells_the_time_it_names_or_means() -> None:
    meant = read_question("What did I buy two weeks ago?", asked_on=ASKED)
    assert meant.tells(date(2024, 5, 1))
    assert not meant.tells(date(2024, 3, 1))
    assert not read_question("What did I buy two weeks ago?").tells(date(2024, 5, 1))
    assert read_question("What did I buy in May 2023?", asked_on=ASKED).tells(date(2023, 5, 9))


@given(st.dates(), st.sampled_from(["last winter", "3 weeks ago", "last month", "past five years", "last Monday"]))
def test_no_day_breaks_it(asked: date, query: str) -> None:
    read = period_of(query, asked)
    assert read is None or read.begin <= read.end <= asked


def test_of_a_long_text_the_beginning_is_read() -> None:
    assert period_of("so " * 300 + "last week", ASKED) == period_of("last week", ASKED)
    assert period_of("so " * 400 + "last week", ASKED) is None
