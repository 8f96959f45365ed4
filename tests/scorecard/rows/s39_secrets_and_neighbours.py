"""What somebody else's folder, cookie or model may do."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S39",
    property="secrets and neighbours",
    aim="0 keys sent to an address that came from elsewhere; a model that hangs is left alone after 3 calls",
    tests=(
        "tests/unit/test_config_parsing.py",
        "tests/unit/server/test_sessions.py",
        "tests/unit/providers/test_circuit_breakers.py",
    ),
    bites="the table names the addresses that get OpenAI's key: where an address's origin is not looked at, two of "
    "its rows fail; where a file is named, the same settings are read from it",
)
