from __future__ import annotations

import pytest

from mnemic_eval.locomo import evidence_ids


@pytest.mark.parametrize(
    ("raw", "ids"),
    [
        (["D1:3"], {"D1:3"}),
        (["D1:3", "D2:14", "D1:3"], {"D1:3", "D2:14"}),
        (["D8:6; D9:17"], {"D8:6", "D9:17"}),
        (["D9:1 D4:4 D4:6"], {"D9:1", "D4:4", "D4:6"}),
        (["D1:1,D2:2"], {"D1:1", "D2:2"}),
        (["D:11:26"], {"D11:26"}),
        (["D30:05"], {"D30:5"}),
        (["D1:18", "D", "D1:20"], {"D1:18", "D", "D1:20"}),
        ([], set()),
    ],
)
def test_evidence_is_read_by_one_rule(raw: list[str], ids: set[str]) -> None:
    assert evidence_ids(raw) == ids
