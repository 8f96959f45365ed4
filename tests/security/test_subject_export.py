"""Everything held about one subject, from every field and place, and not one word of anybody else's."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from html.parser import HTMLParser
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, NotSupported, RevealDenied
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.maintenance import subject_data, subject_export
from mnemic.policy.grant import Grant
from mnemic.policy.limits import Limits, Quota
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.ports import RecordStore
from mnemic.stores.in_process_sessions import InProcessSessions
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Kind, Level, Message, Origin, Source
from mnemic.write.draft import WriteRules
from tests.servers import PostgresServer

SCHEMA = json.loads((Path(subject_export.__file__).parent / "subject-1.schema.json").read_text(encoding="utf-8"))
OPERATOR = Actor(user="zoe")


class Canaries:
    """Words of one person that nobody else says, a new one at each asking."""

    def __init__(self, name: str) -> None:
        self.said: list[str] = []
        self._name, self._number = name, count(1)

    def __call__(self) -> str:
        self.said.append(f"{self._name}canary{next(self._number)}x")
        return self.said[-1]


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RecordStore:
    MasterKeys.make(tmp_path / "master.key")
    keyring = KeyFolder(tmp_path / "keys", tmp_path / "master.key")
    if request.param == "sqlite":
        return SqliteStore(tmp_path / "m.db", keyring=keyring, seals=True)
    server: PostgresServer = request.getfixturevalue("postgres")
    return PostgresStore(server.database(tmp_path), keyring=keyring, seals=True)


@pytest.fixture
async def engine(store: RecordStore, tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    clock = ManualClock()
    async with MemoryEngine(
        store=store,
        embedder=WordEmbedder(),
        clock=clock,
        sessions=InProcessSessions(clock),
        rules=WriteRules(conflict=0.5),
        grant=Grant(levels=frozenset({"user", "workspace", "agent", "session"})),
        limits=Limits(quotas=(Quota(rows=100), Quota(kind=Kind.ENTITY, rows=10), Quota(per="tenant", rows=999))),
        redaction=RedactionRules(actions={"EMAIL": "tokenise"}),
        keyring=KeyFolder(tmp_path / "keys", tmp_path / "master.key"),
    ) as engine:
        yield engine


async def plant(engine: MemoryEngine, actor: Actor, new: Callable[[], str]) -> None:
    """A canary in every field that a person's words can come to, and at every place."""
    key = new()
    source = Source(ref=new(), session=f"{actor.user}-talk", speaker=new(), quote=new())
    full = Candidate(
        content=f"{new()} in a sentence",
        key=key,
        category=new(),
        context=f"{new()} beside it",
        data={new(): [new(), {"deep": new()}]},
        source=source,
    )
    added = await engine.add(full, actor=actor, idempotency_key="once")
    await engine.update(added.memory_id or "", f"{new()} in its place", actor=actor)
    await engine.add(new(), actor=actor, key=key)
    loved = new()
    await engine.add(f"{loved} loves the sea.", actor=actor)
    assert (
        await engine.add(
            Candidate(content=f"{loved} never loves the sea.", source=Source(origin=Origin.WEB)), actor=actor
        )
    ).was_flagged
    told = await engine.add(f"{new()} told in the office", actor=actor, level="workspace")
    await engine.update(told.memory_id or "", f"{new()} told better in the office", actor=actor)
    trait = Candidate(content=f"{new()} is a trait", kind=Kind.PERSONA, level=Level.AGENT, category="trait")
    await engine.add(trait, actor=actor)
    node = {"node": "n1", "name": new(), "label": "person", "aliases": [new()]}
    await engine.add(Candidate(content=f"{new()} met", kind=Kind.ENTITY, data={"nodes": [node]}), actor=actor)
    form = Candidate(content=f"{new()} booked", kind=Kind.STRUCTURED, category="form", data={"seat": new()})
    await engine.add(form, actor=actor)
    await engine.record([Message(role="user", content=f"{new()} said so.", speaker=new())], actor=actor)
    await engine.grant_consent(new(), actor=actor)
    assert engine.sessions is not None
    said = Message(role="user", content=f"{new()} right now", speaker=new(), session=f"{actor.user}-talk")
    talk = Actor(tenant=actor.tenant, user=actor.user, session=f"{actor.user}-talk").scope(Level.SESSION)
    await engine.sessions.append(talk, said, ttl=subject_export.MINUTE, keep=9)


async def everything(engine: MemoryEngine, user: str, **options: Any) -> str:
    actor = Actor(user=user) if options.get("values") else OPERATOR
    return "".join([chunk async for chunk in engine.export_subject(user, actor=actor, **options)])


async def test_every_field_is_in_it_and_nobody_elses(engine: MemoryEngine) -> None:
    ana, ben = (Actor(user=name, workspace="office", session=f"{name}-talk") for name in ("ana", "benjamin"))
    hers, his = Canaries("ana"), Canaries("benjamin")
    await plant(engine, ben, his)
    await plant(engine, ana, hers)
    await plant(engine, Actor(tenant="rival", user="ana", workspace="office"), rival := Canaries("rival"))
    for form in ("json", "html"):
        told = await everything(engine, "ana", form=form)
        assert [canary for canary in hers.said if canary not in told] == []
        assert [canary for canary in (*his.said, *rival.said) if canary in told] == []
        assert "benjamin" not in told


async def test_whose_name_only_begins_alike_is_somebody_else(engine: MemoryEngine) -> None:
    for user in ("ana", "ana:b"):
        await engine.add("Lunch is at noon.", actor=Actor(user=user), idempotency_key="once")
    (request,) = json.loads(await everything(engine, "ana"))["requests"]
    assert not request["idempotency_key"].startswith("ana:b:")


async def test_it_keeps_to_its_schema_and_says_what_became_of_each(engine: MemoryEngine) -> None:
    ana = Actor(user="ana", workspace="office", session="ana-talk")
    await plant(engine, ana, Canaries("ana"))
    await engine.run(message="I live in Oslo.", goal="What is there to know about Oslo?", actor=ana)
    held = json.loads(await everything(engine, "ana"))
    jsonschema.validate(held, SCHEMA, cls=jsonschema.Draft202012Validator)
    statuses = {one["status"] for one in held["memories"]}
    assert statuses == {"active", "superseded", "pending_review"}
    assert {one["kind"] for one in held["memories"]} == {"long_term", "persona", "entity", "structured", "episodic"}
    assert [len(one["earlier"]) for one in held["memories"] if one["level"] == "workspace"] == [1]
    assert held["injections"][-1]["run_of"] == "subject"
    assert held["injections"][-1]["memories"] != []
    assert {"user.rows", "user.entity.rows"} == {one["limit"] for one in held["quotas"]}
    assert {"created", "pending_review", "revised", "exported", "consent_granted"} <= {
        line["action"] for line in held["audit"]
    }


async def test_what_others_made_of_it_is_named_and_not_shown(engine: MemoryEngine) -> None:
    ana, ben = (Actor(user=name, workspace="office", session="s") for name in ("ana", "ben"))
    await engine.add("Ana Silva has a red bicycle.", actor=ana, level="workspace")
    again = Candidate(content="Ana Silva: has a red bicycle.", context="Otto says so", level="workspace")
    merged = await engine.add(again, actor=ben, idempotency_key="once")
    assert merged.was_merged
    await engine.run(goal="Who has a red bicycle?", actor=ben)
    told = await everything(engine, "ana")
    held = json.loads(told)
    assert [one["memory_id"] for one in held["merged_elsewhere"]] == [merged.memory_id]
    assert "Otto" not in told
    assert len(held["memories"]) == 1
    assert {line["by"] for line in held["audit"]} >= {"subject", "another"}
    corrected = await engine.add("The lift is slow.", actor=ana, level="workspace")
    await engine.update(corrected.memory_id or "", "The lift is fast, says Otto.", actor=ben)
    told = await everything(engine, "ana")
    assert "The lift is slow." in told
    assert "Otto" not in told


async def test_a_conversation_others_write_in_is_named_only(engine: MemoryEngine) -> None:
    ana, ben = (Actor(user=name, session="both") for name in ("ana", "ben"))
    for actor in (ana, ben):
        await engine.add(f"{actor.user} was here today", actor=actor, level="session")
    assert engine.sessions is not None
    for actor in (ana, ben):
        said = Message(role="user", content=f"{actor.user} speaks")
        await engine.sessions.append(actor.scope(Level.SESSION), said, ttl=subject_export.MINUTE, keep=9)
    held = json.loads(await everything(engine, "ana"))
    assert held["conversations"] == [{"session": "both", "shared": True, "messages": []}]


async def test_sealed_values_are_for_the_subject_alone(engine: MemoryEngine) -> None:
    ana = Actor(user="ana")
    await engine.add("Write to ana.silva@example.org", actor=ana)
    assert "ana.silva@" not in await everything(engine, "ana")
    told = json.loads(await everything(engine, "ana", values=True))
    assert [one["value"] for one in told["sealed_values"]] == ["ana.silva@example.org"]
    with pytest.raises(RevealDenied, match="reveal_denied:subject"):
        await anext(engine.export_subject("ana", actor=OPERATOR, values=True))
    exports = [event for event in await engine.audit(actor=ana) if event.action == "exported"]
    assert [(event.actor, event.detail["values"]) for event in exports] == [("zoe", False), ("ana", True)]


async def test_what_cannot_be_asked_for(engine: MemoryEngine, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="form"):
        await anext(engine.export_subject("ana", actor=OPERATOR, form="pdf"))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="subject"):
        await anext(engine.export_subject("a\tb", actor=OPERATOR))
    async with MemoryEngine(store=SqliteStore(tmp_path / "plain.db"), embedder=WordEmbedder()) as plain:
        with pytest.raises(NotSupported, match="reveal"):
            await anext(plain.export_subject("ana", actor=Actor(user="ana"), values=True))


async def test_it_is_read_page_by_page(engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (subject_export, subject_data):
        monkeypatch.setattr(module, "PAGE", 2)
    ana = Actor(user="ana", workspace="office")
    for number in range(7):
        await engine.add(f"word{number}", actor=ana, idempotency_key=f"k{number}", key=f"name{number}")
        await engine.add(f"office{number}", actor=ana, level="workspace", key=f"room{number}")
    held = json.loads(await everything(engine, "ana"))
    assert len({one["memory_id"] for one in held["memories"]}) == len(held["memories"]) == 14
    assert [one["idempotency_key"] for one in held["requests"]] == sorted(
        one["idempotency_key"] for one in held["requests"]
    )
    assert len(held["requests"]) == 7


@pytest.mark.parametrize("form", ["json", "html"])
async def test_the_audit_is_walked_as_often_as_sections_need_it(
    engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    await plant(engine, Actor(user="ana", workspace="office"), Canaries("ana"))
    asked: list[int] = []
    audit = engine.store.audit

    async def counted(tenant: str, *, after: int = 0, **more: Any) -> Any:
        asked.append(after)
        return await audit(tenant, after=after, **more)

    monkeypatch.setattr(engine.store, "audit", counted)
    assert "anacanary1x" in await everything(engine, "ana", form=form)
    assert asked.count(0) == len(("what the subject wrote elsewhere", "injections", "audit"))


class Page(HTMLParser):
    """The elements of a page, and whether each that was opened was closed in order."""

    VOID = frozenset({"meta"})
    OPEN = frozenset({"html"})

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in self.VOID | self.OPEN:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.OPEN:
            assert self._open.pop() == tag

    def close(self) -> None:
        super().close()
        assert self._open == []


async def test_the_page_is_whole_without_script_and_says_its_structure(engine: MemoryEngine) -> None:
    ana = Actor(user="ana", workspace="office")
    await plant(engine, ana, Canaries("ana"))
    await engine.add('<script>alert(1)</script> & "more"', actor=ana, key="markup", category="<b>")
    text = await everything(engine, "ana", form="html")
    page = Page()
    page.feed(text)
    page.close()
    assert {"script", "img", "link", "iframe", "b"}.isdisjoint(page.names)
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert len(set(page.ids)) == len(page.ids)
    levels = [int(name[1]) for name in page.names if re.fullmatch(r"h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(deeper <= before + 1 for before, deeper in pairwise(levels))
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp;" in text
    assert '<html lang="en">' in text
    assert page.names.count("caption") == page.names.count("table") > 3
