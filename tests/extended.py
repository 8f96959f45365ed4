"""The tests that `make test` leaves to `make test-all`: those that need a server fetched for them, or take long.

Each is marked `extended`, by its folder or by a fixture that starts such a server.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = (
    "tests/stores/cassandra",
    "bench/eval",
    "tests/stores/neo4j",
    "tests/stores/postgres/test_pgbouncer.py",
    "tests/deploy",
    "tests/faults",
    "tests/integrations",
    "tests/migration/test_rolling_upgrade.py",
    "tests/stateful",
    "tests/strength",
    "tests/e2e/test_blocks_with_databases.py",
    "tests/e2e/test_docs_site.py",
    "tests/e2e/test_framework_pages.py",
    "tests/e2e/test_graph_server.py",
    "tests/e2e/test_installed.py",
    "tests/e2e/test_no_request_leaves.py",
    "tests/e2e/test_plugin_wheel.py",
    "tests/e2e/test_typescript.py",
)
KEPT = ("tests/integrations/test_mcp.py", "tests/stores/cassandra/test_three_nodes.py")
FIXTURES = frozenset({"bolt", "cassandra"})


def mark_extended(items: Iterable[pytest.Item]) -> None:
    """Mark the tests of these folders, and those that use one of these fixtures."""
    for item in items:
        path = item.path.relative_to(ROOT).as_posix() if item.path.is_relative_to(ROOT) else ""
        used = FIXTURES.intersection(getattr(item, "fixturenames", ()))
        if used or (path.startswith(FOLDERS) and path not in KEPT):
            item.add_marker(pytest.mark.extended)
