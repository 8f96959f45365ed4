"""Bit flips in a closed memory file: detection of the damage, correctness of the served data, and loss of the rest."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError, StoreCorrupt
from mnemic.operations.sqlite.inspection import inspect
from mnemic.operations.sqlite.salvage import salvage
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from tests.faults.aftermath import examine

ADA = Actor(tenant="acme", user="ada")
_PAGE, _SEARCHED = 100, 5
_SECONDS = 60.0
_IN_A_PAGE = 16
"""Maximum rows of memories, with their versions, in a page."""

_BESIDE = ("", "-wal", "-shm", ".ballast")


@dataclass(slots=True)
class FlipReport:
    """Results for a number of files, each with one flip.

    `wrong`: statements served that were never made. `untyped`: errors of no kind of mnemic's, hangs among them.
    `silent`: files in which something is missing or damaged, and neither an error nor `inspect` reported it. `unnamed`:
    memories left out by a file that opens, or not found by their own words, which neither `inspect` names nor SQLite's
    check explains. `unfound`: files with one of the latter. `lost`: memories that neither the file nor `salvage` gave,
    beyond those in the page of the flip.
    """

    flips: int = 0
    unchanged: int = 0
    served_without: int = 0
    unfound: int = 0
    refused: int = 0
    wrong: int = 0
    untyped: int = 0
    silent: int = 0
    unnamed: int = 0
    lost: int = 0
    kinds: Counter[str] = field(default_factory=Counter)


async def make_file(path: Path, memories: int) -> dict[str, str]:
    """Create a file with this many memories, some changed, some forgotten, and everything else that a file has; return
    the statements of each.
    """
    said = {}
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        for number in range(memories):
            receipt = await engine.add(f"Parcel {number} goes to town {number * 7} by ship.", actor=ADA)
            assert receipt.memory_id is not None
            said[receipt.memory_id] = f"Parcel {number} goes to town {number * 7} by ship."
        ids = list(said)
        for number, memory_id in enumerate(ids[: memories // 10]):
            said[memory_id] = f"Parcel {number} was lost at sea."
            await engine.update(memory_id, said[memory_id], actor=ADA)
        for memory_id in ids[memories // 10 : memories // 8]:
            await engine.forget(memory_id, actor=ADA)
            del said[memory_id]
    return said


class Flips:
    """Flips in the file `source`, which contains the statements in `said`; each trial works on a copy in `folder`."""

    def __init__(self, source: Path, said: Mapping[str, str], folder: Path, seed: int) -> None:
        self._raw = source.read_bytes()
        self._said = said
        self._folder = folder
        self._choice = random.Random(seed)
        self.report = FlipReport()

    async def run(self, flips: int) -> FlipReport:
        """Run this many trials, spread over the whole file."""
        for number in range(flips):
            at = number * len(self._raw) // flips + self._choice.randrange(max(1, len(self._raw) // flips))
            await self.flip_at(min(at, len(self._raw) - 1), self._choice.choice((1, 1, 1, 8, 64)))
        return self.report

    async def flip_at(self, at: int, length: int) -> None:
        """Change `length` bytes from `at`, and examine the file."""
        self._unfound: set[str] = set()
        self._where = f"at {at}+{length}"
        report, path = self.report, self._folder / "flipped.db"
        data = bytearray(self._raw)
        for place in range(at, min(at + length, len(data))):
            data[place] ^= self._choice.randrange(1, 256)
        path.write_bytes(data)
        report.flips += 1
        try:
            served, refused = await self._use_file(path)
            self._judge(served, refused, path)
        except Exception as error:  # noqa: BLE001 - the errors are counted
            report.untyped += 1
            report.kinds[f"{type(error).__name__} {self._where}"] += 1
        _remove(path)

    async def _use_file(self, path: Path) -> tuple[dict[str, str], str | None]:
        """Return the statements that the file serves, and the reported reasons for missing ones."""
        fields: dict[str, str] = {}
        refused = None
        engine = MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder())
        try:
            await asyncio.wait_for(engine.open(), _SECONDS)
        except MnemicError as error:
            return fields, error.reason
        try:
            refused = await asyncio.wait_for(self._read(engine, fields), _SECONDS)
        finally:
            await engine.close()
        return fields, refused

    async def _read(self, engine: MemoryEngine, fields: dict[str, str]) -> str | None:
        """List, get, search, read as of an earlier time and verify the audit log, each separately: one may fail if
        others do not.
        """
        refused: list[str] = []
        try:
            before = None
            while page := await engine.list(actor=ADA, limit=_PAGE, before=before):
                self._take(fields, {memory.memory_id: memory.content for memory in page}, "list")
                before = page[-1].memory_id
        except MnemicError as error:
            refused.append(error.reason)
        missing = [memory_id for memory_id in self._said if memory_id not in fields]
        for memory_id in [*missing, *self._choice.sample(list(self._said), _SEARCHED)]:
            try:
                self._take(fields, {memory_id: (await engine.get(memory_id, actor=ADA)).content}, "get")
                await engine.history(memory_id, actor=ADA)
                found = await engine.search(self._said[memory_id], actor=ADA)
                hits = {hit.memory.memory_id: hit.memory.content for hit in found.hits}
                self._take(fields, hits, "search")
                self._unfound |= {memory_id} - hits.keys()
            except MnemicError as error:
                refused.append(error.reason)
        try:
            await engine.verify_audit(actor=ADA)
        except MnemicError as error:
            refused.append(error.reason)
        return refused[0] if refused else None

    def _take(self, fields: dict[str, str], found: Mapping[str, str], source: str) -> None:
        """Add the statements that a call served, and count those never made, by the call and the place of the flip."""
        for memory_id, text in found.items():
            if self._said.get(memory_id) != text:
                self.report.wrong += 1
                self.report.kinds[f"wrong in {source} {self._where}"] += 1
        fields.update(found)

    def _inspect_file(self, path: Path) -> set[str] | None:
        """Return the rows that `inspect` names, `*` for the whole file; None if it finds nothing."""
        try:
            found = inspect(path)
        except StoreCorrupt:
            return {"*"}
        except MnemicError:
            return {"*"}
        names = {one.name.partition(" version")[0] for one in found.damaged_rows}
        if found.damage or found.broken_audit is not None or any(name.startswith("row ") for name in names):
            names.add("*")
        return names or None

    def _judge(self, fields: Mapping[str, str], refused: str | None, path: Path) -> None:
        report = self.report
        missing = self._said.keys() - fields.keys()
        if not missing and refused is None and not self._unfound:
            report.unchanged += 1
            return
        noticed = self._inspect_file(path)
        if refused is not None:
            report.kinds[refused] += 1
        report.refused += not fields
        report.served_without += bool(fields)
        report.silent += noticed is None and refused is None
        report.unfound += bool(self._unfound)
        missing |= self._unfound
        report.unnamed += bool(fields) and bool(missing) and not (noticed or set()) & {*missing, "*"}
        report.lost += len(missing - self._unfound - self._salvage_file(path)) > _IN_A_PAGE

    def _salvage_file(self, path: Path) -> set[str]:
        """Return the memories that `salvage` recovers, all of them unchanged."""
        target = path.with_name("saved.db")
        try:
            salvage(path, target)
            found = examine(target, outbox_emptied=True).memories
        finally:
            _remove(target)
        self._take({}, {memory_id: one.content for memory_id, one in found.items()}, "salvage")
        return set(found)


def _remove(path: Path) -> None:
    for name in _BESIDE:
        Path(f"{path}{name}").unlink(missing_ok=True)
