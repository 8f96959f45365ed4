"""Calendars as senders write them, also those that deviate from the standard."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from mnemic_travel.calendar import Event, events
from tests.travel_documents import brief, read

FLIGHT = "SUMMARY:Flight LH 2041 Munich (MUC) - Frankfurt (FRA)\nDTSTART:20171010T060000Z\n"
ZONE = (
    "BEGIN:VTIMEZONE\nTZID:Head Office\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0200\n"
    "TZOFFSETTO:+0200\nEND:STANDARD\nEND:VTIMEZONE\n"
)


def calendar(*lines: str, zone: str = "") -> str:
    body = "\n".join(lines)
    return f"BEGIN:VCALENDAR\n{zone}BEGIN:VEVENT\n{FLIGHT}{body}\nEND:VEVENT\nEND:VCALENDAR"


def only(text: str) -> Event:
    (event,) = events(text)
    return event


@pytest.mark.parametrize(
    ("line", "zone"),
    [
        ("DTEND;TZID=Europe/Berlin:20171010T090500", ""),
        ('DTEND;TZID="Europe/Berlin":20171010T090500', ""),
        ("DTEND;TZID=W. Europe Standard Time:20171010T090500", ""),
        ("DTEND;TZID=/vendor.example/Europe/Berlin:20171010T090500", ""),
        ("DTEND;TZID=Head Office:20171010T090500", ZONE),
        ("DTEND:20171010T0705Z", ""),
        ("DURATION:PT1H5M", ""),
    ],
)
def test_an_end_is_read_in_its_zone_and_as_a_duration(line: str, zone: str) -> None:
    ends = only(calendar(line, zone=zone)).ends
    assert ends is not None
    assert ends.astimezone(UTC) == datetime(2017, 10, 10, 7, 5, tzinfo=UTC)


def test_a_zone_that_nobody_knows_leaves_a_local_time() -> None:
    assert only(calendar("DTEND;TZID=Nowhere/Else:20171010T090500")).ends == datetime(2017, 10, 10, 9, 5)  # noqa: DTZ001


def test_whole_days_give_a_day_and_no_time() -> None:
    whole = "DTSTART;VALUE=DATE:20171010\nDTEND;VALUE=DATE:20171011"
    text = calendar().replace("DTSTART:20171010T060000Z", whole)
    assert (only(text).day, only(text).starts, only(text).ends) == (date(2017, 10, 10), None, None)
    assert [brief(one)[:29] for one in read(text)] == ["- LH2041 MUC - 2017-10-10 FRA"]


@pytest.mark.parametrize(
    "text",
    [
        calendar().partition("END:VEVENT")[0],
        calendar().replace("END:VEVENT\n", ""),
        f"BEGIN:VEVENT\n{FLIGHT}END:VEVENT",
        f"END:VEVENT\n{calendar()}",
        f"Here is your calendar:\n\n{calendar()}\n\nGoodbye",
        calendar("this is no line of a calendar", ":nor this"),
        calendar("DTEND:soon", "DTEND;VALUE=DATE:20171040"),
        calendar("BEGIN:VALARM\nDESCRIPTION:leave now\nEND:VALARM"),
        calendar("BEGIN:VALARM\nDESCRIPTION:leave now").replace("END:VEVENT\n", ""),
        calendar("SUMMARY:another title", "DTSTART:20191010T060000Z"),
        calendar().replace("\n", "\r\n"),
        calendar(*["BEGIN:X"] * 100),
    ],
)
def test_an_event_is_read_although_its_calendar_is_malformed(text: str) -> None:
    event = only(text)
    assert event.summary == "Flight LH 2041 Munich (MUC) - Frankfurt (FRA)"
    assert event.starts == datetime(2017, 10, 10, 6, tzinfo=UTC)
    assert (event.ends, event.description) == (None, "")


def test_an_event_that_is_not_ended_leaves_the_next_one() -> None:
    text = calendar().replace("END:VEVENT\n", "BEGIN:VEVENT\nSUMMARY:Lunch\nEND:VEVENT\n")
    assert [one.summary for one in events(text)] == ["Flight LH 2041 Munich (MUC) - Frankfurt (FRA)", "Lunch"]


@pytest.mark.parametrize("text", ["", "BEGIN:VCALENDAR", "END:VCALENDAR", "Nothing of the kind"])
def test_what_is_no_calendar_has_no_events(text: str) -> None:
    assert events(text) == []
