"""One memory-augmented turn: capture, plan, retrieve, apply, audit.

Each phase proposes through a model or a rule, passes policy and grant, and leaves a step in the trace and a line in the
history. A turn that has to stop gives the reason, and still reports everything committed before.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from mnemic.compose import Basis, Composer, LimitedComposer
from mnemic.dispatch.gateway import GatewayWrite, MemoryGateway
from mnemic.engine.extraction import as_shown, forget_notes, read_message
from mnemic.engine.first_use import wait_until_loaded
from mnemic.engine.recall import recall
from mnemic.engine.requests_about_memory import remove_requests, requests_in
from mnemic.errors import (
    EmbedderFailed,
    InvalidAnswer,
    InvalidIntent,
    KeyFailed,
    MnemicError,
    ModelFailed,
    ModelInvalidJson,
    ModelTimeout,
    RunStopped,
    ScopeDenied,
    StoreBusy,
    StoreFailed,
    escape_detail,
)
from mnemic.extract import Extraction, Extractor
from mnemic.inject.citation_check import UsageAudit, Verdict, applied_entry, hits_by_citation, memory_item
from mnemic.inject.injection_log import record_injection
from mnemic.inject.injection_result import InjectionRun
from mnemic.inject.paraphrased_use import LIKELY_FROM, certainty_of_use
from mnemic.inject.token_count import within_tokens
from mnemic.policy.budget import check_answer_length, check_time
from mnemic.policy.intent_check import check_intent
from mnemic.policy.key_rules import Policy
from mnemic.policy.proposal_check import CheckedAnswer, check_answer, echo_input
from mnemic.ports import Clock, RecordStore
from mnemic.ports.providers import counting
from mnemic.reason_codes import MAX_SECONDS
from mnemic.requests import Run
from mnemic.retrieve.intent_planning import Planner, RulePlanner
from mnemic.types import (
    Actor,
    Cost,
    Deadline,
    Hit,
    Intent,
    JsonValue,
    Memory,
    MemoryRequest,
    Message,
    RecallRequest,
    RecallResult,
    SearchResult,
    Skipped,
    Where,
)
from mnemic.types.trace import RunReport, RunStatus, Trace, UseAudit, Watch, clip_text
from mnemic.unit_of_work import Mutation, apply
from mnemic.write.turn_log import TurnLogEngine, TurnTexts, keep_turn


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """The request `turn` of an actor. `watch` receives each step. `read`: the extraction from the message made
    beforehand, or the reason why the turn must stop.
    """

    actor: Actor
    turn: Run
    watch: Watch | None = None
    read: Extraction | MnemicError | None = None

    @property
    def message(self) -> Message | None:
        """The user's words in the turn, to be remembered from; the engine has made a message of a text."""
        return self.turn.message if isinstance(self.turn.message, Message) else None


MAX_TOKENS = 1000
"""Estimated tokens of the memories put into one model call, unless the settings say otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnParts:
    """Parts that propose, decide and check in a turn."""

    gateway: MemoryGateway
    extractor: Extractor
    planner: Planner
    composer: Composer
    usage: UsageAudit = field(default_factory=UsageAudit)
    preference_bias: bool = False
    max_tokens: int = MAX_TOKENS


@dataclass(slots=True)
class _Run:
    """Progress of a run so far."""

    deadline: Deadline
    run_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    phase: str = "start"
    trace: Trace = field(default_factory=Trace)
    write: GatewayWrite = field(default_factory=GatewayWrite)
    skipped: tuple[Skipped, ...] = ()
    cost: Cost = Cost()
    hits: dict[str, Hit] = field(default_factory=dict)
    asked: tuple[MemoryRequest, ...] = ()
    errors: list[str] = field(default_factory=list)
    stopped_on: dict[str, JsonValue] = field(default_factory=dict)
    answer: CheckedAnswer | None = None
    basis: Basis = Basis.MODEL
    audit: UseAudit = UseAudit()
    started: float = 0.0

    def enter(self, phase: str) -> None:
        """Begin a phase, unless the time is up."""
        self.phase = phase
        check_time(self.deadline)
        self.started = self.deadline.monotonic()

    @property
    def ms(self) -> float:
        return (self.deadline.monotonic() - self.started) * 1000


async def run_turn(parts: TurnParts, request: TurnRequest) -> RunReport:
    """Run one turn and report it. A failure of the run is never raised: the report has status and stop_reason."""
    await wait_until_loaded(parts.gateway.searcher.embedder)
    clock = parts.gateway.clock
    run = _Run(parts.gateway.budget.deadline(clock.monotonic), trace=Trace(watch=request.watch))
    with counting() as meter:
        status, reason = await _phases(parts, request, run)
    run.cost += meter.cost
    return await _report(parts, request, run, status, reason)


async def _phases(parts: TurnParts, request: TurnRequest, run: _Run) -> tuple[RunStatus, str]:
    """Run the phases, and return how the run ends and why."""
    status, reason = RunStatus.OK, "success"
    try:
        if request.message is not None:
            await _capture(parts, request, request.message, run)
        if request.turn.goal is not None:
            result = await _retrieve(parts, request, request.turn.goal, run)
            await _apply(parts, request, request.turn.goal, result, run)
        elif run.write.failed and not any(receipt.stored for receipt in run.write.receipts):
            status, reason = RunStatus.FAILED, run.write.failed[0].reason or "store_failed"
        check_time(run.deadline)
    except MnemicError as failure:
        if isinstance(failure, RunStopped):
            status, reason = RunStatus.STOPPED, failure.reason
        else:
            status, reason = RunStatus.FAILED, failure.reason
        if run.deadline.expired and isinstance(failure, ModelTimeout | EmbedderFailed | StoreBusy):
            # Its time limit was the rest of the run's, so a timeout is no evidence against it.
            status, reason = RunStatus.STOPPED, MAX_SECONDS
        if reason != failure.reason or status is RunStatus.FAILED:
            run.errors.append(f"{run.phase}: {failure.reason}")
    return status, reason


async def _capture(parts: TurnParts, request: TurnRequest, message: Message, run: _Run) -> None:
    run.enter("capture")
    gateway = parts.gateway
    try:
        extraction = request.read or await _extract_message(parts, request, message, run)
        if isinstance(extraction, MnemicError):
            raise extraction
    except RunStopped as breach:
        if breach.proposal is not None:
            run.stopped_on["raw_capture"] = await echo_input(breach.proposal, _redacting(parts, request.actor))
        raise
    extraction = await _without_requests(parts, request, message, extraction, run)
    run.skipped = extraction.skipped
    if request.read is not None:
        run.cost = extraction.cost
    if extraction.unknown is not None:
        run.errors.append(f"capture:known: {extraction.unknown}")
    if extraction.degraded is not None:
        run.errors.append(f"extract:model: {extraction.degraded}")
    run.phase = "capture_store"
    run.write = await gateway.write_captured(
        extraction.candidates, actor=request.actor, idempotency_key=request.turn.idempotency_key, deadline=run.deadline
    )
    await forget_notes(gateway, request.actor, extraction.candidates)
    written, refreshed = run.write.keys(refreshed=False), run.write.keys(refreshed=True)
    run.errors += [f"write:{receipt.key or 'memory'}: {receipt.reason}" for receipt in run.write.failed]
    run.trace.record(
        run.phase,
        ms=run.ms,
        ok=not run.write.failed,
        candidates=len(extraction.candidates),
        written=len(written),
        refreshed=len(refreshed),
        blocked=len(run.write.blocked),
        skipped=len(extraction.skipped),
        **({"tokens": extraction.cost.input_tokens + extraction.cost.output_tokens} if extraction.cost.calls else {}),
    )
    run.trace.tell(
        session=request.actor.session,
        message=await gateway.pipeline.redact_text(message.content, tenant=request.actor.tenant),
        written_keys=written,
        refreshed_keys=refreshed,
        blocked=[_blocked_entry(entry.key, entry.level, entry.reason) for entry in run.write.blocked],
        skipped=[{"key": entry.key, "reason": entry.reason} for entry in extraction.skipped],
    )


async def _without_requests(
    parts: TurnParts, request: TurnRequest, message: Message, extraction: Extraction, run: _Run
) -> Extraction:
    """Return the extraction without the requests to memory in the message, which the report lists."""
    try:
        run.asked, asked = await requests_in(parts.gateway, request.actor, message, deadline=run.deadline)
    except MnemicError as failure:
        run.errors.append(f"capture:asked: {failure.reason}")
        return extraction
    return remove_requests(extraction, asked)


async def _extract_message(parts: TurnParts, request: TurnRequest, message: Message, run: _Run) -> Extraction:
    return await read_message(parts.gateway, parts.extractor, request.actor, message, deadline=run.deadline)


def _blocked_entry(key: str | None, level: str, reason: str) -> dict[str, Any]:
    return {"key": key, **({"scope": level} if reason.startswith("scope") else {}), "reason": reason}


async def _recall_memories(parts: TurnParts, request: TurnRequest, goal: str, run: _Run) -> tuple[Intent, RecallResult]:
    """Return the intent proposed for `goal`, once it has passed policy, and the memories found under the grant."""
    gateway = parts.gateway
    planner, raw, intent = parts.planner, None, None
    try:
        asked = await as_shown(gateway, request.actor, planner, goal)
        raw = await _plan(planner, asked, gateway, run)
        intent = check_intent(raw, gateway.policy, gateway.budget)
    except (ModelFailed, InvalidIntent) as failure:
        if run.deadline.expired or not _goes_on_by_rules(planner, failure, gateway.policy):
            if raw is not None:
                run.stopped_on["raw_intent"] = await echo_input(raw, _redacting(parts, request.actor))
            if isinstance(failure, ModelInvalidJson):
                raise InvalidIntent("not_object", hint=failure.hint) from None
            raise
        run.errors.append(f"{run.phase}:model: {failure.reason}")
        planner = RulePlanner()
        intent = check_intent(await _plan(planner, goal, gateway, run), gateway.policy, gateway.budget)
    run.enter("retrieve")
    # A model's query is within the budget; the goal itself is shortened as on every other path.
    whole = replace(intent, query=goal) if isinstance(planner, RulePlanner) else intent
    wanted = RecallRequest(
        intent=replace(whole, min_score=max(whole.min_score, request.turn.min_score)),
        asked=goal,
        max_tokens=parts.max_tokens,
        preference_bias=parts.preference_bias,
        asked_at=request.turn.asked_at,
    )
    try:
        return intent, await recall(gateway, wanted, actor=request.actor, deadline=run.deadline)
    except ScopeDenied:
        redact = _redacting(parts, request.actor)
        run.stopped_on |= {
            "raw_intent": await echo_input(raw, redact),
            "intent": await echo_input(_intent_entry(intent), redact),
        }
        raise


async def _plan(planner: Planner, goal: str, gateway: MemoryGateway, run: _Run) -> Any:
    policy, deadline = gateway.policy, run.deadline
    if getattr(planner, "asks_model", False) and policy.on_model_failure == "rules":
        # A plan is a help: the search and the answer need the rest of the time.
        deadline = deadline.share(0.5)
    return await planner.plan(goal, levels=sorted(policy.levels), budget=gateway.budget, deadline=deadline)


def _goes_on_by_rules(planner: Planner, failure: MnemicError, policy: Policy) -> bool:
    """Return True if the goal itself is searched for: a search needs no model."""
    if not getattr(planner, "asks_model", False):
        return False
    return (policy.on_model_failure == "rules") if isinstance(failure, ModelFailed) else policy.on_violation == "skip"


async def _retrieve(parts: TurnParts, request: TurnRequest, goal: str, run: _Run) -> SearchResult:
    run.enter("retrieve_plan")
    intent, recalled = await _recall_memories(parts, request, goal, run)
    result = replace(recalled.found, hits=(*recalled.hits, *recalled.cut))
    run.hits = hits_by_citation(
        within_tokens(recalled.hits, parts.max_tokens, as_json=True, count=parts.gateway.token_count)
    )
    run.errors += [f"retrieve:{name}: {why}" for name, why in result.errors.items()]
    scopes = [] if result.where is None else [scope.level.value for scope in result.where.scopes]
    run.trace.record(
        run.phase,
        ms=run.ms,
        ok=not result.errors,
        query=result.query,
        requested_scopes=scopes,
        include_preference_keys=parts.preference_bias,
        memory_hits=len(result.hits),
        injected=len(run.hits),
    )
    run.trace.tell(
        session=request.actor.session,
        intent=_intent_entry(replace(intent, query=result.query)),
        resolved_scopes=scopes,
        plan=result.plan.as_dict(),
        relevance=result.relevance,
        abstains=recalled.abstained,
        include_preference_keys=parts.preference_bias,
        retrieved_keys=list(hits_by_citation(result.hits)),
        reasons={ref: hit.reason for ref, hit in run.hits.items()},
    )
    return result


def _intent_entry(intent: Intent) -> dict[str, Any]:
    entry: dict[str, Any] = {"kind": "retrieve_memory", "query": intent.query, "top_k": intent.top_k}
    if intent.levels:
        entry["scopes"] = list(intent.levels)
    if intent.kinds:
        entry["kinds"] = list(intent.kinds)
    times = {name: getattr(intent, name) for name in ("happened_from", "happened_to", "as_of")}
    return entry | {name: at.isoformat() for name, at in times.items() if at is not None}


async def _apply(parts: TurnParts, request: TurnRequest, goal: str, result: SearchResult, run: _Run) -> None:
    run.enter("apply")
    injected = _memories_for_composer(parts.composer, run)
    run.audit = UseAudit(
        retrieved=tuple(hit.memory.memory_id for hit in result.hits),
        injected=tuple(hit.memory.memory_id for hit in run.hits.values()),
    )
    await record_injection(
        parts.gateway.searcher.store, parts.gateway.clock, request.actor, run.run_id, list(run.hits.values()), by="run"
    )
    asked = await as_shown(parts.gateway, request.actor, parts.composer, goal)
    composer, most = parts.composer, parts.gateway.budget.max_answer_chars
    if isinstance(composer, LimitedComposer):
        composer = composer.with_limit(most, prose=parts.gateway.policy.on_model_failure == "rules")
    # Templates repeat the figures of the context, and a model may.
    context = await parts.gateway.pipeline.redact_data(request.turn.context or {}, tenant=request.actor.tenant)
    raw = await composer.compose(asked, context, injected, deadline=run.deadline)
    answer, run.basis = check_answer(raw), Basis.from_answer(parts.composer, raw)
    _judge(parts, answer, run)
    await _weigh_undecided(parts, goal, answer.answer, run)
    run.answer = answer
    run.trace.record(
        run.phase,
        ms=run.ms,
        used_memory_keys=list(answer.used_memory_keys),
        applied_memory_count=len(answer.used_memory_keys),
        verified=len(run.audit.verified),
        likely=len(run.audit.likely),
        unverifiable=len(run.audit.unverifiable),
        refuted=len(run.audit.refuted),
    )
    run.trace.tell(
        action="compose_memory_augmented_answer",
        used_memory_keys=list(answer.used_memory_keys),
        answer=clip_text(await parts.gateway.pipeline.redact_text(answer.answer, tenant=request.actor.tenant)),
    )


def _memories_for_composer(composer: Composer, run: _Run) -> list[dict[str, Any]]:
    """Return the injected memories for `composer`. Templates, which quote only a few, get the most relevant first."""
    if getattr(composer, "asks_model", False):
        return [memory_item(ref, hit) for ref, hit in run.hits.items()]
    ordered = sorted(run.hits.items(), key=lambda one: -(one[1].relevance or 0.0))
    return [{**memory_item(ref, hit), "relevance": hit.relevance} for ref, hit in ordered]


def _judge(parts: TurnParts, answer: CheckedAnswer, run: _Run) -> None:
    """Check the answer against the injected memories. Raises InvalidAnswer."""
    invalid = sorted(ref for ref in answer.used_memory_keys if ref not in run.hits)
    if invalid:
        run.stopped_on |= {
            "invalid_used_memory_keys": [escape_detail(ref) for ref in invalid],
            "retrieved_keys": sorted(run.hits),
        }
        raise InvalidAnswer("memory_keys_out_of_context")
    check_answer_length(answer.answer, parts.gateway.budget)
    proves = run.basis in (Basis.MODEL, Basis.TEMPLATE)
    cited = {ref: run.hits[ref] for ref in answer.used_memory_keys}
    verdicts = {
        # A text that only repeats a value would pass any check for it.
        ref: parts.usage.judge(hit, _verifier(parts, hit.memory.key) if proves else None, answer.answer)
        for ref, hit in cited.items()
    }
    found = {
        verdict: tuple(cited[ref].memory.memory_id for ref, seen in verdicts.items() if seen is verdict)
        for verdict in Verdict
    }
    run.audit = replace(
        run.audit,
        cited=tuple(hit.memory.memory_id for hit in cited.values()),
        verified=found[Verdict.VERIFIED],
        unverifiable=found[Verdict.UNVERIFIABLE],
        refuted=found[Verdict.REFUTED],
    )
    refuted = bool(found[Verdict.REFUTED])
    if refuted and (parts.gateway.policy.on_refuted == "stop" or not found[Verdict.VERIFIED]):
        run.stopped_on |= {
            "used_memory_keys": list(cited),
            "applied_memory": [applied_entry(hit) for hit in cited.values()],
        }
        raise InvalidAnswer("memory_declared_but_not_applied")


async def _weigh_undecided(parts: TurnParts, goal: str, answer: str, run: _Run) -> None:
    """Say of the cited memories whose use no words decide how certain it is."""
    if run.basis is not Basis.MODEL or not run.audit.unverifiable:
        return
    contents = {hit.memory.memory_id: hit.memory.content for hit in run.hits.values()}
    undecided = [one for one in run.audit.unverifiable if one in contents]
    try:
        weights = await certainty_of_use(
            [contents[one] for one in undecided],
            goal,
            answer,
            parts.gateway.searcher.embedder,
            beside=[content for one, content in contents.items() if one not in undecided],
            deadline=run.deadline,
        )
    # The answer is there; that nothing more is known of its sources is no failure.
    except EmbedderFailed:
        return
    certainty = {one: round(weight, 2) for one, weight in zip(undecided, weights, strict=True)}
    likely = tuple(one for one in undecided if certainty[one] >= LIKELY_FROM)
    left = tuple(one for one in run.audit.unverifiable if one not in likely)
    run.audit = replace(run.audit, likely=likely, unverifiable=left, certainty=certainty)


def _verifier(parts: TurnParts, key: str | None) -> str | None:
    return None if key is None else parts.gateway.policy.rule(key).verifier


async def _report(parts: TurnParts, request: TurnRequest, run: _Run, status: RunStatus, reason: str) -> RunReport:
    used = run.answer.used_memory_keys if run.answer and status is RunStatus.OK else ()
    return RunReport(
        run_id=run.run_id,
        status=status,
        stop_reason=reason,
        phase=None if status is RunStatus.OK else run.phase,
        outcome=_outcome(request, run, used) if status is RunStatus.OK else None,
        answer=run.answer.answer if run.answer and status is RunStatus.OK else None,
        used_memory_keys=tuple(used),
        basis=run.basis.value if run.answer and status is RunStatus.OK else None,
        applied_memory=tuple(applied_entry(run.hits[ref]) for ref in used),
        memory_state=await _state(parts, request.actor, run),
        receipts=run.write.receipts,
        blocked=run.write.blocked,
        skipped=run.skipped,
        cost=run.cost,
        hits=tuple(run.hits.values()),
        audit=run.audit,
        stopped_on=run.stopped_on,
        asked=run.asked,
        errors=tuple(run.errors),
        trace=tuple(run.trace.steps),
        history=tuple(run.trace.history),
    )


def _outcome(request: TurnRequest, run: _Run, used: Sequence[str]) -> str:
    if request.turn.goal is None:
        stored = [receipt for receipt in run.write.receipts if receipt.stored]
        if stored and all(receipt.was_flagged for receipt in stored):
            return "waits_for_review"
        return "memory_captured" if stored else "nothing_captured"
    return "memory_applied" if used and run.basis in (Basis.MODEL, Basis.TEMPLATE) else "context_only"


async def _state(parts: TurnParts, actor: Actor, run: _Run) -> tuple[dict[str, Any], ...]:
    """Return the actor's live memories; the error is reported if they cannot be read."""
    gateway = parts.gateway
    try:
        hidden = await gateway.hidden_keys(actor)
        return await memory_state(
            gateway.searcher.store, actor, frozenset(gateway.grant.levels), now=gateway.clock.now(), hidden=hidden
        )
    except MnemicError as failure:
        run.errors.append(f"memory_state: {failure.reason}")
        return ()


def _redacting(parts: TurnParts, actor: Actor) -> Callable[[str], Awaitable[str]]:
    return partial(parts.gateway.pipeline.redact_text, tenant=actor.tenant)


RAN = "run"
"""The action of such a line."""
_COUNTED = ("phase", "ms", "ok", "memory_hits", "injected", "candidates", "written", "verified")


async def record_turn_run(
    engine: TurnLogEngine, actor: Actor, report: RunReport, question: str, begun_at: datetime
) -> RunReport:
    """Return the report after writing its run to the audit and its texts to the turn log, if policy allows it; its
    errors name the one that could not be written.
    """
    try:
        await record_run(engine.store, engine.clock, actor, report)
    except StoreFailed as failure:
        return replace(report, errors=(*report.errors, f"run_log: {failure.reason}"))
    if report.status is RunStatus.OK:
        turn = TurnTexts(
            run_id=report.run_id,
            at=begun_at,
            question=question,
            answer=report.answer,
            shown=report.audit.injected,
            named=report.audit.cited,
        )
        try:
            await keep_turn(engine, actor, turn)
        except (StoreFailed, KeyFailed) as failure:  # the run itself is in the audit
            return replace(report, errors=(*report.errors, f"turn_log: {failure.reason}"))
    return report


async def record_run(store: RecordStore, clock: Clock, actor: Actor, report: RunReport) -> None:
    """Leave a line about the run in the tenant's audit. Raises StoreFailed."""
    steps = [{name: step[name] for name in _COUNTED if name in step} for step in report.trace]
    detail: dict[str, JsonValue] = {
        "run_id": report.run_id,
        "status": report.status.value,
        "stop_reason": report.stop_reason,
        "outcome": report.outcome,
        "steps": steps,
        **report.audit.to_dict(),
    }
    await apply(store, Mutation.line(RAN, actor=actor, at=clock.now(), detail=detail))


async def keep_injection(
    engine: Any, actor: Actor, run: InjectionRun, question: str, answer: str | None = None, at: datetime | None = None
) -> None:
    """Store the texts of a turn with a model that received the blocks of `run`; see `keep_texts`."""
    hits = [entry.hit for block in run.placed for entry in block.entries if entry.hit is not None]
    block = "\n\n".join(block.text for block in run.placed)
    turn = TurnTexts(run_id=run.run_id, at=at or engine.clock.now(), question=question, answer=answer, block=block)
    await keep_texts(engine, actor, turn, hits)


async def keep_texts(engine: Any, actor: Actor, turn: TurnTexts, hits: Sequence[Hit]) -> None:
    """Store the texts of a turn with a model that received these hits, if policy allows it. `named` are the memories
    under a key if the answer contains their value: a fact about its words, not a citation. A failure is left to the
    next turn: the injection itself is in the audit.
    """
    judge, answer = UsageAudit(), turn.answer
    kinds = [(hit, "contains" if hit.memory.key else "") for hit in hits]
    named = [hit for hit, kind in kinds if answer and judge.judge(hit, kind, answer) is Verdict.VERIFIED]
    shown = tuple(hit.memory.memory_id for hit in hits)
    with suppress(StoreFailed, KeyFailed):
        await keep_turn(engine, actor, replace(turn, shown=shown, named=tuple(hit.memory.memory_id for hit in named)))


STATE_LIMIT = 50


async def memory_state(
    store: RecordStore, actor: Actor, levels: frozenset[str], *, now: datetime, hidden: frozenset[str]
) -> tuple[dict[str, Any], ...]:
    """Return the newest memories at the granted `levels`, without the `hidden` keys. Raises StoreFailed."""
    reached = [level for level in sorted(levels) if getattr(actor, level, None) is not None]
    if not reached:
        return ()
    where = Where(scopes=actor.scopes(reached), live_at=now, hidden_keys=hidden)
    return tuple(_entry(memory, now) for memory in await store.newest(where, limit=STATE_LIMIT))


def _entry(memory: Memory, now: datetime) -> dict[str, Any]:
    left = None if memory.expires_at is None else (memory.expires_at - now).total_seconds()
    return {
        "key": memory.key,
        "value": memory.content,
        "scope": memory.scope.level.value,
        "source": memory.source.session or memory.source.origin.value,
        "confidence": memory.confidence,
        "ttl_left_days": None if left is None else round(left / 86400, 1),
    }
