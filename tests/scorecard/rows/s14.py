"""Embedder change."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S14",
    property="embedder change",
    aim="text search works throughout; 0 memories without vector after",
    missing="vectors cannot be moved to another model while serving yet",
)
