"""Consolidation: what is drawn together names its sources, goes with them, is written once, and is nobody's words."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.kinds.all_kinds import SevenKinds
from mnemic.kinds.entity import EntityMemory
from mnemic.kinds.entity_readers.rules import RuleEntityReader
from mnemic.maintenance.consolidate import ConsolidationReport, ConsolidationRules
from mnemic.maintenance.expiry_job import ExpiryRules
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.policy.limits import Limits
from mnemic.runtime.sync_facade import async_mode
from mnemic.stores.graph import InProcessGraph
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Deadline, Kind, Memory, Message, Origin, Source, Status, Trust
from mnemic.write.derived_memories import DERIVED, sources_of
from tests.scripted_model import Fault, ModelRequest, Reply, Scripted, ScriptedModelServer
from tests.unit.maintain.test_archive import archive, bring
from tests.unit.maintain.test_erase import on_disk

SAID = [
    ("user", "We fly to Lisbon with Marta on the third of May."),
    ("assistant", "Lovely. Do you have a hotel in Lisbon yet?"),
    ("user", "Yes, Hotel Aurora near the river, four nights."),
    ("assistant", "Noted. Shall I look for a pottery course there?"),
    ("user", "Please do. Marta wants to learn pottery from a real master."),
    ("assistant", "There is one in Alfama on the fifth of May."),
    ("user", "Book it for Marta and me, please."),
]


async def tell(engine: MemoryEngine, actor: Actor, session: str, said: Sequence[tuple[str, str]] = SAID) -> None:
    """A conversation that took place now."""
    at = engine.clock.now()
    messages = [
        Message(role=role, content=text, message_id=f"{session}:{place}", session=session, sent_at=at)
        for place, (role, text) in enumerate(said)
    ]
    await engine.record(messages, actor=actor)


async def drawn(engine: MemoryEngine, actor: Actor) -> list[Memory]:
    return list(await engine.list(actor=actor, categories=sorted(DERIVED), limit=100))


async def consolidated(engine: MemoryEngine, actor: Actor, **rules: Any) -> ConsolidationReport:
    return await engine.consolidate(actor=actor, rules=ConsolidationRules(**rules))


async def test_a_conversation_that_has_ended_gets_a_summary_with_its_lineage(
    engine: MemoryEngine, clock: ManualClock, ana: Actor
) -> None:
    await tell(engine, ana, "trip")
    assert (await engine.consolidate(actor=ana)).made == {}  # it may still go on
    clock.advance(timedelta(hours=2))
    report = await engine.consolidate(actor=ana)
    (summary,) = await drawn(engine, ana)
    assert report.made == {"summary": 1}
    assert report.complete
    assert report.cost.calls == report.cost.input_tokens == 0
    told = await engine.list(actor=ana, categories=["message"])
    assert sources_of(summary) == {one.memory_id for one in told}
    assert (summary.source.origin, summary.trust, summary.kind) == (Origin.AGENT_INFERRED, Trust.MEDIUM, Kind.EPISODIC)
    assert (summary.source.session, summary.data["by"], summary.author) == ("trip", "extract", ana.user)
    for line in summary.content.splitlines()[1:]:
        role, _, text = line.partition(": ")
        assert any(text in content and role == who for who, content in SAID)


async def test_a_second_run_writes_nothing_and_a_change_writes_it_anew(
    engine: MemoryEngine, clock: ManualClock, ana: Actor
) -> None:
    await tell(engine, ana, "trip")
    clock.advance(timedelta(hours=2))
    await engine.consolidate(actor=ana)
    before = await drawn(engine, ana)
    again = await engine.consolidate(actor=ana)
    assert (again.made, again.removed, again.unchanged) == ({}, 0, 1)
    assert await drawn(engine, ana) == before
    message = (await engine.list(actor=ana, categories=["message"]))[-1]
    await engine.update(message.memory_id, "We fly to Porto with Marta on the third of May.", actor=ana)
    changed = await engine.consolidate(actor=ana)
    assert (changed.made, changed.removed) == ({"summary": 1}, 1)
    (after,) = await drawn(engine, ana)
    assert "Lisbon with Marta" not in after.content
    assert (await engine.consolidate(actor=ana)).made == {}


async def test_what_is_forgotten_takes_what_was_derived_with_it(
    engine: MemoryEngine, clock: ManualClock, ana: Actor
) -> None:
    await tell(engine, ana, "trip")
    clock.advance(timedelta(hours=2))
    await engine.consolidate(actor=ana)
    told = await engine.list(actor=ana, categories=["message"])
    await engine.forget(told[0].memory_id, actor=ana)
    assert await drawn(engine, ana) == []
    assert len(await engine.list(actor=ana, categories=["message"])) == len(told) - 1


async def test_restored_elsewhere_it_is_nobodys_words_and_goes_with_its_sources(
    engine: MemoryEngine, clock: ManualClock, ana: Actor, tmp_path: Path
) -> None:
    await tell(engine, ana, "trip")
    clock.advance(timedelta(hours=2))
    await engine.consolidate(actor=ana)
    lines = await archive(engine, ana)
    store = SqliteStore(tmp_path / "other.db")
    async with MemoryEngine(store=store, embedder=WordEmbedder(), clock=clock) as other:
        await bring(other, ana, lines)
        (summary,) = await drawn(other, ana)
        assert summary.source.origin is Origin.AGENT_INFERRED
        await other.forget(next(iter(sources_of(summary))), actor=ana)
        assert await drawn(other, ana) == []


async def test_an_erased_subject_leaves_no_derived_byte(
    engine: MemoryEngine, clock: ManualClock, ana: Actor, ben: Actor, tmp_path: Path
) -> None:
    canary = "Zyxwvutsrq9876543210canary"
    await tell(engine, ana, "trip", [(role, f"{canary} {text}") for role, text in SAID])
    clock.advance(timedelta(hours=2))
    await engine.consolidate(actor=ben)  # on behalf of the tenant, whoever asks
    assert any(canary in one.content for one in await drawn(engine, ana))
    receipt = await engine.erase(ana.user, actor=ben)
    assert receipt.complete
    assert on_disk(tmp_path, canary.lower().encode()) == 0


async def test_what_is_erased_by_key_takes_its_profile_with_it(tmp_path: Path) -> None:
    async with _with_graph(tmp_path) as (engine, clock, ana):
        entities = SevenKinds(engine, ana, async_mode()).entity
        await entities.extract("My sister Marta works at Siemens in Lisbon.")
        await tell(engine, ana, "trip")
        clock.advance(timedelta(hours=2))
        await engine.consolidate(actor=ana)
        profiles = await engine.list(actor=ana, categories=["profile"])
        marta = next(one for one in profiles if "Marta" in one.content.splitlines()[0])
        assert "Marta works at Siemens." in marta.content.splitlines()  # a fact is nobody's words
        relation = next(
            one for one in await engine.list(actor=ana, kinds=[Kind.ENTITY]) if one.memory_id in sources_of(marta)
        )
        assert relation.key is not None
        revoked = await engine.revoke_consent(relation.key, actor=ana, erase_held=True)
        assert revoked.erased is not None
        assert revoked.erased.complete
        assert marta.memory_id not in {one.memory_id for one in await drawn(engine, ana)}


async def test_it_lives_no_longer_than_its_sources_and_ends_without_grace(
    engine: MemoryEngine, clock: ManualClock, ana: Actor
) -> None:
    engine = engine.under(
        policy=Policy(default_ttl_days=90), grant=engine.gateway.grant, budget=engine.gateway.budget, limits=Limits()
    )
    await tell(engine, ana, "trip")
    clock.advance(timedelta(hours=2))
    await engine.consolidate(actor=ana)
    (summary,) = await drawn(engine, ana)
    sources = await engine.list(actor=ana, categories=["message"])
    assert summary.expires_at == min(one.expires_at for one in sources if one.expires_at)
    for _ in range(3):
        clock.advance(timedelta(days=60))
        report = await engine.expire(actor=ana, rules=ExpiryRules())
    held = await engine.store.scan(ana.tenant, statuses=list(Status))
    assert report.expired or report.purged
    assert summary.memory_id not in {one.memory_id for one in held}


async def test_it_is_kept_as_long_as_sources_that_are_kept(
    engine: MemoryEngine, clock: ManualClock, ana: Actor
) -> None:
    await tell(engine, ana, "trip")
    clock.advance(timedelta(hours=2))
    await engine.consolidate(actor=ana)
    (summary,) = await drawn(engine, ana)
    assert summary.expires_at is None


async def test_a_theme_of_several_conversations_is_a_reflection(
    engine: MemoryEngine, clock: ManualClock, ana: Actor
) -> None:
    for number in range(8):
        theme = "My pottery class made another bowl from clay." if number % 3 == 0 else "Rain again all morning."
        said = [("user", f"{theme} Day{number} was {'abcdefgh'[number] * 5}."), ("user", f"More about {theme.lower()}")]
        await tell(engine, ana, f"s{number}", said)
        clock.advance(timedelta(days=1))
    report = await engine.consolidate(actor=ana)
    reflections = await engine.list(actor=ana, categories=["reflection"])
    assert report.made["reflection"] == len(reflections) > 0
    words = {one.data["about"] for one in reflections}
    assert words & {"pottery", "class", "bowl", "clay", "made", "another"}
    for one in reflections:
        sources = await engine.store.get_many(sorted(sources_of(one)), scopes=[one.scope])
        assert all(str(one.data["about"]) in source.content.casefold() for source in sources.values())
        assert len({source.source.session for source in sources.values()}) >= 3


async def test_a_theme_is_named_by_the_words_that_stand_together_and_once(
    engine: MemoryEngine, clock: ManualClock, ana: Actor
) -> None:
    for number in range(8):
        said = (
            ["My pottery class is tonight.", "That pottery class was full."] if number % 3 == 0 else ["Rain again."] * 2
        )
        await tell(engine, ana, f"s{number}", [("user", f"{text} Day{number}.") for text in said])
        clock.advance(timedelta(days=1))
    await engine.consolidate(actor=ana)
    titles = [one.content.splitlines()[0] for one in await engine.list(actor=ana, categories=["reflection"])]
    assert titles.count("Comes up in 3 conversations: pottery class.") == 1
    assert not {"Comes up in 3 conversations: pottery.", "Comes up in 3 conversations: class."} & set(titles)


async def test_a_run_is_bounded_and_the_next_one_goes_on(
    engine: MemoryEngine, clock: ManualClock, ana: Actor, ben: Actor
) -> None:
    for number in range(5):
        for actor in (ana, ben):
            await tell(engine, actor, f"{actor.user}-{number}", [(role, f"{text} {number}") for role, text in SAID])
    clock.advance(timedelta(hours=2))
    made, runs = 0, 0
    while True:
        report = await consolidated(engine, ana, most=3)
        made, runs = made + sum(report.made.values()), runs + 1
        assert sum(report.made.values()) <= 3
        if report.complete:
            break
    assert made == len(await drawn(engine, ana)) + len(await drawn(engine, ben))
    assert runs >= made // 3
    assert (await consolidated(engine, ana, most=3)).made == {}


async def test_a_summary_names_a_source_whose_identifier_looks_like_an_account_number(
    engine: MemoryEngine, clock: ManualClock, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    alike = int("3e79cd3a7d96c72f", 16).to_bytes(8)  # "be79-cd3a7d96c72f", a valid IBAN, in every identifier
    monkeypatch.setattr("mnemic.types.scope.os.urandom", lambda length: alike[:length])
    await tell(engine, ana, "trip")
    clock.advance(timedelta(hours=2))
    assert (await engine.consolidate(actor=ana)).made == {"summary": 1}
    (summary,) = await drawn(engine, ana)
    assert sources_of(summary) == {one.memory_id for one in await engine.list(actor=ana, categories=["message"])}
    assert (await engine.consolidate(actor=ana)).made == {}


async def test_a_dry_run_counts_and_changes_nothing(engine: MemoryEngine, clock: ManualClock, ana: Actor) -> None:
    await tell(engine, ana, "trip")
    clock.advance(timedelta(hours=2))
    report = await engine.consolidate(actor=ana, dry_run=True)
    assert (report.made, report.dry_run) == ({"summary": 1}, True)
    assert await drawn(engine, ana) == []


async def test_nothing_is_derived_from_what_is_derived_nor_merged_with_it(
    engine: MemoryEngine, clock: ManualClock, ana: Actor
) -> None:
    await tell(engine, ana, "trip")
    clock.advance(timedelta(hours=2))
    await engine.consolidate(actor=ana)
    (summary,) = await drawn(engine, ana)
    receipt = await engine.add(summary.content, actor=ana)
    assert receipt.outcome == "created"
    assert receipt.superseded == ()
    await engine.forget(str(receipt.memory_id), actor=ana)
    for _ in range(3):
        clock.advance(timedelta(days=1))
        await engine.consolidate(actor=ana)
    assert await drawn(engine, ana) == [summary]
    said = Message(role="summary", content=summary.content, origin=summary.source.origin)
    deadline = Deadline.after(timedelta(seconds=5), clock.monotonic)
    found = await RuleExtractor().extract(said, policy=Policy(), budget=Budget(), deadline=deadline)
    assert found.candidates == ()
    assert found.skipped[0].reason == "origin"


@pytest.mark.parametrize(
    ("least", "trust"), [(Origin.WEB, Trust.LOW), (Origin.TOOL_OUTPUT, Trust.LOW), (Origin.USER_STATED, Trust.MEDIUM)]
)
async def test_what_is_drawn_from_a_web_page_or_a_tool_is_trusted_no_more_than_it(
    engine: MemoryEngine, ana: Actor, least: Origin, trust: Trust
) -> None:
    said = [
        Candidate(content=f"The {one} boat is blue.", source=Source(origin=one)) for one in (Origin.USER_STATED, least)
    ]
    ids = [one.memory_id or "" for one in await engine.add_many(said, actor=ana)]
    about = Candidate(content="About boats.", kind=Kind.EPISODIC, data={"sources": list(ids)},
                      source=Source(origin=Origin.AGENT_INFERRED))  # fmt: skip
    receipt = await engine._derive(about, ana, ids)
    made = await engine.get(receipt.memory_id or "", actor=ana)
    assert (made.trust, made.source.origin) == (trust, least if trust is Trust.LOW else Origin.AGENT_INFERRED)


async def test_sources_that_are_gone_when_it_is_committed_stop_it(engine: MemoryEngine, ana: Actor) -> None:
    candidate = Candidate(
        content="About nobody.",
        kind=Kind.EPISODIC,
        category="profile",
        data={"about": "nobody", "sources": ["gone"]},
        source=Source(origin=Origin.AGENT_INFERRED),
    )
    receipt = await engine._derive(candidate, ana, ["gone"])
    assert (receipt.outcome, receipt.reason) == ("blocked", "sources_gone")
    assert await drawn(engine, ana) == []


async def test_what_the_policy_does_not_allow_is_refused_and_told(clock: ManualClock, tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    ana = Actor(user="ana")
    async with MemoryEngine(store=store, embedder=WordEmbedder(), clock=clock) as open_engine:
        await tell(open_engine, ana, "trip")
    clock.advance(timedelta(hours=2))
    closed = Policy(kinds=frozenset({Kind.LONG_TERM}))
    store = SqliteStore(tmp_path / "m.db")
    async with MemoryEngine(store=store, embedder=WordEmbedder(), clock=clock, policy=closed) as engine:
        report = await engine.consolidate(actor=ana)
        assert (report.made, report.refused) == ({}, {"invalid_memory_candidates:kind": 1})


async def test_rules_are_checked() -> None:
    with pytest.raises(InvalidInput, match="invalid_input:by"):
        ConsolidationRules(by="magic")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="invalid_input:most"):
        ConsolidationRules(most=0)


# -- with a model ------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _with_model(folder: Path, server: ScriptedModelServer) -> AsyncIterator[tuple[MemoryEngine, ManualClock]]:
    clock = ManualClock()
    completer = OpenAICompleter("scripted", base_url=server.base_url, api_key="test")
    async with MemoryEngine(
        store=SqliteStore(folder / "m.db"), embedder=WordEmbedder(), clock=clock, completer=completer
    ) as engine:
        yield engine, clock
    await completer.close()


@asynccontextmanager
async def _with_graph(
    folder: Path, server: ScriptedModelServer | None = None
) -> AsyncIterator[tuple[MemoryEngine, ManualClock, Actor]]:
    clock, store = ManualClock(), SqliteStore(folder / "m.db")
    completer = OpenAICompleter("scripted", base_url=server.base_url, api_key="test") if server else None
    async with MemoryEngine(
        store=store, embedder=WordEmbedder(), clock=clock, graph=InProcessGraph(), completer=completer
    ) as engine:
        yield engine, clock, Actor(user="ana", session="s1")
    if completer is not None:
        await completer.close()


async def test_a_model_writes_with_its_cost_and_only_what_was_said(tmp_path: Path, ana: Actor) -> None:
    points = [
        {"text": "They fly to Lisbon on the third of May.", "message": 0, "quote": "fly to Lisbon with Marta"},
        {"text": "They own a castle.", "message": 1, "quote": "we own a castle"},
    ]
    with ScriptedModelServer([{"points": points}]) as server:
        async with _with_model(tmp_path, server) as (engine, clock):
            await tell(engine, ana, "trip")
            clock.advance(timedelta(hours=2))
            report = await consolidated(engine, ana, by="model")
            (summary,) = await drawn(engine, ana)
            assert "They fly to Lisbon" in summary.content
            assert "castle" not in summary.content
            assert summary.data["by"] == "model"
            assert report.cost.calls == 1
            assert report.cost.input_tokens > 0
            assert report.degraded == {}
            assert (await consolidated(engine, ana, by="model")).cost.calls == 0
        assert len(server.requests) == 1


async def _drawn_of_marta(
    engine: MemoryEngine, clock: ManualClock, ana: Actor
) -> tuple[ConsolidationReport, Sequence[Memory]]:
    """What was made by the model of a conversation about Marta, whom the entity memory knows, and the profiles."""
    entities = EntityMemory(engine, ana, async_mode(), reader=RuleEntityReader())
    await entities.extract("My sister Marta works at Siemens in Lisbon.")
    await tell(engine, ana, "trip")
    clock.advance(timedelta(hours=2))
    report = await consolidated(engine, ana, by="model")
    return report, await engine.list(actor=ana, categories=["profile"])


def _about_marta(request: ModelRequest) -> dict[str, Any]:
    """A profile's points: one that holds, one that says the same, one that nobody said."""
    said = json.loads(request.user)["messages"]
    number = next(one["number"] for one in said if "learn pottery" in one["content"])
    held = {"text": "Marta wants to learn pottery.", "message": number, "quote": "Marta wants to learn pottery"}
    return {"points": [held, held, {**held, "text": "Marta is rich.", "quote": "Marta is very rich"}]}


async def test_a_profile_of_a_model_keeps_what_was_said_and_names_its_sources(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Scripted:
        about = json.loads(request.user).get("about")
        return _about_marta(request) if about == "Marta (person)" else Fault.EMPTY

    with ScriptedModelServer(answer) as server:
        async with _with_graph(tmp_path, server) as (engine, clock, ana):
            report, profiles = await _drawn_of_marta(engine, clock, ana)
            (marta,) = [one for one in profiles if one.content.startswith("About Marta")]
            assert "Marta works at Siemens." in marta.content.splitlines()  # from the entity memory, nobody's words
            assert marta.content.count("Marta wants to learn pottery.") == 1
            assert "rich" not in marta.content
            assert marta.data["by"] == "model"
            assert {one.data["by"] for one in profiles if one is not marta} == {"extract"}
            assert report.degraded == {"llm_empty": report.made["profile"] + report.made["summary"] - 1}
            sources = (await engine.store.get_many(sorted(sources_of(marta)), scopes=[marta.scope])).values()
            assert all("Marta" in one.content for one in sources)
            learnt = next(one for one in sources if "learn pottery" in one.content)
            assert "Marta works at Siemens." in json.loads(_asked_about(server, "Marta (person)").user)["known"]
            await engine.forget(learnt.memory_id, actor=ana)
            assert marta.memory_id not in {one.memory_id for one in await drawn(engine, ana)}


def _asked_about(server: ScriptedModelServer, about: str) -> ModelRequest:
    return next(one for one in server.requests if json.loads(one.user).get("about") == about)


@pytest.mark.parametrize(
    ("accident", "reason"),
    [
        (Fault.RESET, "llm_unavailable"),
        (Reply.status(429), "llm_unavailable"),
        (Fault.CONTENT_FILTER, "llm_empty"),
        ("no JSON", "llm_invalid_json"),
        ({"points": "none"}, "llm_invalid_schema"),
        ({"points": [{"text": "Marta is rich.", "message": 0, "quote": "Marta is rich"}]}, "unsupported"),
    ],
)
async def test_a_profile_that_a_model_fails_to_write_is_written_by_rules(
    tmp_path: Path, accident: Scripted, reason: str
) -> None:
    with ScriptedModelServer(lambda _: accident) as server:
        async with _with_graph(tmp_path, server) as (engine, clock, ana):
            report, profiles = await _drawn_of_marta(engine, clock, ana)
            assert profiles
            assert {one.data["by"] for one in profiles} == {"extract"}
            assert [why.split(":")[0] for why in report.degraded] == [reason]
            assert sum(report.degraded.values()) == sum(report.made.values())


async def test_a_model_that_fails_is_replaced_by_rules_and_it_is_said(tmp_path: Path, ana: Actor) -> None:
    with ScriptedModelServer([Fault.RESET]) as server:
        async with _with_model(tmp_path, server) as (engine, clock):
            await tell(engine, ana, "trip")
            clock.advance(timedelta(hours=2))
            report = await consolidated(engine, ana, by="model")
            (summary,) = await drawn(engine, ana)
            assert summary.data["by"] == "extract"
            assert report.made == {"summary": 1}
            assert [why.split(":")[0] for why in report.degraded] == ["llm_unavailable"]


async def test_a_reflection_of_a_model_names_two_sources_at_least(tmp_path: Path, ana: Actor) -> None:
    def told(number: int) -> list[tuple[str, str]]:
        return [("user", f"Pottery again, piece{number}."), ("user", f"Glazed pottery, glaze{number}.")]

    answer = {
        "reflections": [
            {"text": "Ana keeps up pottery.", "sources": [0, 2]},
            {"text": "Ana is rich.", "sources": [1]},
            {"text": "Ana sells pots.", "sources": [0, 99]},
        ]
    }
    with ScriptedModelServer([answer] * 3) as server:
        async with _with_model(tmp_path, server) as (engine, clock):
            for number in range(6):
                said = told(number) if number < 3 else [("user", f"{'qwertz'[number] * 4} {'yxcvbn'[number] * 5}")]
                await tell(engine, ana, f"s{number}", said)
                clock.advance(timedelta(days=1))
            report = await consolidated(engine, ana, by="model")
            reflections = await engine.list(actor=ana, categories=["reflection"])
            assert report.made["reflection"] == len(reflections) == report.cost.calls
            assert {one.content.splitlines()[1] for one in reflections} == {"Ana keeps up pottery."}
            assert all(len(sources_of(one)) == 2 for one in reflections)
            assert (await consolidated(engine, ana, by="model")).made == {}


async def test_a_portrait_of_a_model_is_the_profile_line_by_line_with_its_proof_and_rules_say_the_rest(
    tmp_path: Path, ana: Actor
) -> None:
    lines = [
        {"text": "Ana is allergic to peanuts and lives in Oslo.", "sources": [0, 1, 2]},
        {"text": "Is rich.", "sources": []},
        {"text": "Plays with Ben.", "sources": [3]},
        {"text": "Has 3 violins.", "sources": [3]},
    ]
    with ScriptedModelServer([{"lines": lines}, "out of order", {"lines": lines[:1]}]) as server:
        async with _with_model(tmp_path, server) as (engine, _clock):
            told = [
                await engine.add(text, key=key, actor=ana)
                for text, key in (
                    ("Ana", "name"),
                    ("I am allergic to peanuts.", None),
                    ("Oslo", "home_city"),
                    ("I play the violin.", None),
                )
            ]
            assert (await consolidated(engine, ana, by="model")).made == {"portrait": 1}
            profile = await engine.profile(actor=ana)
            assert [line.text for line in profile] == [lines[0]["text"], "I play the violin."]
            assert [one.memory_id for one in profile.lines[0].proof][::-1] == [one.memory_id for one in told[:3]]
            assert profile.text.index("lives in Oslo") < profile.text.index("violin")
            assert "Plays with Ben" not in profile.text
            block = await engine.context("Book me a table.", actor=ana, profile_tokens=200)
            assert "Ana is allergic to peanuts and lives in Oslo." in block.text
            assert (await consolidated(engine, ana, by="model")).made == {}  # nothing changed: no call

            await engine.add("Bergen", key="home_city", actor=ana)  # what it says holds no more: the rules say it again
            assert {line.text for line in await engine.profile(actor=ana)} == {
                *("name: Ana", "home city: Bergen", "I am allergic to peanuts.", "I play the violin.")
            }
            failed = await consolidated(engine, ana, by="model")
            assert (failed.made, len(failed.degraded)) == ({}, 1)
            assert len(await engine.profile(actor=ana)) == 4


async def test_without_a_model_the_rules_say_that_there_is_none(
    engine: MemoryEngine, clock: ManualClock, ana: Actor
) -> None:
    await tell(engine, ana, "trip")
    clock.advance(timedelta(hours=2))
    report = await consolidated(engine, ana, by="model")
    assert (report.made, report.degraded) == ({"summary": 1}, {"no_model": 1})
