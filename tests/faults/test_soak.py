"""A service in use takes no more memory than it took a while ago (S24): half an hour of 50 requests a second, after a
quarter of an hour in which caches fill: until then memory grows in steps of up to one megabyte, and not after.

What is kept stays as much: a value takes the place of another, which is then forgotten. Superseded memories would be
searched in, as of an earlier day, and the index of a scope grows with them, up to its budget.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, linear_regression

import httpx

from tests.faults.scale import FULL, size
from tests.service import serving

WARM, REQUESTS, LOOKS = size(150, 45_000), size(250, 90_000), 50
PER_SECOND = 50
ALLOWED_MB = 512
GROWTH_MB = size(6, 0.5)
"""What a steady service may seem to grow by over all requests: at full size, half an hour, 1 MB an hour."""
LEAK = f"""
import sys
kept = []
for line in sys.stdin:
    kept.append(bytearray({size(60_000, 1_000)}))
    print(flush=True)
"""


def resident(process: subprocess.Popen[str]) -> float:
    """The memory that the process holds, in MB."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def growth(looks: Sequence[float]) -> float:
    """By how much memory grew from the first look to the last, on the straight line that fits them best."""
    return linear_regression(range(len(looks)), looks).slope * (len(looks) - 1)


def watched(process: subprocess.Popen[str], ask: Callable[[int], None]) -> list[float]:
    """The memory of the process after each fiftieth of the requests; the first ones are to warm it up."""
    looks = []
    for number in range(WARM + REQUESTS):
        ask(number)
        if number >= WARM and number % (REQUESTS // LOOKS) == 0:
            looks.append(resident(process))
    return looks


def test_a_service_in_use_does_not_grow(tmp_path: Path, say: Callable[[str], None]) -> None:
    with serving(tmp_path, MNEMIC_SERVICE_REQUESTS_PER_SECOND="100000") as service:
        headers = {"Authorization": f"Bearer {service.key('reader', 'writer')}"}
        with httpx.Client(base_url=service.address, headers=headers, timeout=60) as client:
            began = time.monotonic()
            failed: list[str] = []

            def ask(number: int) -> None:
                if FULL:
                    time.sleep(max(0.0, began + number / PER_SECOND - time.monotonic()))
                failed.extend(answer.text for answer in _asked(client, number) if answer.status_code >= 400)

            looks = watched(service.process, ask)
    fifths = " ".join(f"{fmean(looks[first : first + LOOKS // 5]):.1f}" for first in range(0, LOOKS, LOOKS // 5))
    grown = f"{growth(looks):+.2f} MB on the line (fifth by fifth {fifths})"
    say(f"{WARM} + {REQUESTS} requests: {grown}, {len(failed)} errors")
    assert not failed
    assert max(looks) < ALLOWED_MB
    assert growth(looks) < GROWTH_MB


def _asked(client: httpx.Client, number: int) -> list[httpx.Response]:
    if number % 5 == 0:
        said = {"content": f"Seat {number % 7}{'AB'[number // 35 % 2]} is mine.", "key": f"seat.{number % 10}"}
        added = client.post("/v1/memories", json=said)
        gone = added.json().get("superseded", ())
        return [added, *(client.delete(f"/v1/memories/{memory_id}") for memory_id in gone)]
    if number % 5 == 1:
        return [client.get("/v1/memories", params={"limit": 10})]
    return [client.post("/v1/search", json={"query": f"which seat is mine on trip {number % 997}?"})]


def test_a_process_that_keeps_what_it_is_sent_is_noticed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LEAK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as leaky:
        assert leaky.stdin is not None
        assert leaky.stdout is not None
        sent, heard = leaky.stdin, leaky.stdout

        def ask(number: int) -> None:
            sent.write("\n")
            sent.flush()
            heard.readline()

        looks = watched(leaky, ask)
        leaky.kill()
    assert growth(looks) > GROWTH_MB
