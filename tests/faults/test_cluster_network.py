"""The network of the Cassandra nodes of a test run, after a run that was killed."""

from __future__ import annotations

import subprocess

import pytest

from tests.cassandra_nodes import Network

pytestmark = pytest.mark.skipif(not Network.at_hand(), reason="needs root and ip")


def _links() -> str:
    return subprocess.run(["ip", "link", "list"], capture_output=True, text=True, check=True).stdout


def test_what_a_killed_run_left_is_removed_and_a_second_network_is_refused() -> None:
    try:
        left = Network()
    except RuntimeError:
        pytest.skip("a cluster runs on this machine")
    except subprocess.CalledProcessError:
        pytest.skip("no namespaces can be made here")
    left.prefix, prefix = "mn77777", left.prefix
    left.close()  # of other names: nothing is removed, as after a kill, and the lock is free
    assert f"{prefix}:" in _links()
    network = Network()
    try:
        network.join(1)
        assert _links().count(f" {network.prefix}: ") == 1
        with pytest.raises(RuntimeError, match="another process"):
            Network()
    finally:
        network.close()
    assert network.prefix not in _links()
