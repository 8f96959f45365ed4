"""A disk that fails or is full: a typed error or a success, and afterwards nothing lost, nothing half there."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import StoreFailed
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from tests.faults.aftermath import examine
from tests.faults.disk import KINDS, FailingDisk, FailingSyncs, FullDisk
from tests.faults.oracle import ADA, Answer, Call, Oracle, make, statement
from tests.faults.scale import size

STORE_REASONS = {"store_unavailable", "store_full", "store_corrupt", "commit_unknown"}
"""SQLite itself says of a read that failed with EIO that the file is corrupt."""


def engine_at(path: Path, vfs: str | None = None) -> MemoryEngine:
    return MemoryEngine(store=SqliteStore(path, vfs=vfs), embedder=WordEmbedder())


def bytes_of(path: Path | str) -> int:
    return Path(path).stat().st_size


class Trials:
    """One call after the other, each on an engine opened anew, each with one fault; the file is judged every time."""

    def __init__(self, path: Path, seed: int, vfs: str | None = None) -> None:
        self.path = path
        self.choice = random.Random(seed)
        self.oracle = Oracle()
        self.seen: Counter[str] = Counter()
        self._vfs = vfs

    async def fill(self, count: int) -> None:
        """Start with some memories."""
        async with engine_at(self.path) as engine:
            for _ in range(count):
                call = Call(verb="add", content=statement(self.choice))
                self.oracle.acknowledge(call, await make(engine, call))

    async def one(self, arm: Callable[[], None], heal: Callable[[], None]) -> None:
        """A call while the disk fails; then the same call again where it had failed, on a healthy disk."""
        call = self.oracle.next_call(self.choice)
        async with engine_at(self.path, self._vfs) as engine:
            arm()
            answer = await make(engine, call)
            heal()
            self._judge_as_if_killed_now(call, answer)
            if answer.broken:
                assert answer.error in STORE_REASONS
                self.seen[answer.error] += 1
                self.oracle.judge(examine(self.path).memories, call)
                if call.idempotency_key is None:
                    return
                answer = await make(engine, call)
                assert answer.error is None
            self.oracle.acknowledge(call, answer)
        self.seen["done"] += 1
        self._judge(self.path, self.oracle, None)

    def _judge_as_if_killed_now(self, call: Call, answer: Answer) -> None:
        oracle = self.oracle.copy()
        if not answer.broken:
            oracle.acknowledge(call, answer)
        image = self.path.parent / "image"
        image.mkdir()
        for end in ("", "-wal"):
            file = Path(f"{self.path}{end}")
            if file.exists():
                shutil.copyfile(file, image / file.name)
        self._judge(image / self.path.name, oracle, call if answer.broken else None)
        shutil.rmtree(image)

    def _judge(self, path: Path, oracle: Oracle, unknown: Call | None) -> None:
        found = examine(path)
        judged = oracle.judge(found.memories, unknown)
        assert found.whole
        assert (judged.lost, judged.partial, oracle.doubles()) == ((), (), 0)


@contextmanager
def syncs(name: str) -> Iterator[FailingSyncs]:
    vfs = FailingSyncs(name)
    try:
        yield vfs
    finally:
        vfs.unregister()


@pytest.mark.parametrize("sticky", [False, True], ids=["once", "sticky"])
async def test_the_nth_call_on_the_disk_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, say: Callable[[str], None], sticky: bool
) -> None:
    monkeypatch.setattr("mnemic.stores.sqlite.database_file._CHECKPOINT_PAGES", 8)
    trials = Trials(tmp_path / "m.db", seed=int(sticky))
    hits: Counter[str] = Counter()
    with FailingDisk(tmp_path) as disk:
        await trials.fill(3)
        for kind in KINDS:
            for nth in range(1, size(9, 100)):
                await trials.one(lambda kind=kind, nth=nth: disk.fail(nth, [kind], sticky=sticky), disk.heal)
                hits[kind] += disk.calls >= nth
    say(f"n-th disk call fails, {'sticky' if sticky else 'once'}: hits {dict(hits)}, {dict(trials.seen)}, 0 lost")

    assert hits["write"] > 0
    assert hits["read"] > 0
    assert trials.seen["done"] > 0
    assert trials.seen.keys() & STORE_REASONS


@pytest.mark.parametrize("sticky", [False, True], ids=["once", "sticky"])
async def test_the_nth_sync_fails(tmp_path: Path, say: Callable[[str], None], sticky: bool) -> None:
    with syncs(f"syncs-{sticky}") as vfs:
        trials = Trials(tmp_path / "m.db", seed=int(sticky), vfs=vfs.name)
        await trials.fill(3)
        for number in range(size(20, 300)):
            await trials.one(lambda number=number: vfs.fail(1 + number % 2, sticky=sticky), vfs.heal)
    say(f"n-th sync fails, {'sticky' if sticky else 'once'}: {dict(trials.seen)}, 0 lost")

    assert trials.seen["commit_unknown"] > 0
    assert trials.seen["done"] > 0


async def test_opening_on_a_failing_disk(tmp_path: Path, say: Callable[[str], None]) -> None:
    seen: Counter[str] = Counter()
    with FailingDisk(tmp_path) as disk:
        for nth in range(1, size(15, 400)):
            path = tmp_path / f"{nth}.db"
            for attempt in ("new", "known"):
                disk.fail(nth)
                try:
                    async with engine_at(path):
                        seen[f"{attempt}: opened"] += 1
                        disk.heal()
                except StoreFailed as error:
                    seen[f"{attempt}: {error.reason}"] += 1
                disk.heal()
                async with engine_at(path) as engine:
                    assert (await engine.add("After the failure", actor=ADA)).stored
                assert examine(path).whole
    say(f"opening while the n-th call fails: {dict(seen)}")

    assert any("store_unavailable" in name for name in seen)


async def test_a_search_that_cannot_read_says_so(tmp_path: Path) -> None:
    trials = Trials(tmp_path / "m.db", seed=1)
    await trials.fill(40)
    ((memory_id, one),) = trials.oracle.sample(trials.choice, 1)
    told = 0
    with FailingDisk(tmp_path) as disk:
        for nth in range(1, size(10, 100)):
            async with engine_at(trials.path) as engine:
                disk.fail(nth, ["read"], sticky=True)
                try:
                    result = await engine.search(one.content, actor=ADA)
                except StoreFailed:
                    told += 1
                else:
                    assert result.errors or memory_id in {hit.memory.memory_id for hit in result.hits}
                    told += bool(result.errors)
                disk.heal()
                found = (await engine.search(one.content, actor=ADA)).hits
                assert found[0].memory.memory_id == memory_id
    assert told > 0


async def test_a_full_disk(tmp_path: Path, say: Callable[[str], None]) -> None:
    path = tmp_path / "m.db"
    trials = Trials(path, seed=1)
    with FullDisk(tmp_path, room=size(600_000, 12_000_000)) as disk:
        async with engine_at(path) as engine:
            acknowledged = await _fill_up(engine, trials)
            assert await _writes_are_refused(engine, trials) > 0
            await _reads_go_on(engine, trials)
        async with engine_at(path) as engine:
            await _reads_go_on(engine, trials)
            await _writes_are_refused(engine, trials)
            await _reads_go_on(engine, trials)
            disk.room *= 2
            memory_id = next(iter(trials.oracle.known))
            for call in (Call(verb="add", content=statement(trials.choice)), Call(verb="forget", memory_id=memory_id)):
                answer = await make(engine, call)
                assert answer.error is None
                trials.oracle.acknowledge(call, answer)
    found = examine(path, outbox_emptied=True)
    judged = trials.oracle.judge(found.memories, None)
    say(f"full disk: {acknowledged} acknowledged, {len(judged.lost)} lost; reads go on, writes are store_full")

    assert found.whole
    assert (judged.lost, judged.partial) == ((), ())


async def test_a_disk_full_of_the_log_takes_more_once_the_log_is_emptied(tmp_path: Path) -> None:
    """The log cannot be emptied into a file that cannot grow: the reserved space lends the room, and is taken again."""
    path, trials = tmp_path / "m.db", Trials(tmp_path / "m.db", seed=2)
    reserved = 1_000_000
    store = SqliteStore(path, durability="fast", reserved_bytes=reserved)
    with FullDisk(tmp_path, room=3_000_000):
        async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
            await _fill_up(engine, trials)
            assert bytes_of(f"{path}-wal") < bytes_of(path)
            assert bytes_of(f"{path}.ballast") >= reserved
            assert (await engine.erase(ADA.user or "", actor=Actor(user="ben"))).complete
            assert (await engine.add("There is room inside the file.", actor=Actor(user="ben"))).stored
            assert (await engine.maintain(whole=True, actor=Actor(user="ben"))).freed_bytes > 0
            assert bytes_of(f"{path}.ballast") >= reserved


async def test_a_log_that_the_reserved_space_cannot_take_leaves_it_to_erasures(tmp_path: Path) -> None:
    path, trials = tmp_path / "m.db", Trials(tmp_path / "m.db", seed=2)
    reserved = 200_000
    store = SqliteStore(path, durability="fast", reserved_bytes=reserved)
    with FullDisk(tmp_path, room=3_000_000):
        async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
            await _fill_up(engine, trials)
            assert bytes_of(f"{path}.ballast") >= reserved


async def test_no_room_for_a_new_file(tmp_path: Path) -> None:
    with FullDisk(tmp_path, room=20_000) as disk:
        with pytest.raises(StoreFailed) as refused:
            await engine_at(tmp_path / "m.db").open()
        disk.room = 10_000_000
        async with engine_at(tmp_path / "m.db") as engine:
            assert (await engine.add("There is room now", actor=ADA)).stored

    assert refused.value.reason == "store_full"


async def _fill_up(engine: MemoryEngine, trials: Trials) -> int:
    acknowledged = 0
    while True:
        call = Call(verb="add", content=statement(trials.choice))
        answer = await make(engine, call)
        if answer.error is not None:
            assert answer.error == "store_full"
            return acknowledged
        trials.oracle.acknowledge(call, answer)
        acknowledged += 1


async def _writes_are_refused(engine: MemoryEngine, trials: Trials) -> int:
    """How many; a small change may still fit in."""
    refused = 0
    for verb in ("add", "forget", "add", "add"):
        known = next(iter(trials.oracle.known)) if verb == "forget" else None
        call = Call(verb=verb, content=statement(trials.choice), memory_id=known)
        answer = await make(engine, call)
        assert answer.error in (None, "store_full")
        trials.oracle.acknowledge(call, answer)
        refused += answer.broken
    return refused


async def _reads_go_on(engine: MemoryEngine, trials: Trials) -> None:
    memory_id, one = next(iter(trials.oracle.known.items()))
    hits = (await engine.search(one.content, actor=ADA)).hits
    assert hits[0].memory.memory_id == memory_id
    assert await engine.count(actor=ADA) == len(trials.oracle.known)
    assert len(await engine.history(memory_id, actor=ADA)) == 1
