"""The scorecard's own promise: only tests that ran and passed make a row pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import pytest

from bench.scorecard.__main__ import AT_ONCE, results
from bench.scorecard.page import page
from bench.scorecard.plants import PLANTS, Plant, noticed
from bench.scorecard.row import ROOT, Ran, Row, all_rows, judged, run

REPORT = '<testsuites><testsuite tests="{0}" failures="{1}" errors="{2}" skipped="{3}">{4}</testsuite></testsuites>'
SAID = '<testcase><properties><property name="said" value="7 kills"/></properties></testcase>'


def row(*tests: str, **more: str) -> Row:
    return Row(id="S0", property="p", aim="a", tests=tests or ("tests/unit",), **more)


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ((3, 0, 0, 0), "pass"),
        ((3, 1, 0, 0), "fail"),
        ((3, 0, 1, 0), "fail"),
        ((3, 0, 0, 1), "not_run"),
        ((0,) * 4, "not_run"),
    ],
)
def test_only_what_ran_and_passed_passes(tmp_path: Path, counts: tuple[int, ...], verdict: str) -> None:
    report = tmp_path / "r.xml"
    report.write_text(REPORT.format(*counts, SAID), encoding="utf-8")
    assert judged(report, row())[0] == verdict
    assert "7 kills" in judged(report, row())[1]


def test_what_failed_is_named(tmp_path: Path) -> None:
    report = tmp_path / "r.xml"
    bad = '<testcase classname="tests.unit.test_one.TestBad" name="test_bad"><failure/></testcase>'
    cases = f'<testcase classname="tests.unit.test_one" name="test_good"/>{bad}'
    report.write_text(REPORT.format(2, 1, 0, 0, cases), encoding="utf-8")
    assert judged(report, row()) == ("fail", "1 of 2 tests; failed: TestBad::test_bad")


def test_a_figure_that_misses_its_aim_does_not_pass(tmp_path: Path) -> None:
    report = tmp_path / "r.xml"
    properties = '<property name="said" value="p99 5 ms"/><property name="missed" value="2 ms too many"/>'
    cases = f'<testcase name="test_figure"><properties>{properties}</properties></testcase>'
    report.write_text(REPORT.format(1, 0, 0, 0, cases), encoding="utf-8")
    assert judged(report, row()) == ("fail", "1 of 1 tests; p99 5 ms; missed: 2 ms too many")


def test_a_promise_that_is_not_covered_does_not_pass(tmp_path: Path) -> None:
    report = tmp_path / "r.xml"
    report.write_text(REPORT.format(3, 0, 0, 0, ""), encoding="utf-8")
    assert judged(report, row(missing="the other half")) == ("not_run", "3 of 3 tests; not covered: the other half")


def test_without_tests_or_report_nothing_ran(tmp_path: Path) -> None:
    gone = Row(id="S0", property="p", aim="a", tests=("tests/nowhere.py",))
    assert run(gone, size="small", folder=tmp_path).verdict == "not_run"
    assert judged(tmp_path / "none.xml", row())[0] == "not_run"


def test_every_promise_has_its_row() -> None:
    """S37 is of a store of several nodes, which there is none of."""
    assert [one.id for one in all_rows()] == [f"S{number}" for number in range(1, 50) if number != 37]


def test_every_row_names_tests_that_are_there() -> None:
    tests = [(row.id, test) for row in all_rows() for test in row.tests]
    assert [named for named in tests if not (ROOT / named[1].partition("::")[0]).exists()] == []


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: f"{plant.row} {plant.defect}")
def test_a_defect_can_be_planted(plant: Plant, tmp_path: Path) -> None:
    file = tmp_path / plant.file
    file.parent.mkdir(parents=True)
    text = (ROOT / plant.file).read_text(encoding="utf-8")
    assert text.count(plant.was) == 1
    file.write_text(text, encoding="utf-8")
    with plant.planted(tmp_path):
        planted = file.read_text(encoding="utf-8")
        assert planted != text
        compile(planted, plant.file, "exec")
    assert file.read_text(encoding="utf-8") == text
    assert [name for name in plant.tests if not (ROOT / name.partition("::")[0]).is_file()] == []


def test_each_promise_from_s28_on_has_a_defect_that_its_tests_must_notice() -> None:
    rows = {row.id: row for row in all_rows()}
    assert {name for name in rows if int(name[1:]) >= 28} == {plant.row for plant in PLANTS} - {"S1"}


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("import one; assert one.ARMED", "noticed"),
        ("import one; assert not one.ARMED", "survived"),
        ("import pytest; pytest.exit('no')", "did not run"),
    ],
)
def test_a_defect_is_noticed_where_a_test_fails(tmp_path: Path, body: str, outcome: str) -> None:
    (tmp_path / "test_one.py").write_text(f"def test_it() -> None:\n    {body}\n", encoding="utf-8")
    (tmp_path / "one.py").write_text("ARMED = True\n", encoding="utf-8")
    plant = Plant(row="S0", defect="d", file="one.py", was="True", now="False", tests=("test_one.py",))
    assert noticed(plant, tmp_path)[0] == outcome


def test_one_can_say_a_figure(record_property: Callable[[str, object], None]) -> None:
    record_property("said", figure := "one figure")
    assert figure


def test_a_row_that_runs_reports_the_figures(tmp_path: Path) -> None:
    one = Row(id="S0", property="p", aim="a", tests=(f"{Path(__file__).relative_to(ROOT)}::test_one_can_say_a_figure",))
    ran = run(one, size="small", folder=tmp_path, seed=7)
    assert (ran.verdict, ran.result) == ("pass", "1 of 1 tests; one figure")
    assert (ran.as_dict()["seed"], "--hypothesis-seed=7 tests/" in ran.command) == (7, True)


def test_a_figure_that_was_said_again_stands_once(tmp_path: Path) -> None:
    report = tmp_path / "r.xml"
    report.write_text(REPORT.format(2, 0, 0, 0, SAID * 2), encoding="utf-8")
    assert judged(report, row()) == ("pass", "2 of 2 tests; 7 kills (2 times)")


def test_rows_share_the_machine_but_for_those_that_want_it_alone(tmp_path: Path) -> None:
    ran = run(row("tests/nowhere.py"), size="small", folder=tmp_path)
    together = Barrier(AT_ONCE)
    ended: list[str] = []

    def run_one(one: Row) -> Ran:
        if one.alone:
            assert {"S1", "S3"} <= {*ended}
        else:
            together.wait(timeout=60)
        return replace(ran, row=one)

    rows = [replace(row(), id=name, alone=name in ("S2", "S4")) for name in ("S1", "S2", "S3", "S4")]
    ended.extend(one.row.id for one in results(rows, run_one))
    assert ended[2:] == ["S2", "S4"]


def test_the_page_shows_the_last_run_of_each_row_and_size(tmp_path: Path) -> None:
    ran = {**run(row("tests/nowhere.py"), size="full", folder=tmp_path).as_dict(), "id": "S4"}
    first, last = ({**ran, "ended_at": f"2026-01-0{day}T00:00:00"} for day in (1, 2))
    shown = page([last, first])
    (line,) = [line for line in shown.splitlines() if line.startswith("| S4 |")]
    assert line.endswith("| no run on record | not_run, 2026-01-02 |")
