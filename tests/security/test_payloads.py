"""What looks like a query is text: every string of the port, on every store, means what it says and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest_asyncio

from mnemic.errors import MnemicError
from mnemic.ports import RecordStore, Transaction
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.testing.record_store.fixtures import START
from mnemic.types import AuditEvent, Memory, Origin, Source, Status, Where
from tests.faults.scale import FULL
from tests.servers import PostgresServer

WORDS = [
    *(
        "' OR '1'='1",
        "'; DROP TABLE memory; --",
        "x' UNION SELECT body, null FROM memory_version --",
        "1; SET ROLE postgres",
    ),
    *(
        "$1",
        "${value}",
        "{accepted}",
        "{places}",
        "{0.__class__}",
        "%s",
        "%(tenant)s",
        "?",
        ":scope_id",
        "$$;SELECT 1;$$",
    ),
    *("pg_sleep(10)", "' || current_setting('mnemic.tenant') || '", "mnemic.tenant=rival", "rival", "*", "_%"),
    *("NEAR(a b)", "content:tea", "tea OR coffee", '{"$ne": null}', "\\x00"),
]
AROUND = [
    *(
        "{}",
        "'{}'",
        '"{}"',
        "({})",
        "{};",
        "{} --",
        "/*{}*/",
        "\\{}",
        "{}\\",
        "{}\x00",
        "%{}%",
        "[{}]",
        "{}\n",
        "\u200b{}",
    ),
    *("{}'", '{}"', "E'{}'", "‘{}’", "{}\u202e", "U&'{}'"),
]
PAYLOADS = [around.replace("{}", word) for word, around in product(WORDS, AROUND)]
TRIED = PAYLOADS if FULL else PAYLOADS[::11]
RIVAL = scope(tenant="rival")

Answers = list[tuple[str, Any]]


@pytest_asyncio.fixture
async def stores(postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[dict[str, RecordStore]]:
    """One store of each kind, the in-process one as the model. Another tenant has a memory in each."""
    made: dict[str, RecordStore] = {
        "model": InProcessStore(),
        "sqlite": SqliteStore(tmp_path / "m.db", durability="fast"),
        "postgres": PostgresStore(postgres.database(tmp_path)),
        "postgres, in the database": PostgresStore(postgres.dsn(), index_bytes=0),
    }
    async with AsyncExitStack() as stack:
        for store in made.values():
            await store.open(EMBEDDER.space)
            stack.push_async_callback(store.close)
        for name in ("model", "sqlite", "postgres"):
            await remember(made[name], memory("tea of the rival", scope=RIVAL, key="rival", memory_id="rival"))
        yield made


def test_there_are_five_hundred() -> None:
    assert len(set(PAYLOADS)) == 500


async def test_every_string_means_what_it_says(stores: dict[str, RecordStore]) -> None:
    for number, payload in enumerate(TRIED):
        names = [memory("").memory_id for _ in range(4)]
        answers = await asyncio.gather(
            *(answered(store, payload, f"{number}-{place}", names) for place, store in enumerate(stores.values()))
        )
        model = dict(answers[0])
        for name, one in zip(stores, answers, strict=True):
            different = {what: (got, model[what]) for what, got in one if got != model[what]}
            assert not different, (name, payload, different)
    for store in stores.values():
        assert (await store.get("rival", scopes=[RIVAL])) is not None


async def answered(store: RecordStore, payload: str, tenant: str, names: list[str]) -> Answers:
    """What the store says to one payload in every place, in a tenant of its own, with errors by their reason."""
    answers: Answers = []

    async def ask(what: str, call: Callable[[], Awaitable[Any]]) -> None:
        try:
            answers.append((what, _plain(await call())))
        except MnemicError as error:
            answers.append((what, error.reason))

    here = scope(tenant=tenant)
    where = Where(scopes=(here,))
    made = payload.replace(
        "\x00", ""
    )  # what the engine makes itself, and where a page ended: PostgreSQL would refuse a NUL there
    await remember(store, memory("plain tea", memory_id=names[0], scope=here, key="plain"))
    odd = memory("odd", memory_id=names[1], scope=here)
    for field, changed in _with(odd, payload, made).items():
        await ask(f"put {field}", lambda changed=changed: remember(store, changed))
        await ask(f"get {field}", lambda: store.get_many(names, scopes=[here]))
        await ask(f"gone {field}", lambda: store.transact(lambda tx: tx.remove(names[1], scope=here)))
    whole = _with(odd, payload, made)["all"]
    await ask("put all", lambda: remember(store, whole))
    filters = {"keys": frozenset({payload}), "categories": frozenset({payload}), "hidden_keys": frozenset({payload})}
    for name, value in filters.items():
        asked = replace(where, **{name: value})
        await ask(f"newest {name}", lambda asked=asked: store.newest(asked, limit=9))
        await ask(f"recent {name}", lambda asked=asked: store.recent(asked, limit=9))
        await ask(f"count {name}", lambda asked=asked: store.count(asked))
    await ask("match", lambda: store.match(where, payload, limit=9))
    await ask("match quoted", lambda: store.match(where, f'"{payload}"', limit=9))
    await ask("get_many", lambda: store.get_many([payload, names[0]], scopes=[here]))
    await ask("versions", lambda: store.versions(payload, scopes=[here]))
    await ask("before", lambda: store.newest(where, limit=9, before=made))
    await ask("fingerprint", lambda: store.find_fingerprint(here, made))
    await ask("speakers", lambda: store.speakers(where))
    await ask("signals", lambda: store.signals(where, [payload, names[1]]))
    await ask("held", lambda: store.scan(tenant, statuses=list(Status), author=payload))
    await ask("held ids", lambda: store.scan(tenant, statuses=list(Status), memory_ids=[payload], after=made))
    await ask("traces", lambda: _any(store.traces(tenant, [payload], [payload])))
    await ask("write", lambda: store.transact(lambda tx: _trail(tx, tenant, made)))
    await ask("marks", lambda: store.marks(tenant, made))
    await ask("audit", lambda: _told(store, tenant))
    return answers


def _with(odd: Memory, payload: str, made: str) -> dict[str, Memory]:
    """A memory with the payload in one field at a time, and in all."""
    fields: dict[str, dict[str, Any]] = {
        "content": {"content": payload},
        "key": {"key": payload},
        "category": {"category": payload},
        "context": {"context": payload},
        "author": {"author": payload},
        "agent": {"agent": payload},
        "fingerprint": {"fingerprint": made},
        "data": {"data": {payload: [payload]}},
        "links": {"supersedes": (payload,), "conflicts_with": (payload,)},
        "source": {
            "source": Source(
                origin=Origin.USER_STATED, ref=payload, session=payload, speaker=payload, quote=payload, span=(0, 1)
            )
        },
    }
    changed = {name: replace(odd, **values) for name, values in fields.items()}
    together = {key: value for values in fields.values() for key, value in values.items()}
    return changed | {"all": replace(odd, **together)}


async def _trail(tx: Transaction, tenant: str, payload: str) -> list[Any]:
    event = AuditEvent(tenant=tenant, action=payload, at=START, actor=payload, detail={"why": payload})
    await tx.append_audit(event)
    await tx.put_mark(tenant, payload, payload)
    await tx.remember_request(tenant, payload, payload, "{}", START)
    return [
        await tx.find_mark(tenant, payload),
        await tx.find_request(tenant, payload),
        await tx.find_key(scope(tenant=tenant), payload),
        await tx.get(payload, scopes=[scope(tenant=tenant)]),
        await tx.remove_requests(tenant, [payload]),
    ]


async def _told(store: RecordStore, tenant: str) -> list[Any]:
    return [(event.action, event.actor, dict(event.detail)) for event in await store.audit(tenant)]


async def _any(traces: Awaitable[dict[str, int]]) -> bool:
    """Whether there is a trace in any row; how often, and what the raw files hold, is each store's own affair."""
    return any(number for place, number in (await traces).items() if place != "bytes")


def _plain(answer: Any) -> Any:
    """An answer without what differs between tenants and between arithmetics."""
    if isinstance(answer, Memory):
        return replace(answer, scope=scope())
    if isinstance(answer, dict):
        return {name: _plain(value) for name, value in answer.items()}
    if isinstance(answer, list | tuple) and not hasattr(answer, "_fields"):
        return [_plain(one) for one in answer]
    if hasattr(answer, "score"):
        return answer.memory_id, round(answer.score, 4)
    return answer
