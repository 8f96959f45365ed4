"""The product that finds the neighbours of a batch: right, and on the thread of its caller alone."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from mnemic.stores.columns import products

WOKEN = """
from pathlib import Path
import threading
import numpy as np
from mnemic.stores.columns import products

def others():
    main = threading.get_native_id()
    tasks = [task for task in Path("/proc/self/task").iterdir() if int(task.name) != main]
    lines = [line for task in tasks for line in (task / "status").read_text().splitlines()]
    # A thread that was woken runs or waits busily for a while; its switches are counted once it sleeps again.
    return len(tasks), [line for line in lines if "ctxt_switches" in line or line.startswith("State")]

rng = np.random.default_rng(0)
wanted, matrix = rng.normal(size=(32, 384)).astype("<f4"), rng.normal(size=(5000, 384)).astype("<f4")
before = others()
products(wanted, matrix)
after = others()
wanted @ matrix.T
print(before[0], before == after, after == others())
"""
"""Prints the number of other threads, whether `products` left them asleep, and whether a plain product does."""


@pytest.mark.parametrize("rows", [0, 1, 20, 21, 22, 1000])
@pytest.mark.parametrize("vectors", [1, 2, 32, 700])
def test_products_are_those_of_the_matrices(rows: int, vectors: int) -> None:
    rng = np.random.default_rng(rows + vectors)
    wanted = rng.normal(size=(vectors, 384)).astype(np.float32)
    matrix = rng.normal(size=(rows, 384)).astype(np.float32)
    found = products(wanted, matrix)
    assert found.shape == (vectors, rows)
    np.testing.assert_allclose(found, wanted @ matrix.T, atol=1e-3)


@pytest.mark.skipif(sys.platform != "linux", reason="the switches of a thread are read from /proc")
def test_no_other_thread_is_woken() -> None:
    told = subprocess.run([sys.executable, "-c", WOKEN], capture_output=True, text=True, check=True).stdout.split()
    number, asleep, control = int(told[0]), told[1], told[2]
    assert asleep == "True"
    # Where numpy has threads at all, a plain product wakes them: the test would notice.
    assert control == str(not number)
