"""A front that cannot be held."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S28",
    property="a front that cannot be held",
    aim="640 half-sent requests for 3 minutes: every search of a rightful caller answered, p99 <= 2 x",
    tests=(
        "tests/unit/server/test_concurrency_shares.py",
        "tests/unit/server/test_connections.py",
        "tests/unit/server/test_http_protocol.py",
        "tests/faults/test_half_sent.py",
        "tests/faults/test_unread_log.py",
    ),
    bites="the same half-sent requests at a layer that takes a place first: the rightful caller is refused with 429",
    alone=True,
)
