"""How many questions of a call wait for each other, and what a first write to a scope must not miss for having few."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.ports import Transaction
from mnemic.stores.cassandra import CassandraStore
from mnemic.stores.cassandra.encoding import sortable_key
from mnemic.stores.cassandra.partitions import KEPT_SECONDS, Answers, Question
from mnemic.stores.cassandra.routing import Partition, of_tenant
from mnemic.testing.record_store.fixtures import EMBEDDER, START, memory, scope
from mnemic.types import Actor, AuditEvent, Candidate, Kind, OutboxEntry, VectorSpace
from mnemic.write.outbox import maintain_outbox

BOB = Partition("acme", "user", "bob")
_TURNS = 50
"""Turns of the event loop in which whoever can ask has asked."""


class Rounds:
    """Count of the rounds in which a store asks: what can be asked at once goes together, when nobody has more."""

    def __init__(self, store: CassandraStore, monkeypatch: pytest.MonkeyPatch) -> None:
        self._link = store._database.link
        self._answer = self._link._answer
        self._waiting: list[tuple[Any, asyncio.Future[Any]]] = []
        self._running: asyncio.Task[None] | None = None
        self.count = self.asked = 0
        monkeypatch.setattr(self._link, "_answer", self._ask)

    async def of_call(self, call: Awaitable[object]) -> int:
        """Return the rounds of a call."""
        before = self.count
        await call
        return self.count - before

    async def _ask(self, statement: Any) -> Any:
        self.asked += 1
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((statement, answer))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await answer

    async def _run(self) -> None:
        while self._waiting:
            asked = -1
            while asked != len(self._waiting):
                asked = len(self._waiting)
                for _ in range(_TURNS):
                    await asyncio.sleep(0)
            now, self._waiting = self._waiting, []
            self.count += 1
            answers = await asyncio.gather(*(self._answer(one) for one, _ in now), return_exceptions=True)
            for (_, answer), found in zip(now, answers, strict=True):
                if isinstance(found, BaseException):
                    answer.set_exception(found)
                else:
                    answer.set_result(found)
            for _ in range(_TURNS):
                await asyncio.sleep(0)
        self._running = None


async def test_a_write_waits_for_three_questions_at_most(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        MemoryEngine(store=(store := new_store()), embedder=EMBEDDER) as engine,
        MemoryEngine(store=new_store(), embedder=EMBEDDER) as other,
    ):
        ana, bob, cay, dan = (Actor(tenant="acme", user=name) for name in ("ana", "bob", "cay", "dan"))
        await engine.add("The harbour is near.", actor=ana)
        await other.add("The kettle whistles.", actor=cay)
        rounds = Rounds(store, monkeypatch)

        async def adds(text: str, actor: Actor, key: str | None = None) -> int:
            return await rounds.of_call(engine.add(text, actor=actor, idempotency_key=key))

        assert await adds("Tea is served.", bob) == 3, "the first of a user"
        assert await adds("Tea is gone.", bob) == 2
        assert await adds("Tea is back.", bob, "k1") == 3
        assert await adds("Tea is served.", dan, "k1") == 3, "the first of a user, under a key"
        assert await adds("The lamp is green.", cay, "k1") == 3, "to what another process has written"
        await other.add("The kettle is old.", actor=cay)
        assert await adds("The lamp is red.", cay) == 3, "the first after another process has written there, too"
        await other.add("The kettle is red.", actor=dan, idempotency_key="k9")
        assert await adds("The kettle is red.", dan, "k9") == 3, "the same under its key"
        assert len(await engine.list(actor=dan)) == 2
        await other.add("The kettle is new.", actor=cay)
        await adds("The lamp is blue.", cay)
        await other.add("The kettle is loud.", actor=cay)
        assert await adds("The lamp is grey.", cay, "k2") == 3, "and the next ones"
        await store.audit("acme")
        assert await adds("Tea is cold.", bob, "k3") == 3, "the first after its journal was collected"
        kept = await engine.add("The door opens at nine.", actor=ana)
        changed = engine.update(kept.memory_id, content="The door opens at ten.", actor=ana)
        assert await rounds.of_call(changed) == 3
        await other.add("The gate is shut.", actor=ana)
        await engine.update(kept.memory_id, content="The door opens at eight.", actor=ana)
        changed = engine.update(kept.memory_id, content="The door opens at six.", actor=ana)
        assert await rounds.of_call(changed) == 3, "the second change after another process has written there"


async def test_the_first_write_of_a_process_for_a_tenant_waits_for_three_questions(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        MemoryEngine(store=(store := new_store()), embedder=EMBEDDER) as engine,
        MemoryEngine(store=new_store(), embedder=EMBEDDER) as other,
    ):
        ana, bob = (Actor(tenant="acme", user=name) for name in ("ana", "bob"))
        await other.add("The harbour is near.", actor=ana)
        rounds = Rounds(store, monkeypatch)
        assert await rounds.of_call(engine.add("Tea is served.", actor=bob)) == 3, "of a new user"
        zoe, yan = (Actor(tenant="other", user=name) for name in ("zoe", "yan"))
        await other.add("The harbour is near.", actor=zoe)
        assert await rounds.of_call(engine.add("Tea is served.", actor=zoe)) == 3, "of a user with memories"
        assert await rounds.of_call(engine.add("Tea is served.", actor=yan, idempotency_key="k")) == 3


async def test_a_write_after_the_first_mark_of_its_user_came_from_another_process_waits_for_three_questions(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        MemoryEngine(store=(store := new_store()), embedder=EMBEDDER) as engine,
        MemoryEngine(store=new_store(), embedder=EMBEDDER) as other,
    ):
        ana = Actor(tenant="acme", user="ana")
        await engine.add("The harbour is near.", actor=ana)
        await other.grant_consent("diet", actor=ana)
        rounds = Rounds(store, monkeypatch)
        assert await rounds.of_call(engine.add("Tea is served.", actor=ana)) == 3


async def test_a_change_after_another_process_has_written_waits_for_four_questions(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        MemoryEngine(store=(store := new_store()), embedder=EMBEDDER) as engine,
        MemoryEngine(store=new_store(), embedder=EMBEDDER) as other,
    ):
        ana = Actor(tenant="acme", user="ana")
        kept = await engine.add("The door opens at nine.", actor=ana)
        rounds = Rounds(store, monkeypatch)
        for hour in ("ten", "eight"):
            await other.add(f"The gate is shut at {hour}.", actor=ana)
            changed = engine.update(kept.memory_id, content=f"The door opens at {hour}.", actor=ana)
            assert await rounds.of_call(changed) == 4
        changed = engine.update(kept.memory_id, content="The door opens at six.", actor=ana)
        assert await rounds.of_call(changed) == 3


async def test_the_first_memory_of_a_user_after_another_process_has_written_a_consent_waits_for_four_questions(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        MemoryEngine(store=(store := new_store()), embedder=EMBEDDER) as engine,
        MemoryEngine(store=new_store(), embedder=EMBEDDER) as other,
    ):
        ana, bob = (Actor(tenant="acme", user=name) for name in ("ana", "bob"))
        await engine.grant_consent("diet", actor=ana)
        await engine.add("The harbour is near.", actor=ana)
        await other.revoke_consent("diet", actor=bob)
        rounds = Rounds(store, monkeypatch)
        assert await rounds.of_call(engine.add("Tea is served.", actor=bob)) == 4
        diet = Candidate(content="Vegan.", kind=Kind.PERSONA, key="diet")
        assert (await engine.add(diet, actor=bob)).memory_id is None, "and finds what was decided"


async def test_the_first_memory_of_a_new_tenant_waits_for_five_questions(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with MemoryEngine(store=(store := new_store()), embedder=EMBEDDER) as engine:
        rounds = Rounds(store, monkeypatch)
        zoe = Actor(tenant="other", user="zoe")
        assert await rounds.of_call(engine.add("Tea is served.", actor=zoe)) == 5
        assert await rounds.of_call(engine.add("Tea is gone.", actor=zoe)) == 2


async def test_forgetting_and_consents_wait_for_few_questions(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with MemoryEngine(store=(store := new_store()), embedder=EMBEDDER) as engine:
        ana = Actor(tenant="acme", user="ana")
        texts = ("The harbour is near.", "The kettle whistles.", "The lamp is green.")
        kept = [await engine.add(text, actor=ana) for text in texts]
        rounds = Rounds(store, monkeypatch)
        assert await rounds.of_call(engine.forget(kept[0].memory_id, actor=ana)) == 6
        assert await rounds.of_call(engine.forget(kept[1].memory_id, actor=ana)) == 4, "the marks are known"
        assert await rounds.of_call(engine.grant_consent("diet", actor=ana)) == 6, "the first mark of a tenant"
        assert await rounds.of_call(engine.grant_consent("health", actor=ana)) == 7
        assert await rounds.of_call(engine.revoke_consent("health", actor=ana)) == 8


async def test_a_write_that_knew_a_scope_before_a_consent_was_withdrawn_there_is_refused(
    new_store: Callable[[], CassandraStore],
) -> None:
    """Who changes a mark changes the version of each announced scope as this process knows it, without a look."""
    async with (
        MemoryEngine(store=new_store(), embedder=EMBEDDER) as engine,
        MemoryEngine(store=new_store(), embedder=EMBEDDER) as other,
    ):
        ana = Actor(tenant="acme", user="ana")
        diet = Candidate(content="Vegan.", kind=Kind.PERSONA, key="diet")
        await engine.add("The harbour is near.", actor=ana)
        await other.add("The harbour is far.", actor=ana)
        for granted in (True, False, True, False):
            if granted:
                await engine.grant_consent("diet", actor=ana)
            else:
                await engine.revoke_consent("diet", actor=ana)
            for one in (other, engine):
                made = (await one.add(diet, actor=ana)).memory_id
                assert bool(made) is granted
                if made:
                    await one.forget(made, actor=ana)
        assert (await engine.store.broken_audit("acme"))[1] is None


async def test_a_search_in_a_scope_that_this_process_knows_asks_one_question(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with MemoryEngine(store=(store := new_store()), embedder=EMBEDDER) as engine:
        ana = Actor(tenant="acme", user="ana")
        await engine.add("The harbour is near.", actor=ana)
        rounds = Rounds(store, monkeypatch)
        assert (await engine.search("Where is the harbour?", actor=ana)).hits
        assert rounds.asked == 1


async def test_a_write_of_a_user_without_marks_asks_for_none(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with MemoryEngine(store=(store := new_store()), embedder=EMBEDDER) as engine:
        ana = Actor(tenant="acme", user="ana")
        await engine.add("The harbour is near.", actor=ana)
        store._database.partitions.answers._known.clear()  # as after ten seconds
        rounds = Rounds(store, monkeypatch)
        await engine.add("The harbour is far.", actor=ana)
        assert rounds.asked == 2, "the head of the scope, the commit"


async def test_the_first_mark_of_a_user_is_seen_by_who_knew_of_none(new_store: Callable[[], CassandraStore]) -> None:
    store, other = new_store(), new_store()
    await store.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    where = scope("bob")
    for value in ("granted", None, "revoked"):
        await write(store, f"tea {value}")
        await other.transact(lambda transaction, value=value: transaction.put_mark("acme", "subject/bob/diet", value))
        found, _ = await store.marks_and_duplicate("acme", "subject/bob/", where, "other", request=None)
        assert found.get("subject/bob/diet") == value
        assert (await store.marks("acme", "subject/bob/")).get("subject/bob/diet") == value
        assert await store.transact(lambda transaction: transaction.find_mark("acme", "subject/bob/diet")) == value
    await store.close()
    await other.close()


async def write(store: CassandraStore, text: str, spaces: list[VectorSpace] | None = None) -> None:
    """Write for Bob as the engine does."""
    where, found = scope("bob"), spaces if spaces is not None else []

    async def work(transaction: Transaction) -> None:
        found.append(await transaction.space())
        one = memory(text, scope=where)
        await transaction.insert(one)
        await transaction.enqueue(OutboxEntry.for_memory(one))

    await store.marks_and_duplicate("acme", "subject/bob/", where, text, request=None)
    await store.transact(work, scope=where)


async def test_a_first_write_during_a_switch_of_the_vector_space_is_of_the_new_one(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, other = new_store(), new_store()
    await writer.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    await writer.secret("acme")
    space = VectorSpace(model="other", dimension=EMBEDDER.space.dimension)
    link, switched = writer._database.link, list[bool]()
    change, seen = link.change, list[VectorSpace]()

    async def overtaken(statements: Any, **how: Any) -> bool:
        if not switched:
            await other.begin_space(space)
            switched.append(await other.switch_space())
        return await change(statements, **how)

    monkeypatch.setattr(link, "change", overtaken)
    await write(writer, "tea", seen)
    assert (switched, seen) == ([True], [EMBEDDER.space, space])
    await writer.close()
    await other.close()


async def test_a_switch_of_the_vector_space_begins_again_if_a_first_write_overtakes_it(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The switch has read which scopes there are, and knows nothing of this one."""
    writer, other = new_store(), new_store()
    await writer.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    await writer.secret("acme")
    space = VectorSpace(model="other", dimension=EMBEDDER.space.dimension)
    await other.begin_space(space)
    link, late = other._database.link, ["tea"]
    change = link.change

    async def overtaken(statements: Any, **how: Any) -> bool:
        while late and statements[0][0] == "begin":
            await write(writer, late.pop())
        return await change(statements, **how)

    monkeypatch.setattr(link, "change", overtaken)
    assert await other.switch_space() is False, "there is a memory without a vector in the new space"
    assert late == []
    assert [one.content for one in await other.memories_without_vector(limit=9)] == ["tea"]
    await writer.close()
    await other.close()


async def test_a_scope_that_got_a_version_before_its_first_memory_can_be_found_for_an_erasure(
    new_store: Callable[[], CassandraStore],
) -> None:
    """Who changes a mark gives every announced scope another version."""
    writer, other = new_store(), new_store()
    await writer.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    await writer.secret("acme")
    await writer._database.partitions.announce(BOB)
    await other.transact(lambda transaction: transaction.put_mark("acme", "policy/a", "strict"))
    await write(writer, "tea")
    assert BOB in await other._database.partitions.partitions_of_tenant("acme")
    await writer.close()
    await other.close()


async def test_a_journal_that_was_expected_and_never_came_is_looked_into_once(
    new_store: Callable[[], CassandraStore],
) -> None:
    writer, other = new_store(), new_store()
    await writer.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    await writer.secret("acme")
    await writer.marks_and_duplicate("acme", "subject/bob/", scope("bob"), "tea", request=None)
    partitions = other._database.partitions
    assert BOB in await partitions.partitions_to_collect("acme")
    await other.audit("acme")
    assert BOB not in await partitions.partitions_to_collect("acme")
    await write(writer, "tea")
    assert [entry.scope for entry in await other.pending()] == [scope("bob")], "and found when it comes"
    assert BOB in await partitions.partitions_of_tenant("acme")
    await writer.close()
    await other.close()


ACME = of_tenant("acme")


def counted(store: CassandraStore, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the statements that the store sends from here on."""
    link = store._database.link
    ask, asked = link.ask, []

    async def noted(name: str, values: Any, **how: Any) -> Any:
        asked.append(name)
        return await ask(name, values, **how)

    monkeypatch.setattr(link, "ask", noted)
    return asked


async def test_marks_of_a_tenant_are_read_once_for_each_version(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    await store.secret("acme")
    await store.transact(lambda transaction: transaction.put_mark("acme", "policy", "strict"))
    assert await store.marks("acme", "p") == {"policy": "strict"}
    asked = counted(store, monkeypatch)
    assert await store.marks("acme", "p") == {"policy": "strict"}
    assert asked == ["small"]
    assert await store.marks("acme", "q/") == {}
    assert asked[1:] == ["small", "scan", "state"]
    assert await store.marks("acme", "q/") == {}
    assert asked[4:] == ["small"], "an answer without rows is kept, too, once the version was confirmed"
    await store.close()


async def test_writes_without_a_reader_of_the_outbox_collect_no_journal(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    await store.transact(lambda transaction: transaction.enqueue(OutboxEntry.for_memory(memory("tea"))))
    asked = counted(store, monkeypatch)
    task = await maintain_outbox(store, fed=False, before=None)
    assert task is not None
    await task
    assert "noted" not in asked
    assert [entry.action for entry in await store.pending()] == ["upsert"], "whoever reads it still finds everything"
    await store.close()


async def test_a_mark_that_another_process_writes_is_seen_at_once(new_store: Callable[[], CassandraStore]) -> None:
    store, other = new_store(), new_store()
    await store.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    await other.transact(lambda transaction: transaction.put_mark("acme", "policy", "strict"))
    for value in ("strict", "loose", None):
        await other.transact(lambda transaction, value=value: transaction.put_mark("acme", "policy", value))
        assert (await store.marks("acme", "p")).get("policy") == value
        assert (await store.marks("acme", "p")).get("policy") == value
        found = await store.transact(lambda transaction: transaction.find_mark("acme", "policy"))
        assert found == value
    await store.close()
    await other.close()


async def test_what_was_read_while_a_mark_was_removed_is_not_kept(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = new_store(), new_store()
    await store.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    await other.transact(lambda transaction: transaction.put_mark("acme", "policy", "strict"))
    partitions, removed = store._database.partitions, []
    scan = partitions.scan

    async def overtaken(home: Partition, *values: Any, **how: Any) -> list[Any]:
        if not removed:
            removed.append(True)
            await other.transact(lambda transaction: transaction.put_mark("acme", "policy", None))
        return await scan(home, *values, **how)

    monkeypatch.setattr(partitions, "scan", overtaken)
    assert await store.marks("acme", "p") == {}
    kept = partitions.answers._known
    version = (await partitions.state(ACME))[0]
    assert {asked[1] for asked in kept} == {version}, "the empty answer was not of the version that was seen before it"
    await store.close()
    await other.close()


def _asked(number: int) -> Question:
    return ACME, number, ("mark",)


def test_an_answer_is_kept_for_a_time_and_not_longer_for_being_used() -> None:
    now = [0.0]
    answers = Answers(lambda: now[0])
    answers.keep({_asked(1): [(b"key", b"row")]})
    now[0] = KEPT_SECONDS - 1
    assert answers.find(_asked(1)) == [(b"key", b"row")]
    answers.keep({_asked(1): [(b"key", b"row")]})
    now[0] = KEPT_SECONDS + 1
    assert answers.find(_asked(1)) is None


def test_long_answers_are_not_kept_and_old_ones_go() -> None:
    answers = Answers(lambda: 0.0)
    answers.keep({_asked(0): [(b"key", bytes(5000))]})
    assert answers.find(_asked(0)) is None
    answers.keep({_asked(number): [] for number in range(5000)})
    assert answers.find(_asked(4999)) == []
    assert answers.find(_asked(1)) is None


def starts(store: CassandraStore, monkeypatch: pytest.MonkeyPatch, table: str) -> list[bytes]:
    """Return the keys at which the store's reads of a table begin from here on."""
    partitions, begun = store._database.partitions, []
    scan = partitions.scan

    async def noted(home: Partition, name: str, first: bytes, *values: Any, **how: Any) -> list[Any]:
        if name == table:
            begun.append(first)
        return await scan(home, name, first, *values, **how)

    monkeypatch.setattr(partitions, "scan", noted)
    return begun


async def test_reads_of_the_outbox_begin_behind_what_was_removed(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)

    async def enqueue(transaction: Any) -> None:
        for number in range(3):
            await transaction.enqueue(OutboxEntry(scope=scope(), action="created", memory_id=f"{number}", version=1))

    await store.transact(enqueue)
    first = await store.pending()
    await store.acknowledge([entry.sequence for entry in first[:2]])
    begun = starts(store, monkeypatch, "outbox")
    assert [entry.memory_id for entry in await store.pending()] == ["2"]
    await store.acknowledge([first[2].sequence])
    assert await store.pending() == []
    await store.transact(enqueue)
    assert [entry.memory_id for entry in await store.pending()] == ["0", "1", "2"]
    assert min(begun) > sortable_key((first[1].sequence,))
    await store.close()


async def test_reads_of_a_journal_begin_behind_what_was_collected(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    begun = starts(store, monkeypatch, "journal")
    for number in range(3):
        event = AuditEvent(tenant="acme", action="created", at=START, actor="ada", scope=scope())
        await store.transact(lambda transaction, event=event: transaction.append_audit(event))
        assert len(await store.audit("acme")) == number + 1
    assert begun == sorted(set(begun))
    assert len(begun) == 3
    await store.close()


async def test_a_write_to_a_known_scope_asks_one_question_before_its_commit(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    await store.transact(lambda transaction: transaction.put_mark("acme", "policy/a", "strict"))

    async def write(number: int) -> None:
        async def work(transaction: Any) -> None:
            assert await transaction.find_fingerprint(scope(), f"f{number}") is None
            assert await transaction.find_mark("acme", "policy/a") == "strict"
            assert await transaction.find_mark("acme", "policy/none") is None
            await transaction.insert(memory(f"Fact {number}"))

        marks, same = await store.marks_and_duplicate("acme", "policy/", scope(), f"f{number}", request=None)
        assert (marks, same) == ({"policy/a": "strict"}, None)
        await store.transact(work, scope=scope())

    await write(0)
    await write(1)
    asked = counted(store, monkeypatch)
    await write(2)
    assert asked == ["small"]
    await store.close()
