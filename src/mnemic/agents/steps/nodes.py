"""The eleven steps of a turn with memory: plain functions from a state to its changes.

Each catches its exceptions, records them in `errors` under its name, and leaves a state from which the next step can
continue. A turn that has failed passes through the rest without effect.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from mnemic.agents.steps.candidate_judge import WITHHELD, Judge, attempt, await_answer
from mnemic.agents.steps.memory_backend import LongTerm, extract_message, with_implied
from mnemic.agents.steps.state import (
    FAILED,
    NEEDS_REVIEW,
    OK,
    REVIEW,
    MemoryState,
    TurnRules,
    as_data,
    candidate_of,
    clipped_end,
    output_of,
    texts_of,
    waiting_candidates,
    with_error,
)
from mnemic.agents.turns import turns_before
from mnemic.errors import InvalidInput
from mnemic.extract import Extractor
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.messages import is_recorded
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.inject.injection_log import digest_of
from mnemic.inject.memory_source import SourceEntry
from mnemic.inject.render import render
from mnemic.inject.token_count import TokenCount, estimated_tokens
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.ports import Clock
from mnemic.retrieve.preference_relevance import ParsedRequest
from mnemic.runtime.clock import SystemClock
from mnemic.types import Deadline, Message, Skipped, checked_name
from mnemic.types.recall_limits import shorten_question
from mnemic.write.turn_log import TurnTexts


def relevant(
    found: Sequence[dict[str, Any]], query: str, policy: Policy, *, min_score: float, most: int
) -> list[dict[str, Any]]:
    """Return entries of `found`, in their order: those that recall has decided on, and besides at most `most` of those
    that policy pins, those with a score from `min_score` up, and, of a store that gives no scores, those on which an
    answer to `query` could depend by their words. Recall has its own limit, which does not count pinned memories.
    """
    ranked = any(entry.get("score") is not None for entry in found)
    ask = ParsedRequest.from_text(query)

    def is_relevant(entry: Mapping[str, Any]) -> bool:
        if entry.get("reason") is not None or _is_pinned(entry, policy):
            return True
        score = entry.get("score")
        if ranked or score is not None:
            return score is not None and bool(score >= min_score)
        said, value = entry["value"], entry["value"]
        if isinstance(value, Mapping):
            said = value.get("value", value)
        quote = value.get("quote") if isinstance(value, Mapping) else None
        category = value.get("category") if isinstance(value, Mapping) else None
        return ask.concerns(str(said), key=_key(entry), quote=quote, category=category)

    kept = [entry for entry in found if is_relevant(entry)]
    others = [entry for entry in kept if entry.get("reason") is None]
    return [entry for entry in kept if entry.get("reason") is not None or entry in others[:most]]


def _is_pinned(entry: Mapping[str, Any], policy: Policy) -> bool:
    key = _key(entry)
    return key is not None and policy.rule(key).pinned


def _key(entry: Mapping[str, Any]) -> str | None:
    """Return the key of a statement: one with accumulating values is followed by "/" and the value's digest."""
    key = str(entry["key"]).split("/", 1)[0]
    return None if key.startswith("m-") else key


Respond = Callable[[dict[str, Any]], str | Awaitable[str]]
"""The model: from `prompt_context` to the assistant's answer."""
Summarise = Callable[[Sequence[Mapping[str, Any]], str], str | Awaitable[str]]
"""From older messages and the summary so far to a new summary."""

SHORT_INPUT_WORDS = 4
_HISTORY = 0.5  # the share of the history budget that is left after compaction, so that not every turn compacts


class MemorySteps:
    """The steps, with the memory they read and write and the model that answers.

    Any runner may call them, in the order of `mnemic.agents.steps.runner` or of a LangGraph graph.
    """

    def __init__(
        self,
        long_term: LongTerm,
        respond: Respond,
        *,
        extractor: Extractor | None = None,
        summarise: Summarise | None = None,
        rules: TurnRules | None = None,
        budget: Budget | None = None,
        clock: Clock | None = None,
        count: TokenCount = estimated_tokens,
    ) -> None:
        self.rules = rules or TurnRules()
        self._long_term = long_term
        self._respond = respond
        # A model alone would take away what rules read with certainty.
        asked = LayeredExtractor(extractor) if isinstance(extractor, ModelExtractor) else extractor
        self._extractor: Extractor = asked or RuleExtractor()
        self._summarise = summarise
        self._budget = budget or Budget()
        self._clock = clock or SystemClock()
        self._count = count
        self._judge = Judge(long_term, self.rules, self._budget)

    # -- before the answer --------------------------------------------------------------------------------------------

    async def prepare_turn(self, state: MemoryState) -> MemoryState:
        """Check input, user and thread, begin the turn afresh, and add the user's message to the thread. A thread that
        another user has spoken in is refused.
        """
        fresh = MemoryState(
            retrieval_query="", retrieved_memories=[], prompt_context={}, response="", memory_candidates=[],
            memory_requests=[],
            approved_memory_updates=[], skipped_memory_updates=[], memory_write_results=[], errors=[], status=OK,
            messages=list(state.get("messages", [])), short_term_summary=state.get("short_term_summary", ""),
        )  # fmt: skip
        try:
            self._check(state)
        except InvalidInput as refused:
            fresh |= MemoryState(errors=[f"prepare_turn: {refused.reason}"], status=FAILED)
        else:
            said = {"role": "user", "content": state["input"], "name": state["user_id"]}
            fresh["messages"] = [*fresh["messages"], said]
        return fresh | MemoryState(final_output=output_of(fresh))

    def _check(self, state: MemoryState) -> None:
        said = state.get("input")
        if not isinstance(said, str) or not said.strip():
            raise InvalidInput("input:missing")
        if len(said) > self.rules.max_input_chars:
            raise InvalidInput("input:too_long")
        for name in ("user_id", "thread_id"):
            if not state.get(name):
                raise InvalidInput(f"{name}:missing")
            checked_name(state.get(name), name)
        others = {one.get("name") for one in state.get("messages", []) if one.get("role") == "user"}
        if others - {None, state["user_id"]}:
            raise InvalidInput("thread_id:other_user")

    async def build_retrieval_query(self, state: MemoryState) -> MemoryState:
        """Build the search query: the input, preceded by the previous message if it is very short."""
        said = state["input"]
        if len(said.split()) < SHORT_INPUT_WORDS:
            before = [one["content"] for one in state["messages"][:-1] if one["role"] == "user"]
            said = " ".join([*before[-1:], said])
        return MemoryState(retrieval_query=shorten_question(" ".join(said.split())))

    async def retrieve_long_term_memory(self, state: MemoryState) -> MemoryState:
        """Return the user's relevant memories. A failure is recorded, and stops for review if the rules require it."""
        step = "retrieve_long_term_memory"
        recall, failure = await attempt(
            lambda: self._long_term.search(state["user_id"], state["retrieval_query"], limit=self.rules.max_memories),
            within=self.rules.retrieval_timeout,
        )
        if recall is None:
            change = MemoryState(errors=with_error(state, step, failure))
            if self.rules.on_retrieval_failure == "review":
                change["status"] = NEEDS_REVIEW
            return change
        rules = self.rules
        query, policy = state["retrieval_query"], self._long_term.policy
        entries = relevant(recall.entries, query, policy, min_score=rules.min_score, most=rules.max_memories)
        errors = [*state["errors"], *(f"{step}: {why}" for why in recall.errors)]
        return MemoryState(retrieved_memories=entries, errors=errors)

    async def compact_short_term_memory(self, state: MemoryState) -> MemoryState:
        """Put older messages into the summary when the thread is too long for the prompt; the newest stay whole."""
        messages = state["messages"]
        if _tokens(messages) <= self.rules.max_history_tokens:
            return MemoryState()
        kept = _newest(messages, int(self.rules.max_history_tokens * _HISTORY))
        older, before = messages[: len(messages) - len(kept)], state.get("short_term_summary", "")
        errors, summarise = state["errors"], self._summarise or _plain_summary

        async def compact() -> Any:
            shown = await self._as_shown(older, before)
            return await await_answer(summarise(*shown))

        summary, failure = await attempt(compact, within=self.rules.response_timeout)
        if summary is None:
            errors, summary = with_error(state, "compact_short_term_memory", failure), _plain_summary(older, before)
        summary = clipped_end(summary, self.rules.max_summary_tokens)
        return MemoryState(messages=kept, short_term_summary=summary, errors=errors)

    async def build_prompt_context(self, state: MemoryState) -> MemoryState:
        """Build the model's input, within the budgets: input, recent messages, summary, and the memories that fit."""
        context = {
            "input": state["input"],
            "recent_messages": _newest(state["messages"], self.rules.max_history_tokens),
            "summary": state.get("short_term_summary", ""),
            "memories": self._block(state["retrieved_memories"])[1],
        }
        return MemoryState(prompt_context=context)

    async def generate_response(self, state: MemoryState) -> MemoryState:
        """Return the assistant's answer. Without one the turn has failed.

        The model also gets the memories as a block of data (`memory_block`), which never enters the state, so no
        checkpoint contains it. An entry is logged before it enters the block; an entry that cannot be logged is left
        out.
        """
        context, errors, begun = dict(state["prompt_context"]), state["errors"], self._clock.now()
        text, shown = self._block(context["memories"])
        if shown:
            user_id, run_id, digest = state["user_id"], turn_key(state), digest_of(text)
            _, failure = await attempt(lambda: self._long_term.log_injection(user_id, run_id, shown, digest))
            if failure:
                errors = with_error(state, "generate_response", failure)
                text, context["memories"] = "", []
        context["memory_block"] = text

        async def generate() -> Any:
            context["input"] = await self._long_term.redact_text(context["input"])
            messages, summary = context["recent_messages"], context["summary"]
            context["recent_messages"], context["summary"] = await self._as_shown(messages, summary)
            return await await_answer(self._respond(context))

        said, failure = await attempt(generate, within=self.rules.response_timeout)
        if not failure and (not isinstance(said, str) or not said.strip()):
            failure = "llm_empty"
        if failure:
            return MemoryState(errors=[*errors, f"generate_response: {failure}"], status=FAILED)
        if text:
            named = tuple(str(entry["memory_id"]) for entry in shown if entry.get("memory_id"))
            texts = {"question": state["input"], "answer": said, "block": text}
            turn = TurnTexts(run_id=turn_key(state), at=begun, shown=named, **texts)
            await attempt(lambda: self._long_term.record_answer(state["user_id"], turn))
        messages = [*state["messages"], {"role": "assistant", "content": said}]
        return MemoryState(response=said, messages=messages, errors=errors)

    async def _as_shown(self, messages: Sequence[Mapping[str, Any]], summary: str) -> tuple[list[dict[str, Any]], str]:
        """Messages and summary as a model may see them. The thread itself stays as it was said."""
        redacted = self._long_term.redact_text
        shown = [{**one, "content": await redacted(str(one["content"]))} for one in messages]
        return shown, await redacted(summary)

    def _block(self, entries: Sequence[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
        """Return the memories as data, and those of them that fit into the budget."""
        offered = [_entry(entry) for entry in entries]
        block = render(offered, max_tokens=self.rules.max_memory_tokens, count=self._count)
        return block.text, [entry for entry, one in zip(entries, offered, strict=True) if one in block.entries]

    # -- after it -----------------------------------------------------------------------------------------------------

    async def extract_memory_candidates(self, state: MemoryState) -> MemoryState:
        """Extract facts from the user's own words. The assistant's words are no evidence."""
        words = state["input"]
        if getattr(self._extractor, "asks_model", False):
            words = await self._long_term.redact_text(words)
        thread, user = state["thread_id"], state["user_id"]
        said, before = Message(role="user", content=words, session=thread), turns_before(state["messages"], thread)
        deadline = self._deadline(self.rules.response_timeout)
        found, failure = await attempt(
            lambda: extract_message(self._long_term, self._extractor, user, said, before, self._budget, deadline)
        )
        if found is None:
            return MemoryState(errors=with_error(state, "extract_memory_candidates", failure))
        found, asked, unknown = await with_implied(self._long_term, user, said, found, deadline)
        return MemoryState(
            errors=with_error(state, "extract_memory_candidates", unknown) if unknown else state["errors"],
            memory_requests=[request.to_dict() for request in asked],
            memory_candidates=[as_data(candidate) for candidate in found.candidates],
            skipped_memory_updates=[_skip_entry(one, words) for one in found.skipped],
        )

    async def validate_memory_updates(self, state: MemoryState) -> MemoryState:
        """Approve, leave out, or hold for review, each with its reason. The output so far is final: whatever comes
        between this and the end, the answer is there.
        """
        verdicts = await self._judge.judge(state)
        earlier = state["skipped_memory_updates"]
        if verdicts.withheld:
            earlier = [{**one, "candidate": WITHHELD} for one in earlier]
        change = MemoryState(
            approved_memory_updates=verdicts.approved,
            skipped_memory_updates=[*earlier, *verdicts.skipped],
            errors=[*state["errors"], *(f"validate_memory_updates: {why}" for why in verdicts.errors)],
        )
        if waiting_candidates(change):
            change["status"] = NEEDS_REVIEW
        return change | MemoryState(final_output=output_of(state | change))

    async def store_memory_updates(self, state: MemoryState) -> MemoryState:
        """Write the approved candidates. A write that fails stops no other, and is never reported as stored."""
        results, errors = list(state["memory_write_results"]), list(state["errors"])
        results += [
            await self._state_after_writes(state, update, errors) for update in state["approved_memory_updates"]
        ]
        await self._record(state, results, errors)
        status = NEEDS_REVIEW if self._needs_person(results) else state["status"]
        change = MemoryState(memory_write_results=results, errors=errors, status=status)
        return change | MemoryState(final_output=output_of(state | change))

    async def _record(self, state: MemoryState, results: Sequence[Mapping[str, Any]], errors: list[str]) -> None:
        """Record the user's message in addition to the facts captured from it, unless a part of it was left out or
        awaits review.
        """
        skipped = [one["reason"] for one in state["skipped_memory_updates"]]
        stored = all(one["success"] for one in results)
        if not (self._long_term.policy.keep_messages and stored and is_recorded(skipped, stored=bool(results))):
            return
        said = Message(role="user", content=state["input"], session=state["thread_id"])
        _, failure = await attempt(
            lambda: self._long_term.record(state["user_id"], said, idempotency_key=turn_key(state))
        )
        if failure:
            errors.append(f"store_memory_updates: {failure}")

    def _needs_person(self, results: Sequence[Mapping[str, Any]]) -> bool:
        """Return True if a write ended in a way that a person must look at."""
        strict = self.rules.on_write_failure == "review"
        return any(one["outcome"] == "pending_review" or (strict and not one["success"]) for one in results)

    async def _state_after_writes(
        self, state: MemoryState, update: Mapping[str, Any], errors: list[str], *, reviewed: bool = False
    ) -> dict[str, Any]:
        candidate = candidate_of(update["candidate"], session=state["thread_id"])
        result, failure = await attempt(
            lambda: self._long_term.write(
                state["user_id"], candidate, idempotency_key=turn_key(state), reviewed=reviewed
            )
        )
        if result is None:
            result = {"success": False, "outcome": "failed", "reason": failure}
        if not result["success"]:
            errors.append(f"store_memory_updates: {result['reason']}")
        shown: dict[str, Any] = {
            "namespace": update["namespace"],
            "key": update["key"],
            "value": {"value": candidate.content},
        }
        conflict = {"conflict": update["conflict"]} if "conflict" in update else {}
        return {**shown, **result, **conflict}

    async def finalize(self, state: MemoryState) -> MemoryState:
        """Return the answer and the record of the turn."""
        return MemoryState(final_output=output_of(state))

    async def mark_needs_review(self, state: MemoryState, decisions: Any = None) -> MemoryState:
        """Stop with the decisions that a person must make, and with the answer. Given their `decisions` (`"approve"` or
        `"reject"` for all, or one for each in order), write what they approved.

        Raises InvalidInput (`invalid_input:decisions`) for decisions that do not fit.
        """
        if decisions is None:
            marked = MemoryState(status=NEEDS_REVIEW)
            return marked | MemoryState(final_output=output_of(state | marked))
        waiting = waiting_candidates(state)
        chosen = parse_decisions(decisions, len(waiting))
        results, errors = list(state["memory_write_results"]), list(state["errors"])
        skipped = [entry for entry in state["skipped_memory_updates"] if entry not in waiting]
        for entry, approved in zip(waiting, chosen, strict=True):
            if approved:
                results.append(await self._state_after_writes(state, entry["update"], errors, reviewed=True))
            else:
                plain = {name: value for name, value in entry.items() if name != "update"}
                skipped.append(plain | {"reason": "rejected:" + entry["reason"].removeprefix(REVIEW)})
        status = NEEDS_REVIEW if self._needs_person(results) else OK
        done = MemoryState(memory_write_results=results, skipped_memory_updates=skipped, errors=errors, status=status)
        return done | MemoryState(final_output=output_of(state | done))

    def review_request(self, state: MemoryState) -> dict[str, Any]:
        """Return the text for a person: the answer, and each candidate with the reason for asking."""
        waiting = [{"number": number, **entry} for number, entry in enumerate(waiting_candidates(state))]
        return {"response": state.get("response", ""), "candidates": waiting}

    # -- time ---------------------------------------------------------------------------------------------------------

    def _deadline(self, duration: timedelta) -> Deadline:
        return Deadline.after(duration, self._clock.monotonic)


def turn_key(state: MemoryState) -> str:
    """Return the same for the same turn of the same thread, however often a runner repeats its steps."""
    said = "\x1f".join([state["user_id"], state["thread_id"], str(len(state["messages"])), state["input"]])
    return "turn-" + hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _entry(entry: Mapping[str, Any]) -> SourceEntry:
    value = entry["value"]
    text = value.get("value") if isinstance(value, Mapping) and isinstance(value.get("value"), str) else str(value)
    content = f"{entry['key']}: {text}" if not str(entry["key"]).startswith("m-") else str(text)
    source = ".".join(str(part) for part in entry["namespace"][1:])
    return SourceEntry(
        content=content,
        source=source,
        score=entry.get("score") or 0.0,
        trusted=entry.get("trusted", False),
        said_by=entry.get("said_by"),
    )


def _skip_entry(one: Skipped, said: str) -> dict[str, Any]:
    words = said[one.span[0] : one.span[1]] if one.span is not None else (one.key or said)
    return {"candidate": words, "key": one.key, "reason": one.reason}


def _tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    return sum(estimated_tokens(text) for text in texts_of(messages))


def _newest(messages: Sequence[dict[str, Any]], max_tokens: int) -> list[dict[str, Any]]:
    """Return the newest messages that fit, and always the last one."""
    kept: list[dict[str, Any]] = []
    for message in reversed(messages):
        if kept and _tokens([message, *kept]) > max_tokens:
            break
        kept.insert(0, message)
    return kept


def _plain_summary(older: Sequence[Mapping[str, Any]], before: str) -> str:
    """Return a summary without a model: the user's messages, shortened, newest last."""
    said = [" ".join(str(one["content"]).split())[:160] for one in older if one["role"] == "user"]
    return " | ".join(filter(None, [before, *said]))


def parse_decisions(decisions: Any, count: int) -> list[bool]:
    """For each of `count` candidates whether it is approved. Raises InvalidInput (`invalid_input:decisions`)."""
    words = [decisions] * count if isinstance(decisions, str) else decisions
    if not isinstance(words, list | tuple) or len(words) != count or not {"approve", "reject"} >= set(words):
        raise InvalidInput("decisions", hint="approve or reject, once for all or once for each candidate")
    return [word == "approve" for word in words]
