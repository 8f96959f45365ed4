"""The tests of the packages run as those in tests/ do: the same profile of Hypothesis, and no silent skip on CI."""

from __future__ import annotations

from tests.conftest import pytest_make_collect_report, pytest_runtest_makereport

__all__ = ["pytest_make_collect_report", "pytest_runtest_makereport"]
