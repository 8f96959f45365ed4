"""Every test of this folder is marked `faults`; each says what it counted, to the report and at full size aloud."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.scale import FULL

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.faults)


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Puts a line of counts into the report, and shows it at full size."""

    def line(text: str) -> None:
        record_property("said", text)
        if FULL:
            with capsys.disabled():
                sys.stderr.write(f"\n{text}\n")

    return line
