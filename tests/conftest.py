"""What holds for every test: Hypothesis without deadlines, and no silent skip on CI."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.bolt_servers import BOLT_SERVERS, BoltServer
from tests.extended import mark_extended
from tests.processes import running
from tests.servers import PostgresServer
from tests.valkey import ValkeyCluster, ValkeyServer

# Tests that import the ONNX runtime before mnemic must not make it report either (docs/adr/0003).
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

ON_CI = os.environ.get("CI", "").lower() == "true"

# No deadline: a loaded machine is not a bug. On CI the examples are the same on every run, so a red run repeats.
# `--hypothesis-profile quick` is for a look between two edits.
settings.register_profile(
    "mnemic", deadline=None, max_examples=60, derandomize=ON_CI, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("mnemic"), max_examples=8)
settings.load_profile("mnemic")


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """On CI a test that could not run has failed: a missing server, extra or data folder must not look green."""
    if ON_CI and report.skipped and not hasattr(report, "wasxfail"):
        where = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} was skipped, which CI=true does not allow: {where}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    refuse_skip(report)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make test` leaves out, before pytest selects by marks."""
    mark_extended(items)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server of this process's own; every test that asks for a database gets an empty one.

    It does not wait for its disk, and the store says so: what it holds would not survive a power cut.
    """
    with running(PostgresServer("fsync=off", "max_connections=200")) as server:
        yield server


@pytest.fixture(scope="session", params=BOLT_SERVERS, ids=lambda server: server.name)
def bolt(request: pytest.FixtureRequest) -> Iterator[BoltServer]:
    """A graph server of this process's own that speaks Bolt: each one that can be started here, one after the other."""
    server: BoltServer = request.param()
    with running(server):
        yield server


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[ValkeyServer]:
    """A Valkey server of this process's own."""
    with running(ValkeyServer()) as server:
        yield server


@pytest.fixture
def valkey(valkey_server: ValkeyServer) -> ValkeyServer:
    """The same, emptied."""
    valkey_server.ask("FLUSHALL")
    return valkey_server


@pytest.fixture(scope="session")
def valkey_cluster() -> Iterator[ValkeyCluster]:
    """A cluster of three masters of this process's own. Whoever kills one starts one of their own."""
    with running(ValkeyCluster()) as cluster:
        yield cluster
