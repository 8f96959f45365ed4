"""The rows, one file each."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tests.scorecard.row import Row


def all_rows() -> list[Row]:
    """Every row, S1 first."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("s[0-9]*.py"))
    rows: list[Row] = [import_module(f"{__name__}.{name}").ROW for name in names]
    return rows
