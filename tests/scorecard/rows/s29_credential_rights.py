"""Rights on credentials."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S29",
    property="who may do what to a key",
    aim="role x role x verb x tenant: 0 escapes",
    tests=("tests/unit/server/test_key_rights.py", "tests/unit/server/test_credentials.py"),
    bites="the table is stated apart from the code; with the rule of creation alone, operators rotate, revoke and list "
    "the keys of admins, and it fails",
)
