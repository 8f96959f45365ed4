"""A model or an embedder that hangs."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S35",
    property="a model or an embedder that hangs",
    aim="plain adds and searches are answered meanwhile; a search says what it did without",
    tests=(
        "tests/faults/test_hanging_models.py",
        "tests/faults/test_unembedded.py",
        "tests/unit/providers/test_circuit_breakers.py",
    ),
    bites="with one pool for all requests captures take every place; without the circuit breaker a model that hangs is "
    "asked for each of them",
    alone=True,
)
