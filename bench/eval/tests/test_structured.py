"""The figures of `eval structured`, on a set of three documents made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidInput
from mnemic_eval.structured import run


def gold(number: str, code: str, **flight: Any) -> list[dict[str, Any]]:
    about = {"@type": "Flight", "flightNumber": number, "airline": {"@type": "Airline", "iataCode": "XY"}, **flight}
    return [{"@type": "FlightReservation", "reservationNumber": code, "reservationFor": about}]


def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("Booking code: QWE123\nFlight XY 12 on 5 May 2017 at 12:10")
    time = {"@type": "QDateTime", "@value": "2017-05-05T12:10:00+02:00"}
    (tmp_path / "a.txt.json").write_text(json.dumps(gold("12", "QWE123", departureTime=time)))
    (tmp_path / "b.txt").write_text("Nothing to see here.")
    (tmp_path / "b.txt.json").write_text(json.dumps(gold("13", "QWE124")))
    sides = {"lhs": gold("14", "QWE125"), "rhs": gold("14", "QWE125", departureGate="B2")}
    sides["merged"] = gold("14", "QWE125", departureGate="B2", departureTerminal="9")
    for name, value in sides.items():
        (tmp_path / f"c.{name}.json").write_text(json.dumps(value))
    (tmp_path / "alone.txt").write_text("Flight XY 15 on 5 May 2017 at 12:10")
    return tmp_path


def test_fields_are_counted_one_by_one(tmp_path: Path) -> None:
    result = run(folder(tmp_path))
    assert (result["documents"], result["fields"]) == (3, 12)
    assert result["exact"] == round(8 / 12, 4)
    assert result["precision"] == 1.0
    assert result["by_field"]["departure_time"] == {"share": 1.0, "n": 1}
    assert result["by_field"]["booking_code"] == {"share": round(2 / 3, 4), "n": 3}
    assert result["by_field"]["departure_terminal"] == {"share": 0.0, "n": 1}
    assert result["more"]["gate"] == {"share": 1.0, "n": 1}
    halves = [result[split] for split in ("dev", "test")]
    assert sum(one["fields"] for one in halves) == 12
    assert sum(one["documents"] for one in halves) == 3


def test_what_the_gold_does_not_have_is_spurious(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Flight XY 12 on 5 May 2017 at 12:10\nFlight XY 99 on 6 May 2017 at 12:10")
    (tmp_path / "a.txt.json").write_text(json.dumps(gold("12", "QWE123")))
    result = run(tmp_path)
    assert result["spurious"] == 1
    assert result["precision"] < 1


def test_the_day_of_sending_comes_from_the_carrying_mail_or_the_gold(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Flight XY 12 on 5 May at 12:10")
    told = gold("12", "QWE123", departureDay="2019-05-05")
    told[0]["modifiedTime"] = "2019-01-01T00:00:00+01:00"
    (tmp_path / "a.txt.json").write_text(json.dumps(told))
    assert run(tmp_path)["by_field"]["departure_date"]["share"] == 1.0
    (tmp_path / "context.eml").write_text("From: a@b.example\nDate: Mon, 01 Jan 2018 00:00:00 +0000\n\nx")
    assert run(tmp_path)["by_field"]["departure_date"]["share"] == 0.0


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="data:missing"):
        run(tmp_path)
    (tmp_path / "a.txt").write_text("alone")
    with pytest.raises(InvalidInput, match="data:structured"):
        run(tmp_path)
