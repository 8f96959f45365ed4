"""Embedder change."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S14",
    property="embedder change",
    aim="text search works throughout; 0 memories without vector after",
    tests=("tests/faults/test_reembed.py",),
    bites="the new embedder fails in its second batch, and the process that re-embeds is killed between any two",
)
