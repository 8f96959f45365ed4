"""What an installation is made of."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S40",
    property="supply chain",
    aim="every package with its hashes, every action by its commit; what is known against a package fails the audit",
    tests=("tests/unit/testing/test_supply_chain.py", "tests/unit/test_deployment.py"),
    bites="a package with a known vulnerability, and a database that does not answer",
)
