"""A rotation of data keys that is killed: between keys, between rows, and before the old keys end."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.unit.maintain.test_rotate import ANA, BEN, engine_on, keys, said, told, traces

_KILLED = """
import asyncio, os, signal, sys
from mnemic.keys import KeyFolder
from tests.unit.maintain.test_rotate import ANA, engine_on
folder, step, times = sys.argv[1:]
whole, left = getattr(KeyFolder, step), [int(times)]
def killed(self, *given):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(self, *given)
setattr(KeyFolder, step, killed)
async def main():
    async with engine_on(__import__("pathlib").Path(folder)) as engine:
        await engine.rotate_data_keys(actor=ANA)
asyncio.run(main())
"""


@pytest.mark.parametrize(("step", "times"), [("_put", 1), ("reseal_value", 9), ("reseal_value", 30), ("_put", 3)])
async def test_killed_nothing_is_lost_and_the_next_call_goes_on(tmp_path: Path, step: str, times: int) -> None:
    before = await told(tmp_path, ANA, BEN)
    run = await asyncio.create_subprocess_exec(sys.executable, "-c", _KILLED, str(tmp_path), step, str(times))
    assert await run.wait() == -9
    assert await said(tmp_path, ANA, BEN) == before
    async with engine_on(tmp_path) as engine:
        await engine.rotate_data_keys(actor=ANA)
    assert (traces(tmp_path, ANA, 1), traces(tmp_path, BEN, 1)) == ([], [])
    assert keys(tmp_path).count() == (2, 0, 0)
    assert await said(tmp_path, ANA, BEN) == before
