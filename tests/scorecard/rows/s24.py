"""Bounded resources."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S24",
    property="bounded resources",
    aim="memory slope < 1 MB/h",
    missing="no soak of half an hour runs yet",
)
