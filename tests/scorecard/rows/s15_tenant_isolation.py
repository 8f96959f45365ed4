"""Tenant isolation."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S15",
    property="tenant isolation",
    aim="0 foreign bytes; never 0 hits when rows match",
    tests=(
        "tests/security/test_rest_isolation.py",
        "tests/security/test_mcp_isolation.py",
        "tests/security/test_postgres_isolation.py",
        "tests/security/test_postgres_tenants.py",
    ),
    bites="the calls must find the own canary, else they prove nothing",
)
