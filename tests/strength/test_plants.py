"""Would the tests notice that a defence is gone? Each that a row of the scorecard is about is taken out once (S26)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench.scorecard.plants import PLANTS, copied, noticed


def test_every_defence_that_is_taken_out_is_missed(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    root = copied(tmp_path)
    outcomes = {f"{plant.row} {plant.defect}": noticed(plant, root)[0] for plant in PLANTS}
    record_property(
        "said", f"{list(outcomes.values()).count('noticed')} of {len(PLANTS)} defences missed when taken out"
    )
    assert {name: outcome for name, outcome in outcomes.items() if outcome != "noticed"} == {}
