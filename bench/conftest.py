"""The tests of the packages run as those in tests/ do: its servers and profile of Hypothesis, no silent skip on CI."""

from __future__ import annotations

from tests.conftest import (
    bolt,
    postgres,
    pytest_collection_modifyitems,
    pytest_make_collect_report,
    pytest_runtest_makereport,
    valkey,
    valkey_cluster,
    valkey_server,
)

__all__ = [
    "bolt",
    "postgres",
    "pytest_collection_modifyitems",
    "pytest_make_collect_report",
    "pytest_runtest_makereport",
    "valkey",
    "valkey_cluster",
    "valkey_server",
]
