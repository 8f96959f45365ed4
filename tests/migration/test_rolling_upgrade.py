"""Services replaced one by one by those of a version with a newer schema, while clients write: `docs/deployment.md`.

The newer version is this program with one migration more, copied to a folder of its own and run from there.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Condition, Event

import httpx
import pytest

import mnemic
import mnemic.stores.postgres
import mnemic.stores.sqlite
from mnemic.stores.postgres.schema import migrations as of_a_database
from mnemic.stores.sqlite.database_file import migrations as of_a_file
from tests.servers import PostgresServer
from tests.service import MNEMIC, Served, serving

CLIENTS = 3
IN_A_PHASE = 12
"""Writes that are acknowledged before the next service is replaced."""
STEP = "CREATE TABLE {schema}later (number INTEGER)"


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """The folder of a program that knows one migration more, for files and for databases."""
    folder = tmp_path / "newer"
    shutil.copytree(mnemic.__path__[0], folder / "mnemic", ignore=shutil.ignore_patterns("__pycache__"))
    for package, steps, schema in (
        (mnemic.stores.sqlite, of_a_file(), ""),
        (mnemic.stores.postgres, of_a_database(), "mnemic."),
    ):
        copy = folder / Path(package.__path__[0]).relative_to(Path(mnemic.__path__[0]).parent)
        (copy / "migrations" / f"{steps[-1].number + 1:04}_later.sql").write_text(
            STEP.format(schema=schema) + ";\n", "utf-8"
        )
    return folder


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "s.db")
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.database(tmp_path)


class Writers:
    """Clients that add, each write under a key and again at the next service until one acknowledges it."""

    def __init__(self, token: str, services: list[str]) -> None:
        self.services = services
        self.acknowledged: dict[str, str] = {}
        """The text by the identifier that the acknowledgement named."""
        self.refused: Counter[str] = Counter()
        self.over = Event()
        self._headers = {"Authorization": f"Bearer {token}"}
        self._more = Condition()

    def write(self, client: int) -> None:
        number = 0
        while not self.over.is_set():
            number += 1
            self._until_acknowledged(f"Parcel {client}-{number} goes to town {7 * number + client}.", client + number)

    def _until_acknowledged(self, text: str, first: int) -> None:
        for turn in range(200):
            address = self.services[(first + turn) % len(self.services)]
            try:
                answer = httpx.post(
                    f"{address}/v1/memories",
                    json={"content": text},
                    headers={**self._headers, "Idempotency-Key": text},
                    timeout=60,
                )
            except httpx.TransportError:  # the service has just been stopped
                self.refused["stopped"] += 1
                continue
            if answer.status_code in (200, 201):
                with self._more:
                    self.acknowledged[answer.json()["memory_id"]] = text
                    self._more.notify_all()
                return
            self.refused[answer.json()["reason"]] += 1
        raise AssertionError(f"no service took a write: {self.refused}")

    def phase(self) -> None:
        """Wait until the clients have got `IN_A_PHASE` acknowledgements more."""
        with self._more:
            aim = len(self.acknowledged) + IN_A_PHASE
            assert self._more.wait_for(lambda: len(self.acknowledged) >= aim, timeout=120), self.refused


@contextmanager
def of_version(folder: Path, store: str, program: Path | None = None) -> Iterator[Served]:
    """Serve the store by this program, or by the one in the folder `program`."""
    # The second name is that of earlier versions.
    rate = dict.fromkeys(("MNEMIC_SERVICE_REQUESTS_PER_SECOND", "MNEMIC_SERVICE_PER_SECOND"), "100000")
    environment = {**rate, **({"PYTHONPATH": str(program)} if program else {})}
    with serving(folder, "--store", store, **environment) as service:
        yield service


def token_of(store: str) -> str:
    made = subprocess.run(
        [*MNEMIC, "apikeys", "create", "--role", "writer", "--role", "reader", "--for-user", "ana", "--store", store],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    return made.stdout.strip()


def every_memory(address: str, token: str) -> list[tuple[str, str]]:
    found, cursor = [], None
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=60) as client:
        while True:
            page = client.get("/v1/memories", params={"limit": 100, **({"before": cursor} if cursor else {})}).json()
            found += [(memory["memory_id"], memory["content"]) for memory in page["memories"]]
            if not (cursor := page["next"]):
                return found


def leave(service: Served) -> None:
    """Stop a service as an operator does. It ends by the same signal when it has answered what it had taken."""
    service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(60) == -signal.SIGTERM


def test_nothing_acknowledged_is_lost_while_services_are_replaced_one_by_one(
    store: str, newer: Path, tmp_path: Path
) -> None:
    token = token_of(store)
    search = {"json": {"query": "Which parcel goes to town 9?"}, "headers": {"Authorization": f"Bearer {token}"}}
    with ExitStack() as running, ThreadPoolExecutor(CLIENTS) as pool:
        first, second = (running.enter_context(of_version(tmp_path, store)) for _ in range(2))
        writers = Writers(token, [first.address, second.address])
        clients = [pool.submit(writers.write, client) for client in range(CLIENTS)]
        try:
            writers.phase()
            third = running.enter_context(of_version(tmp_path, store, newer))
            late = httpx.post(f"{first.address}/v1/memories", json={"content": "Too late."}, headers=search["headers"])
            assert (late.status_code, late.json()["reason"]) == (503, "store_newer")
            found = httpx.post(f"{first.address}/v1/search", timeout=60, **search)
            assert found.status_code == 200
            assert found.json()["hits"]
            writers.services = [first.address, second.address, third.address]
            writers.phase()
            leave(first)
            fourth = running.enter_context(of_version(tmp_path, store, newer))
            writers.services = [second.address, third.address, fourth.address]
            writers.phase()
            leave(second)
            writers.services = [third.address, fourth.address]
            writers.phase()
        finally:
            writers.over.set()
        for client in clients:
            client.result(120)
        assert writers.refused["store_newer"]
        assert set(writers.refused) <= {"store_newer", "stopped"}
        assert sorted(every_memory(fourth.address, token)) == sorted(writers.acknowledged.items())
    checked = subprocess.run(
        [*MNEMIC, "audit", "verify", "--store", store],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(newer)},
    )
    assert checked.returncode == 0, checked.stderr
