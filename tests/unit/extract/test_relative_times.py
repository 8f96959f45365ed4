"""Relative times, resolved by the day of the message, and left alone where they have two readings."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.policy.statement_dates import timed, times_in
from mnemic.types import Candidate
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


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
