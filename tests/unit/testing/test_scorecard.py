"""The scorecard's own promise: only tests that ran and passed make a row pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.scorecard.plants import PLANTS, Plant, noticed
from bench.scorecard.row import ROOT, Row, all_rows, judged

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
