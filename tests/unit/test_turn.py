"""One turn through a scripted model: every way it can end, and what it reports when it does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mnemic import Settings, build_engine
from mnemic.compose.template_composer import ModelComposer
from mnemic.engine import MemoryEngine
from mnemic.errors import StoreUnavailable
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.policy.budget import Budget
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.policy.proposal_check import parse_json
from mnemic.ports import Snapshot
from mnemic.providers.minilm import InProcessEmbedder, MiniLmEmbedder, Vectors
from mnemic.providers.retrying import RetryingCompleter
from mnemic.retrieve.intent_planning import ModelPlanner
from mnemic.runtime.clock import SystemClock
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Message
from mnemic.types.trace import RunReport
from tests.scripted_model import Fault, ModelRequest, Reply, ScriptedModelServer

MESSAGE = "For future incident updates write in English, use email as the channel; I am enterprise tier."
GOAL = "Draft today's payment incident update and next actions."
CONTEXT = {"incident_id": "inc_1", "region": "US"}
ACTOR = Actor(user="ana", workspace="payments", session="session_1")

ITEMS = {
    "items": [
        {"key": "language", "value": "english", "confidence": 0.95, "quote": "write in English"},
        {"key": "update_channel", "value": "email", "confidence": 0.95, "quote": "use email as the channel"},
        {"key": "declared_tier", "value": "enterprise", "quote": "I am enterprise tier"},
    ]
}
INTENT = {"kind": "retrieve_memory", "query": "incident update preferences", "top_k": 4}
ANSWER = {
    "answer": "Incident update: the US gateway is degraded. Next actions: send the updates via email.",
    "used_memory_keys": ["language", "update_channel"],
}
POLICY = Policy.of(
    KeyRule("language", preference=True, verifier="language"),
    KeyRule("update_channel", preference=True, verifier="contains"),
    KeyRule("declared_tier", sensitive=True),
    levels=frozenset({"user", "workspace"}),
    on_violation="stop",
)


def phase_of(request: ModelRequest) -> str:
    names = {"user_message": "capture", "memory_items": "apply", "available_scopes": "plan"}
    return next(phase for name, phase in names.items() if name in request.user)


def script(**replies: Any) -> Callable[[ModelRequest], Any]:
    """The good replies, but for those given by phase."""
    answers = {"capture": ITEMS, "plan": INTENT, "apply": ANSWER} | replies
    return lambda request: answers[phase_of(request)]


class WithoutWaiting(SystemClock):
    """Retries do not wait."""

    async def sleep(self, duration: timedelta) -> None:
        self.slept = duration


@asynccontextmanager
async def engine_on(server: ScriptedModelServer, **settings: Any) -> AsyncIterator[MemoryEngine]:
    clock = WithoutWaiting()
    client = OpenAICompleter(
        model="scripted", base_url=server.base_url, api_key="k", timeout=settings.pop("timeout", 5)
    )
    completer = RetryingCompleter(client, clock, attempts=settings.pop("attempts", 2), check=parse_json)
    policy = settings.pop("policy", POLICY)
    engine = MemoryEngine(
        store=settings.pop("store", None) or InProcessStore(),
        embedder=settings.pop("embedder", None) or WordEmbedder(),
        clock=clock,
        policy=policy,
        grant=settings.pop("grant", None) or Grant.from_policy(policy),
        extractor=ModelExtractor(completer),
        planner=ModelPlanner(completer),
        composer=ModelComposer(completer),
        preference_bias=True,
        **settings,
    )
    async with engine:
        try:
            yield engine
        finally:
            await client.close()


async def run(replies: Callable[[ModelRequest], Any], **settings: Any) -> RunReport:
    with ScriptedModelServer(replies) as server:
        async with engine_on(server, **settings) as engine:
            return await engine.run(actor=ACTOR, message=MESSAGE, goal=GOAL, context=CONTEXT)


async def test_a_model_plans_parts_kinds_and_times_and_the_report_says_what_was_done() -> None:
    day = {"happened_from": "2026-03-01", "happened_to": "2026-03-04"}
    plan = INTENT | day | {"parts": ["incident updates", "Ana's email"], "kinds": ["long_term"], "as_of": "2026-03-04"}
    report = (await run(script(plan=plan, apply=ANSWER | {"used_memory_keys": []}))).as_dict()
    done = report["history"][1]["plan"]
    assert done["queries"] == [INTENT["query"], "incident updates", "Ana's email"]
    assert done["kinds"] == ["long_term"]
    assert (done["happened_from"], done["happened_to"]) == ("2026-03-01T00:00:00+00:00", "2026-03-05T00:00:00+00:00")
    assert done["as_of"] == "2026-03-04T23:59:59.999999+00:00"
    asked = report["history"][1]["intent"]
    assert asked["kinds"] == ["long_term"]
    assert asked["happened_to"] == done["happened_to"]
    assert report["trace"][1]["memory_hits"] == 0


async def test_a_good_run_has_the_shape_of_the_published_sample() -> None:
    report = (await run(script())).as_dict()
    assert report["status"] == "ok"
    assert report["stop_reason"] == "success"
    assert report["outcome"] == "memory_applied"
    assert report["used_memory_keys"] == ["language", "update_channel"]
    assert [entry["key"] for entry in report["applied_memory"]] == ["language", "update_channel"]
    assert {entry["key"]: entry["value"] for entry in report["memory_state"]} == {
        "language": "english",
        "update_channel": "email",
    }
    assert all(entry["source"] == "session_1" for entry in report["memory_state"])
    capture, retrieve, apply = report["trace"]
    assert (capture["phase"], capture["candidates"], capture["written"], capture["blocked"]) == (
        "capture_store",
        3,
        2,
        1,
    )
    assert (retrieve["phase"], retrieve["memory_hits"], retrieve["requested_scopes"]) == ("retrieve", 2, ["user"])
    assert (apply["phase"], apply["applied_memory_count"]) == ("apply", 2)
    story = report["history"]
    assert story[0]["blocked"] == [{"key": "declared_tier", "reason": "key_denied_execution"}]
    assert story[0]["written_keys"] == ["language", "update_channel"]
    assert story[1]["intent"] == INTENT
    assert json.loads(json.dumps(report)) == report


async def test_the_model_is_told_how_long_the_answer_may_be() -> None:
    asked: list[ModelRequest] = []

    def noted(request: ModelRequest) -> Any:
        asked.append(request)
        return script()(request)

    await run(noted, budget=Budget(max_answer_chars=300))
    (apply,) = [request for request in asked if phase_of(request) == "apply"]
    assert json.loads(apply.user)["max_answer_chars"] == 300


async def test_the_four_states_of_a_memory_are_kept_apart() -> None:
    plain = ANSWER | {"used_memory_keys": ["update_channel"]}
    report = await run(script(apply=plain))
    assert len(report.audit.retrieved) == len(report.audit.injected) == 2
    assert report.audit.cited == report.audit.verified
    assert len(report.audit.cited) == 1
    assert report.audit.unverifiable == ()


async def test_a_cited_memory_that_the_answer_uses_in_other_words_is_likely_used() -> None:
    answer = "Bring stoneware clay and a set of trimming tools: she will be happy at the wheel."

    def cites_all(request: ModelRequest) -> Any:
        shown = json.loads(request.user).get("memory_items", ())
        replies = {"plan": INTENT | {"query": "gift idea for my wife"}}
        return script(**replies, apply={"answer": answer, "used_memory_keys": [one["ref"] for one in shown]})(request)

    with ScriptedModelServer(cites_all) as server:
        async with engine_on(server, embedder=MiniLmEmbedder(), policy=Policy()) as engine:
            used = await engine.add("Noor, my wife, has taken up pottery and loves it.", actor=ACTOR)
            beside = await engine.add("My wife turns forty on the third of May.", actor=ACTOR)
            report = await engine.run(actor=ACTOR, goal="What would be a gift idea for my wife?")
    assert report.audit.likely == (used.memory_id,)
    assert report.audit.unverifiable == (beside.memory_id,)
    assert report.audit.certainty[beside.memory_id] < report.audit.certainty[used.memory_id] < 1


async def test_what_was_injected_stands_in_the_audit_trail() -> None:
    with ScriptedModelServer(script()) as server:
        async with engine_on(server) as engine:
            report = await engine.run(actor=ACTOR, message=MESSAGE, goal=GOAL)
            events = await engine.audit(actor=ACTOR)
    injected = [event for event in events if event.action == "injected"]
    assert len(injected) == 1
    assert injected[0].detail["run_id"] == report.run_id
    assert [entry[0] for entry in injected[0].detail["memories"]] == list(report.audit.injected)  # type: ignore[index,union-attr]


NO_OBJECT = {
    "capture": "invalid_memory_candidates:not_object",
    "plan": "invalid_retrieval_intent:not_object",
    "apply": "llm_invalid_json",
}


@pytest.mark.parametrize("phase", ["capture", "plan", "apply"])
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply.status(500), "llm_unavailable"),
        (Reply.status(429), "llm_unavailable"),
        (Reply.status(401), "llm_unavailable:auth"),
        (Reply.broken(Fault.RESET), "llm_unavailable"),
        ("this is no JSON", NO_OBJECT),
        ('{"items": ', NO_OBJECT),
        ('{"answer": "a", "answer": "b"}', NO_OBJECT),
        (Reply.broken(Fault.NO_CHOICES), "llm_empty"),
        ("", "llm_empty"),
    ],
)
async def test_a_failing_model_stops_the_run_in_every_phase(phase: str, reply: Any, reason: Any) -> None:
    report = await run(script(**{phase: reply}))
    assert report.stop_reason == (reason[phase] if isinstance(reason, dict) else reason)
    assert report.status == "stopped"
    assert report.phase == {"capture": "capture", "plan": "retrieve_plan", "apply": "apply"}[phase]
    written = [] if phase == "capture" else ["language", "update_channel"]
    assert sorted(entry["key"] for entry in report.memory_state) == written
    assert report.answer is None


async def test_a_hanging_model_ends_with_the_runs_budget() -> None:
    store = InProcessStore()
    await run(script(), store=store)
    with ScriptedModelServer(script(plan=Reply.broken(Fault.HANG))) as server:
        async with engine_on(server, store=store, budget=Budget(max_seconds=0.5)) as engine:
            report = await engine.run(actor=ACTOR, goal=GOAL)
    assert report.status == "stopped"
    assert (report.stop_reason, report.phase) == ("max_seconds", "retrieve_plan")
    assert sorted(entry["key"] for entry in report.memory_state) == ["language", "update_channel"]


@pytest.mark.parametrize(
    ("replies", "phase", "reason"),
    [
        ({"capture": []}, "capture", "invalid_memory_candidates:not_object"),
        ({"capture": {"items": 1}}, "capture", "invalid_memory_candidates:items"),
        (
            {"capture": {"items": [{"key": "shoe_size", "value": "45"}]}},
            "capture",
            "memory_key_not_allowed_policy:shoe_size",
        ),
        ({"plan": {"kind": "other"}}, "retrieve_plan", "invalid_retrieval_intent:kind"),
        ({"plan": INTENT | {"scopes": ["workspace"]}}, "retrieve", "scope_denied:workspace"),
        ({"plan": INTENT | {"query": "x" * 241}}, "retrieve_plan", "invalid_retrieval_intent:query_too_long"),
        ({"apply": {"answer": 1, "used_memory_keys": []}}, "apply", "llm_invalid_schema"),
        ({"apply": {"answer": " ", "used_memory_keys": []}}, "apply", "llm_empty"),
        (
            {"apply": ANSWER | {"used_memory_keys": ["declared_tier"]}},
            "apply",
            "invalid_answer:memory_keys_out_of_context",
        ),
        ({"apply": ANSWER | {"answer": "word " * 200}}, "apply", "invalid_answer:too_long"),
        (
            {
                "apply": {
                    "answer": "Incident update: the US gateway is degraded; do not use email.",
                    "used_memory_keys": ["update_channel"],
                }
            },
            "apply",
            "invalid_answer:memory_declared_but_not_applied",
        ),
    ],
)
async def test_what_breaks_a_contract_stops_the_run(replies: dict[str, Any], phase: str, reason: str) -> None:
    report = await run(script(**replies))
    assert (report.status, report.stop_reason, report.phase) == ("stopped", reason, phase)


GERMAN = ANSWER | {"answer": "Das ist die Lage: der Dienst ist nicht da, und wir senden es per email an alle."}


async def test_one_refuted_memory_is_not_hidden_by_a_verified_one() -> None:
    report = await run(script(apply=GERMAN))
    assert (report.stop_reason, report.answer) == ("success", GERMAN["answer"])
    named = {entry["memory_id"]: entry["key"] for entry in report.applied_memory}
    assert [named[one] for one in report.audit.refuted] == ["language"]
    assert [named[one] for one in report.audit.verified] == ["update_channel"]
    assert report.as_dict()["audit"]["refuted"] == list(report.audit.refuted)


async def test_a_policy_may_stop_at_any_refuted_memory() -> None:
    report = await run(script(apply=GERMAN), policy=replace(POLICY, on_refuted="stop"))
    assert report.stop_reason == "invalid_answer:memory_declared_but_not_applied"
    assert report.answer is None
    told = report.as_dict()
    assert told["used_memory_keys"] == ["language", "update_channel"]
    assert [entry["key"] for entry in told["applied_memory"]] == ["language", "update_channel"]


@pytest.mark.parametrize(
    "answer", ["No problem, email it is.", "Sure, no worries - email will be used.", "I'll e-mail you the update."]
)
async def test_an_honest_answer_is_not_thrown_away(answer: str) -> None:
    report = await run(script(apply={"answer": answer, "used_memory_keys": ["update_channel"]}))
    assert (report.stop_reason, len(report.audit.verified)) == ("success", 1)


@pytest.mark.parametrize("said", ["Updates go out by email.", "<think>{channel}</think>\nUpdates go out by email."])
async def test_an_answer_in_plain_words_is_the_answer_where_policy_does_not_stop(said: str) -> None:
    loose = replace(POLICY, on_violation="skip", on_model_failure="rules")
    report = await run(script(apply=Reply(content=said)), policy=loose)
    assert (report.stop_reason, report.outcome, report.cost.calls) == ("success", "context_only", 3)
    assert report.as_dict()["answer"] == "Updates go out by email."
    stopped = await run(script(apply=Reply(content=said)))
    assert (stopped.stop_reason, stopped.phase) == ("llm_invalid_json", "apply")


async def test_an_answer_that_is_broken_json_is_asked_for_once_more_and_never_shown() -> None:
    loose = replace(POLICY, on_violation="skip", on_model_failure="rules")
    tries: list[str] = ['{"answer": "Upd', json.dumps(ANSWER)]
    mended = await run(lambda one: tries.pop(0) if phase_of(one) == "apply" else script()(one), policy=loose)
    assert mended.stop_reason == "success"
    broken = await run(script(apply=Reply(content='{"answer" "Upd')), policy=loose)
    assert (broken.stop_reason, broken.as_dict()["answer"]) == ("llm_invalid_json", None)


async def test_a_stop_says_which_keys_were_out_of_context() -> None:
    cited = ANSWER | {"used_memory_keys": ["update_channel", "declared_tier", "invented\nkey" + "x" * 100]}
    told = (await run(script(apply=cited))).as_dict()
    assert told["stop_reason"] == "invalid_answer:memory_keys_out_of_context"
    assert told["invalid_used_memory_keys"] == ["declared_tier", "invented\\x0akey" + "x" * 49]
    assert told["retrieved_keys"] == ["language", "update_channel"]


async def test_a_stop_shows_the_intent_that_was_refused_redacted_and_cut() -> None:
    said = {"kind": "other", "query": "the file of jo@example.com " + "x" * 500, "deep": [[[["?"]]]], "n": 2, "o": None}
    told = (await run(script(plan=said))).as_dict()["raw_intent"]
    assert told["kind"] == "other"
    assert "jo@example.com" not in told["query"]
    assert "[EMAIL" in told["query"]
    assert len(told["query"]) <= 300
    assert (told["deep"], told["n"], told["o"]) == ([["<list>"]], 2, None)
    denied = (await run(script(plan=INTENT | {"scopes": ["workspace"]}))).as_dict()
    assert (denied["stop_reason"], denied["raw_intent"]["scopes"]) == ("scope_denied:workspace", ["workspace"])
    assert "raw_intent" not in (await run(script())).as_dict()


async def test_a_stop_shows_what_the_model_wanted_to_store_redacted() -> None:
    item = {"key": "shoe_size", "value": "45, ask jo@example.com", "quote": "I"}
    told = (await run(script(capture={"items": [item]}))).as_dict()
    assert (told["stop_reason"], told["phase"]) == ("memory_key_not_allowed_policy:shoe_size", "capture")
    (shown,) = told["raw_capture"]["items"]
    assert shown["key"] == "shoe_size"
    assert "[EMAIL" in shown["value"]
    assert (await run(script(capture=[1]))).as_dict()["raw_capture"] == [1]
    assert "raw_capture" not in (await run(script())).as_dict()


async def test_a_denied_scope_is_reported_with_the_intent_that_asked_for_it() -> None:
    told = (await run(script(plan=INTENT | {"scopes": ["workspace"]}))).as_dict()
    assert told["intent"] == INTENT | {"scopes": ["workspace"]}


LENIENT = replace(POLICY, on_violation="skip", on_model_failure="rules")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply.status(500), "llm_unavailable"),
        (Reply.status(401), "llm_unavailable:auth"),
        ("I would look for email.", "llm_invalid_json"),
        ("", "llm_empty"),
        ({"kind": "other"}, "invalid_retrieval_intent:kind"),
        (INTENT | {"top_k": 99}, "invalid_retrieval_intent:top_k"),
        (INTENT | {"query": "x" * 241}, "invalid_retrieval_intent:query_too_long"),
    ],
)
async def test_a_search_needs_no_model_to_plan_it(reply: Any, reason: str) -> None:
    report = await run(script(plan=reply), policy=LENIENT)
    assert (report.stop_reason, report.outcome) == ("success", "memory_applied")
    assert report.errors == (f"retrieve_plan:model: {reason}",)


async def test_the_cost_is_that_of_every_answer_of_the_model() -> None:
    with ScriptedModelServer(script()) as server:
        async with engine_on(server) as engine:
            report = await engine.run(actor=ACTOR, message=MESSAGE, goal=GOAL, context=CONTEXT)
        asked = len(server.requests)
    assert asked == report.cost.calls == 3
    assert report.cost.input_tokens >= 3
    garbled = iter(["no JSON", json.dumps(ANSWER)])
    replies = script()
    with ScriptedModelServer(lambda r: next(garbled) if phase_of(r) == "apply" else replies(r)) as server:
        async with engine_on(server) as engine:
            again = await engine.run(actor=ACTOR, message=MESSAGE, goal=GOAL, context=CONTEXT)
        asked = len(server.requests)
    assert again.stop_reason == "success"
    assert asked == again.cost.calls == 4
    stopped = await run(script(apply=""))
    assert (stopped.stop_reason, stopped.cost.calls) == ("llm_empty", 4)


async def test_calls_that_failed_are_counted_with_those_that_were_answered() -> None:
    failing = iter([Reply.status(500), Reply.status(429)])
    replies = script()
    with ScriptedModelServer(lambda r: next(failing, None) or replies(r)) as server:
        async with engine_on(server, attempts=3) as engine:
            report = await engine.run(actor=ACTOR, message=MESSAGE, goal=GOAL, context=CONTEXT)
        asked = len(server.requests)
    assert report.stop_reason == "success"
    assert asked == report.cost.calls == 5


async def test_messages_read_together_cost_what_was_asked_for_them() -> None:
    window = {"items": [{"turn": 0, "key": "language", "value": "english", "quote": "write in English"}]}
    with ScriptedModelServer(lambda _: window) as server:
        async with engine_on(server) as engine:
            reports = await engine.capture_many(
                [Message(role="user", content="Please write in English."), Message(role="user", content="Thanks!")],
                actor=ACTOR,
            )
    assert [report.cost.calls for report in reports if report is not None] == [1, 0]


async def test_the_models_delay_and_the_runs_time_are_told_apart() -> None:
    store = InProcessStore()
    await run(script(), store=store)
    with ScriptedModelServer(script(plan=Reply.broken(Fault.HANG))) as server:
        async with engine_on(server, store=store, timeout=0.2, attempts=1) as engine:
            slow = await engine.run(actor=ACTOR, goal=GOAL)
        async with engine_on(server, store=store, budget=Budget(max_seconds=0.2)) as engine:
            late = await engine.run(actor=ACTOR, goal=GOAL)
    assert (slow.status, slow.stop_reason) == ("stopped", "llm_timeout")
    assert (late.status, late.stop_reason, late.phase) == ("stopped", "max_seconds", "retrieve_plan")
    assert late.errors == ("retrieve_plan: llm_timeout",)
    assert slow.cost.calls == 1, "asked, though nobody waited for the answer"


async def test_the_first_turn_of_a_process_does_not_pay_for_loading_the_models() -> None:
    clock, words = ManualClock(), WordEmbedder()

    def load() -> Vectors:
        clock.advance(timedelta(seconds=60))
        return lambda texts: [words.vector(text) for text in texts]

    embedder, budget = InProcessEmbedder(words.space, load), Budget(max_seconds=25)
    async with MemoryEngine(store=InProcessStore(), embedder=embedder, clock=clock, budget=budget) as engine:
        report = await engine.run(actor=ACTOR, goal=GOAL)
    assert (report.status, report.stop_reason) == ("ok", "success")


async def test_a_run_without_time_asks_and_costs_nothing() -> None:
    with ScriptedModelServer(script()) as server:
        async with engine_on(server, budget=Budget(max_seconds=1e-6)) as engine:
            report = await engine.run(actor=ACTOR, message=MESSAGE, goal=GOAL)
        assert server.requests == []
    assert (report.stop_reason, report.cost.calls) == ("max_seconds", 0)


async def test_without_a_model_a_question_no_template_serves_is_not_answered() -> None:
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()) as engine:
        for key, value in (("seat", "aisle"), ("diet", "vegetarian")):
            await engine.add(value, key=key, actor=ACTOR)
        asked = await engine.run(actor=ACTOR, goal="Who is Julia and which seat does she like?")
        served = await engine.run(actor=ACTOR, goal="Find me an aisle seat on a flight to Denver.")
    assert (asked.status, asked.outcome, asked.basis) == ("ok", "context_only", "none")
    assert (asked.answer or "").startswith("No language model is configured, and no template answers this.")
    assert "aisle seats" not in (asked.answer or "")
    assert (served.outcome, served.basis) == ("context_only", "echo")
    assert served.audit.verified == ()
    assert served.audit.unverifiable == served.audit.cited != ()


async def test_without_a_model_what_is_about_the_question_is_quoted_first() -> None:
    """Preferences are listed first, and a template quotes only three memories."""
    async with build_engine(Settings(store="memory:")) as engine:
        for said in ("Always answer in English.", "I live in Oslo.", "My birthday is 14 June.", "I am vegetarian."):
            await engine.capture(said, actor=ACTOR)
        await engine.add("My sister Emma lives in Madrid.", actor=ACTOR)
        report = await engine.run(actor=ACTOR, goal="Where does my sister Emma live?")
    assert "remembered: “My sister Emma lives in Madrid.”" in (report.answer or "")


async def test_an_answer_without_memories_is_context_only() -> None:
    report = await run(script(apply={"answer": "All is well.", "used_memory_keys": []}))
    assert (report.stop_reason, report.outcome) == ("success", "context_only")


async def test_the_same_key_in_two_scopes_is_cited_with_its_scope() -> None:
    both = {
        "items": [
            {"key": "update_channel", "value": "email", "quote": "use email as the channel"},
            {"key": "update_channel", "value": "email", "scope": "workspace", "quote": "use email as the channel"},
        ]
    }
    grant = Grant.from_policy(POLICY, levels=["user", "workspace"])
    bare = await run(script(capture=both, apply=ANSWER | {"used_memory_keys": ["update_channel"]}), grant=grant)
    assert bare.stop_reason == "invalid_answer:memory_keys_out_of_context"
    scoped = await run(script(capture=both, apply=ANSWER | {"used_memory_keys": ["user:update_channel"]}), grant=grant)
    assert scoped.stop_reason == "success"
    assert [entry["scope"] for entry in scoped.applied_memory] == ["user"]


async def test_memories_beyond_the_token_budget_are_retrieved_and_not_injected() -> None:
    report = await run(script(apply={"answer": "All is well.", "used_memory_keys": []}), max_tokens=80)
    assert len(report.audit.retrieved) == 2
    assert len(report.audit.injected) == 1
    assert report.trace[1]["injected"] == 1


async def test_the_trust_toggle_lets_the_tier_through() -> None:
    report = await run(script(), grant=Grant.from_policy(POLICY, trust=["declared_tier"]))
    assert report.blocked == ()
    assert "declared_tier" in {entry["key"] for entry in report.memory_state}


async def test_the_model_sees_policy_and_memories_but_no_identity() -> None:
    with ScriptedModelServer(script()) as server:
        async with engine_on(server) as engine:
            await engine.run(actor=ACTOR, message=MESSAGE, goal=GOAL, context=CONTEXT)
        said = {phase_of(request): json.loads(request.user) for request in server.requests}
    assert sorted(said["capture"]["available_keys"]) == ["declared_tier", "language", "update_channel"]
    assert {entry["value"] for entry in said["apply"]["memory_items"]} == {"english", "email"}
    assert said["apply"]["context"] == CONTEXT
    assert "ana" not in json.dumps(said)


class WithoutSearch(InProcessStore):
    """A store whose keyword list is down."""

    async def read(self, work: Callable[[Snapshot], Any]) -> Any:
        async def deafened(snapshot: Snapshot) -> Any:
            snapshot.match = down  # type: ignore[method-assign]
            return await work(snapshot)

        async def down(*_: object, **__: object) -> Any:
            raise StoreUnavailable

        return await super().read(deafened)


async def test_a_list_that_fails_is_reported_and_the_run_goes_on() -> None:
    report = await run(script(), store=WithoutSearch())
    assert report.stop_reason == "success"
    assert report.errors == ("retrieve:keyword: store_unavailable",)
    assert report.trace[1]["ok"] is False


class WithoutReads(InProcessStore):
    """A store that takes writes and answers no read."""

    async def read(self, work: Callable[[Snapshot], Any]) -> Any:
        raise StoreUnavailable

    async def newest(self, *_: object, **__: object) -> Any:
        raise StoreUnavailable


class WithoutWrites(InProcessStore):
    """A store that answers reads and takes no write."""

    async def transact(self, *_: object, **__: object) -> Any:
        raise StoreUnavailable


async def test_a_capture_that_stored_nothing_does_not_say_captured() -> None:
    with ScriptedModelServer(script(capture={"items": []})) as server:
        async with engine_on(server) as engine:
            nothing = await engine.capture("Hello there!", actor=ACTOR)
    assert (nothing.status, nothing.outcome) == ("ok", "nothing_captured")
    with ScriptedModelServer(script()) as server:
        async with engine_on(server, store=WithoutWrites()) as engine:
            failed = await engine.capture(MESSAGE, actor=ACTOR)
    assert (failed.status, failed.stop_reason, failed.outcome) == ("failed", "store_unavailable", None)
    assert failed.errors == ("write:language: store_unavailable", "write:update_channel: store_unavailable")


async def test_an_outage_is_not_passed_off_as_no_memory() -> None:
    report = await run(script(), store=WithoutReads())
    assert (report.status, report.stop_reason, report.phase) == ("failed", "store_unavailable", "retrieve")
    assert report.outcome is None
    assert any("memory_state" in error for error in report.errors)
    assert len(report.receipts) == 2


async def test_a_second_delivery_of_the_same_message_changes_nothing() -> None:
    with ScriptedModelServer(script()) as server:
        async with engine_on(server) as engine:
            first = await engine.run(actor=ACTOR, message=MESSAGE, idempotency_key="m1")
            again = await engine.run(actor=ACTOR, message=MESSAGE, idempotency_key="m1")
            count = await engine.count(actor=ACTOR)
    assert count == 2
    assert [receipt.replayed for receipt in again.receipts] == [True, True]
    assert [receipt.memory_id for receipt in again.receipts] == [receipt.memory_id for receipt in first.receipts]


async def test_history_holds_no_secret_of_the_message() -> None:
    secret = "my key is sk-abcdefghijklmnopqrstuvwxyz123456 and I write in English"
    with ScriptedModelServer(script()) as server:
        async with engine_on(server) as engine:
            report = await engine.run(actor=ACTOR, message=secret)
    assert "sk-abcdefghijklmnop" not in json.dumps(report.as_dict())


def sequence(reports: Sequence[RunReport]) -> list[str]:
    return [report.stop_reason for report in reports]


async def test_runs_do_not_share_anything_but_the_memory() -> None:
    with ScriptedModelServer(script()) as server:
        async with engine_on(server) as engine:
            reports = [await engine.run(actor=ACTOR, message=MESSAGE), await engine.run(actor=ACTOR, goal=GOAL)]
    assert sequence(reports) == ["success", "success"]
    assert reports[0].run_id != reports[1].run_id
    assert reports[1].outcome == "memory_applied"


async def test_what_an_answer_repeats_of_the_context_is_redacted() -> None:
    context = {
        "note": "reach me at eva.k@example.org",
        "error_rate": "5%",
        "owner": {"card": "4111 1111 1111 1111", "steps": ["call +49 170 1234567"]},
    }
    async with build_engine(Settings(store="memory:")) as engine:
        report = await engine.run(actor=ACTOR, goal="Write the update.", context=context)
    assert report.answer is not None
    assert "error rate 5%" in report.answer
    assert "eva.k" not in report.answer
    with ScriptedModelServer(script()) as server:
        async with engine_on(server) as engine:
            await engine.run(actor=ACTOR, goal="Write the update.", context=context)
        sent = " ".join(one.user + one.system for one in server.requests)
    assert "5%" in sent
    assert not [one for one in ("eva.k", "4111", "1234567") if one in sent]
