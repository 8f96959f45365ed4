"""Secrets and personal data are planted in every field and looked for everywhere they could come to (S17, S22)."""

from __future__ import annotations

import io
import json
import logging
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import apsw.shell
import pytest

from mnemic.compose.template_composer import ModelComposer
from mnemic.engine import MemoryEngine
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.models.http_embedder import HttpEmbedder
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.policy.grant import Grant
from mnemic.retrieve.intent_planning import ModelPlanner
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Message, Origin, Source
from mnemic.write.draft import WriteRules
from tests.faults.scale import size
from tests.scripted_model import ScriptedModelServer
from tests.servers import PostgresServer

ADMIN = Actor(user="admin")


@dataclass
class Person:
    """Somebody with secrets; `canaries` are what must not be found of them."""

    actor: Actor
    email: str
    card: str
    key: str
    iban: str = "DE89370400440532013000"
    canaries: list[bytes] = field(default_factory=list)


def person(number: int) -> Person:
    chance = random.Random(number)
    email = f"zq{chance.randrange(10**8):08d}@canary-{number}.example.com"
    card = luhn(f"4{chance.randrange(10**14):014d}")
    key = "AKIA" + "".join(chance.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") for _ in range(16))
    found = Person(Actor(user=f"user{number}", session=f"s{number}", workspace="w"), email, card, key)
    found.canaries = [text.encode() for text in (email, card, key, found.iban)]
    return found


def luhn(digits: str) -> str:
    total = sum(
        sum(divmod(int(digit) * (2 if place % 2 == 0 else 1), 10)) for place, digit in enumerate(reversed(digits))
    )
    return digits + str(-total % 10)


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Everything that anything logs, down to DEBUG."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root, before = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    root.setLevel(before)


@pytest.fixture
def models() -> Iterator[ScriptedModelServer]:
    """A model server of which every request is kept."""
    with ScriptedModelServer(lambda request: {"items": []}) as server:
        yield server


@pytest.fixture
async def engine(tmp_path: Path, models: ScriptedModelServer) -> AsyncIterator[MemoryEngine]:
    completer = OpenAICompleter("scripted", base_url=models.base_url, api_key="test")
    async with MemoryEngine(
        store=SqliteStore(tmp_path / "m.db"),
        embedder=HttpEmbedder(base_url=models.base_url, model="vectors", dimension=384, api_key="test"),
        extractor=ModelExtractor(completer),
        planner=ModelPlanner(completer),
        composer=ModelComposer(completer),
        grant=Grant(levels=frozenset({"user", "workspace"})),
        rules=WriteRules(conflict=0.5),
    ) as engine:
        yield engine
    await completer.close()


async def talk(engine: MemoryEngine, one: Person) -> list[str]:
    """Every way in for a text, with secrets in every field; what the engine says about it."""
    said = f"I am at {one.email}, my card is {one.card}, key {one.key}, account {one.iban}."
    source = Source(ref=one.email, session=f"s-{one.actor.user}", speaker=one.email, quote=said)
    candidate = Candidate(
        content=said,
        category=f"of {one.email}",
        context=said,
        data={"mail": one.email, one.email: [one.key]},
        source=source,
    )
    told: list[object] = [await engine.add(candidate, actor=one.actor, idempotency_key=one.email)]
    told += await engine.add_many([Candidate(content=f"{said} Twice.")], actor=one.actor)
    told += await engine.record([Message(role="user", content=said, speaker=one.email)], actor=one.actor)
    told.append((await engine.capture(said, actor=one.actor)).as_dict())
    told.append(
        (await engine.run(message=said, goal=f"Write to {one.email} about {one.card}.", actor=one.actor)).as_dict()
    )
    told.append(await engine.search(f"who is {one.email} with {one.key}", actor=one.actor))
    first = (await engine.list(actor=one.actor))[0]
    told.append(await engine.update(first.memory_id, f"Now at {one.email} instead.", actor=one.actor))
    told.append([memory async for memory in engine.export(actor=one.actor)])
    return [json.dumps(value, default=repr) for value in told]


def in_files(folder: Path, canaries: list[bytes]) -> int:
    return sum(path.read_bytes().count(text) for path in folder.rglob("*") if path.is_file() for text in canaries)


async def test_no_secret_reaches_a_file_a_log_a_trace_or_a_model(
    engine: MemoryEngine, models: ScriptedModelServer, log: io.StringIO, tmp_path: Path
) -> None:
    people = [person(number) for number in range(size(5, 200))]
    told = [text for one in people for text in await talk(engine, one)]
    canaries = [canary for one in people for canary in one.canaries]
    assert in_files(tmp_path, canaries) == 0
    spoken = "\n".join(told).encode()
    assert [canary for canary in canaries if canary in spoken] == []
    assert [canary for canary in canaries if canary in log.getvalue().encode()] == []
    sent = [json.dumps(request.body, ensure_ascii=False).encode() for request in models.requests]
    assert len(sent) > 5 * len(people)
    assert [canary for canary in canaries for body in sent if canary in body] == []


def dump(path: Path) -> bytes:
    """The file as SQL text, as somebody would keep it."""
    out = io.StringIO()
    with closing(apsw.Connection(str(path))) as connection:
        apsw.shell.Shell(stdout=out, db=connection).process_command(".dump")
    return out.getvalue().encode()


async def plant(engine: MemoryEngine, actor: Actor, canary: str) -> None:
    """The canary in every field and at every place that a memory can come to."""
    full = Candidate(
        content=f"{canary} content",
        key=f"{canary}-key",
        category=f"{canary}-category",
        context=f"{canary} context",
        data={canary: canary},
        source=Source(ref=canary, session=canary, speaker=canary, quote=canary),
    )
    added = await engine.add(full, actor=actor, idempotency_key=canary)
    assert added.memory_id is not None
    await engine.update(added.memory_id, f"{canary} revised", actor=actor)
    await engine.rollback(added.memory_id, 1, actor=actor)
    await engine.add(f"{canary} is good.", actor=actor)
    assert (
        await engine.add(Candidate(content=f"{canary} is not good.", source=Source(origin=Origin.WEB)), actor=actor)
    ).was_flagged
    await engine.add(f"{canary} was here.", actor=actor, level="workspace")
    await engine.record([Message(role="user", content=f"{canary} said so.", speaker=canary)], actor=actor)
    await engine.run(message=f"I am {canary}.", goal=f"Who is {canary}?", actor=actor)
    await engine.grant_consent(f"{canary}-key", actor=actor)
    await engine.revoke_consent(f"{canary}-other", actor=actor)


async def test_nothing_of_an_erased_subject_is_left_in_any_byte(tmp_path: Path, log: io.StringIO) -> None:
    folder, path = tmp_path / "store", tmp_path / "store" / "m.db"
    folder.mkdir()
    subjects = {f"zyxwvut{number}canary": Actor(user=f"u{number}", workspace="w") for number in range(size(3, 100))}
    async with MemoryEngine(
        store=SqliteStore(path, reserved_bytes=65536),
        embedder=WordEmbedder(),
        clock=ManualClock(),
        rules=WriteRules(conflict=0.5),
        grant=Grant(levels=frozenset({"user", "workspace"})),
    ) as engine:
        for canary, actor in subjects.items():
            await engine.add("A bystander stays.", actor=Actor(user=f"by-{actor.user}"))
            await plant(engine, actor, canary)
        planted = [canary.encode() for canary in subjects]
        assert in_files(folder, planted) > 10 * len(subjects)
        for actor in subjects.values():
            receipt = await engine.erase(actor.user, actor=ADMIN)
            assert receipt.complete
            assert not any((await engine.verify_erasure(receipt)).values())
        assert in_files(folder, planted) == 0
    assert in_files(folder, planted) == 0
    assert [canary for canary in planted if canary in dump(path)] == []
    assert b"A bystander stays." in dump(path)
    assert [canary for canary in planted if canary in log.getvalue().encode()] == []


async def test_nothing_of_an_erased_subject_is_left_in_any_table(postgres: PostgresServer, tmp_path: Path) -> None:
    """Seen as the superuser, row by row. What the server's own log and dead rows hold until it vacuums is its own."""
    canary, actor = "zyxwvutpgcanary", Actor(user="u1", workspace="w")
    async with MemoryEngine(
        store=PostgresStore(postgres.database(tmp_path)),
        embedder=WordEmbedder(),
        rules=WriteRules(conflict=0.5),
        grant=Grant(levels=frozenset({"user", "workspace"})),
    ) as engine:
        await engine.add("A bystander stays.", actor=ADMIN)
        await plant(engine, actor, canary)
        assert in_tables(postgres, canary) > 3
        assert (await engine.erase("u1", actor=ADMIN)).complete
        assert in_tables(postgres, canary) == 0
        assert in_tables(postgres, "bystander") == 1


def in_tables(postgres: PostgresServer, text: str) -> int:
    """How many rows of the schema show `text`, as characters or as bytes."""
    names = [
        row[0]
        for row in postgres.sql(
            "SELECT relname FROM pg_class "
            "WHERE relnamespace = 'mnemic'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
        )
    ]
    spelt = (text, text.encode().hex())
    rows = [row[0] for name in names for row in postgres.sql(f'SELECT t::text FROM mnemic."{name}" t')]
    return sum(any(one in row for one in spelt) for row in rows)
