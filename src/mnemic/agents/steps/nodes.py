"""The eleven steps of a turn with memory: plain functions from a state to its changes.

Each catches its exceptions, records them in `errors` under its name, and leaves a state from which the next step can
continue. A turn that has failed passes through the rest without effect.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from mnemic.agents.steps.memory_backend import KnownMemory, LongTerm, extract_message, with_implied
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
from mnemic.errors import InvalidInput, MnemicError
from mnemic.extract import Extractor, name_parts
from mnemic.extract.conversation_context import answer_in, talk_before
from mnemic.extract.grounding import NormalisedText, ground
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.messages import is_recorded
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.extract.vetting import follows, refusal
from mnemic.inject.injection_log import digest_of
from mnemic.inject.memory_source import SourceEntry
from mnemic.inject.render import render
from mnemic.inject.token_count import TokenCount, estimated_tokens
from mnemic.language.sentences.classify.classifier import weights
from mnemic.language.sentences.clauses import clauses
from mnemic.language.sentences.exclusion_rules import is_certain, left_out, mood_of
from mnemic.language.sentences.injected_orders import gives_orders_to_override
from mnemic.language.sentences.remember import asked_to_remember
from mnemic.language.sentences.special_topics import PAPERS, TOPICS, is_special
from mnemic.language.text.normalise import canonical_value
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.policy.proposal_check import check_candidate
from mnemic.ports import Clock
from mnemic.reason_codes import NOT_DURABLE, NOT_UNDERSTOOD, UNSUPPORTED
from mnemic.redact.replacement import MARKER
from mnemic.retrieve.preference_relevance import ParsedRequest
from mnemic.runtime.clock import SystemClock
from mnemic.types import Candidate, Deadline, Message, Skipped, checked_name
from mnemic.types.recall_limits import shorten_question
from mnemic.write.prepare import Redactor, redact
from mnemic.write.turn_log import TurnTexts

PROCEDURAL = frozenset({"instruction", "procedure", "procedural", "policy", "permission"})
"""Categories that change how the agent behaves."""

STATED_FROM = 0.5
"""Share of the classifier from which words are a statement, although a rule takes them for a request."""

SENSITIVE = "sensitive"
WITHHELD = "[withheld]"
"""Placeholder of a sensitive candidate in the report, which may be stored and logged."""


@dataclass(slots=True)
class Verdicts:
    """Verdicts on a turn's candidates; `withheld`: no report may show the message."""

    withheld: bool = False
    approved: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def skip(self, candidate: Mapping[str, Any], reason: str, **more: Any) -> None:
        """Leave a candidate out, or hold it for review, with the reason."""
        self.skipped.append({"candidate": candidate["content"], "key": candidate.get("key"), "reason": reason, **more})


class Judge:
    """Judge of candidates by the user's own words, the policy, and the known memories."""

    def __init__(self, long_term: LongTerm, rules: TurnRules, budget: Budget) -> None:
        self._long_term = long_term
        self._rules = rules
        self._budget = budget
        self._redactor = Redactor()

    async def judge(self, state: MemoryState) -> Verdicts:
        """Return a verdict on every candidate of a turn, in order. A candidate whose existing entry cannot be read goes
        to review, since an entry that cannot be compared must not be overwritten.
        """
        verdicts, user_id = Verdicts(), state["user_id"]
        if self._withholds(state):
            verdicts.withheld = True
            verdicts.skip({"content": WITHHELD}, SENSITIVE)
        said = Message(role="user", content=state["input"])
        answer = answer_in(said, talk_before(said, turns_before(state["messages"])))
        evidence = [said] if answer is None else [said, replace(said, content=answer.statement)]
        hidden = evidence
        # A model reads the message with its personal values hidden.
        if any(_hides_value(one) for one in state["memory_candidates"]):
            hidden = [replace(said, content=await self._long_term.redact_text(state["input"]))]
        seen: set[tuple[str | None, str]] = set()
        for data in state["memory_candidates"]:
            checked, reason, shown = self._check_candidate(data, hidden if _hides_value(data) else evidence)
            if checked is None:
                verdicts.skip({**data, "content": shown}, reason)
                continue
            identity = (checked.key, canonical_value(checked.content))
            if identity in seen:
                verdicts.skip(data, "duplicate")
                continue
            seen.add(identity)
            await self._against_known(as_data(checked), checked, reason, user_id, verdicts)
        return verdicts

    def _withholds(self, state: MemoryState) -> bool:
        """Return True if nothing was found in words that are sensitive: the message itself is not to be recorded."""
        if self._rules.on_sensitive != "skip" or state["memory_candidates"]:
            return False
        topics = _unexpected_topics(self._rules.sensitive_topics, state["input"])
        return any(one["reason"] == NOT_UNDERSTOOD for one in state["skipped_memory_updates"]) and is_special(
            [state["input"]], topics
        )

    def _check_candidate(
        self, data: Mapping[str, Any], evidence: Sequence[Message]
    ) -> tuple[Candidate | None, str, Any]:
        """Return the candidate in its stored form and the reason to review it ("" for none), or None and why it is left
        out; and the part that a report may show. The `evidence` are the user's words, and the statement that they make
        if they answer a question.
        """
        shown = data.get("content")
        try:
            candidate = check_candidate(candidate_of(data), self._long_term.policy, self._budget)
        except MnemicError as breach:
            return None, breach.reason, shown
        except (KeyError, TypeError, ValueError):
            return None, "invalid_memory_candidates:item", shown
        said = evidence[0]
        grounded = ground(candidate, said) or _as_quoted(candidate, said.content)
        if grounded is None:
            return None, UNSUPPORTED, shown
        sensitive = _hides_value(data) or self._is_sensitive(grounded)
        if sensitive and self._rules.on_sensitive == "skip":
            return None, SENSITIVE, WITHHELD
        # A change to a known memory that the engine has found may have the form of an order ("make that ten people").
        against = None if grounded.replaces else self._refusal(grounded, evidence)
        if against is not None:
            return None, against, WITHHELD if sensitive else shown
        if sensitive:
            return grounded, REVIEW + SENSITIVE, shown
        procedural = candidate.category in PROCEDURAL or gives_orders_to_override(grounded.content)
        return grounded, REVIEW + "procedural" if procedural else "", shown

    def _refusal(self, candidate: Candidate, evidence: Sequence[Message]) -> str | None:
        against = self._against(candidate, evidence[0])
        if against is None or len(evidence) == 1:
            return against
        stated = ground(replace(candidate, source=replace(candidate.source, quote=None, span=None)), evidence[1])
        return against if stated is None else self._against(stated, evidence[1])

    def _against(self, candidate: Candidate, message: Message) -> str | None:
        """Return the reason for which the words do not state the candidate, or None."""
        quote, span, policy = candidate.source.quote or "", candidate.source.span, self._long_term.policy
        if span is None or not follows(candidate.content, candidate.key, quote, policy):
            return UNSUPPORTED
        own = name_parts(message.speaker)
        reason = refusal(message.content, span, may_ask=candidate.category in PROCEDURAL, own=own)
        return reason or (None if candidate.key is None else _objection(message.content, span))

    def _is_sensitive(self, candidate: Candidate) -> bool:
        """Also if only the words that support it are."""
        found = redact(candidate, self._redactor, bytes(32)).found
        policy, key = self._long_term.policy, (candidate.key or "").replace("_", " ")
        texts = [candidate.content, candidate.context, candidate.source.quote, f"{key} {candidate.content}"]
        return (
            found
            or candidate.key in policy.sensitive_keys
            or policy.names_sensitive(filter(None, texts))
            or is_special(texts, _unexpected_topics(self._rules.sensitive_topics, candidate.source.quote))
        )

    async def _against_known(
        self, data: dict[str, Any], candidate: Candidate, review: str, user_id: str, verdicts: Verdicts
    ) -> None:
        placed, failure = await attempt(lambda: self._long_term.place(user_id, candidate))
        namespace, key = placed or ([user_id], candidate.key)
        update = {"namespace": namespace, "key": key, "candidate": data}
        known, failure = await attempt(lambda: self._long_term.find_known(user_id, candidate))
        if known is None:
            verdicts.errors.append(failure)
            verdicts.skip(data, REVIEW + "unreadable", update=update)
            return
        same = canonical_value(candidate.content)
        if any(canonical_value(one.content) == same for one in known):
            verdicts.skip(data, "duplicate")
            return
        if known and candidate.key is not None and self._replaces(candidate.key):
            update["conflict"] = _conflict(known)
            if self._rules.on_conflict == "review" or self._change(candidate.key) == "review":
                review = review or REVIEW + "conflict"
        if review:
            verdicts.skip(data, review, update=update)
        else:
            verdicts.approved.append(update)

    def _replaces(self, key: str) -> bool:
        return self._change(key) != "accumulate"

    def _change(self, key: str) -> str:
        return self._long_term.policy.rule(key).on_change


def _hides_value(data: Mapping[str, Any]) -> bool:
    """Return True for a candidate in whose words a personal value was hidden."""
    return any(MARKER.search(str(data.get(name))) for name in ("content", "quote"))


def _unexpected_topics(topics: Collection[str], quote: str | None) -> frozenset[str]:
    """Return those of the `topics` that users do not expect to be stored: where the quoted words ask to remember it,
    only the number of a paper, which is a key to more than the conversation.
    """
    asked = asked_to_remember(quote) if quote else None
    return frozenset(topics) & ({PAPERS} if asked is not None and asked[1] else TOPICS)


def _objection(text: str, span: tuple[int, int]) -> str | None:
    """Return the reason for which the words at `span` give no value, by the rules of a single clause: the extractor of
    a program does not tell a request from a statement.
    """
    for clause in clauses(text):
        if clause.start >= span[1] or clause.end <= span[0] or asked_to_remember(clause.text) is not None:
            continue
        reason = left_out(clause, mood_of(clause.sentence))
        if reason in (None, NOT_DURABLE):
            continue
        if is_certain(clause, reason) or weights().opinions([clause.text])[0].keep < STATED_FROM:
            return reason
    return None


def _as_quoted(candidate: Candidate, said: str) -> Candidate | None:
    """Return the candidate with its quote as it was said, however short, or None. Whether its value follows from so few
    words is decided later.
    """
    span = NormalisedText(said).find(candidate.source.quote or "")
    if span is None:
        return None
    return replace(candidate, source=replace(candidate.source, quote=said[span[0] : span[1]], span=span))


def _conflict(known: Sequence[KnownMemory]) -> dict[str, Any]:
    """Describe the values that a new value replaces."""
    return {"replaces": [{"value": one.content, "memory_id": one.memory_id, "version": one.version} for one in known]}


async def await_answer(answer: Any) -> Any:
    """Return the answer of a callback, which it gives now or when it is awaited."""
    return await answer if inspect.isawaitable(answer) else answer


async def attempt(work: Callable[[], Any], *, within: timedelta | None = None) -> tuple[Any, str]:
    """Return the result of `work` and "", or None and why it failed: a stable reason of ours, `timeout`, or the type's
    name of any other exception. Never its message, which may quote values.

    An awaitable is given the time `within` (None: as long as it takes); a blocking call cannot be interrupted.
    """
    try:
        answer = work()
        if inspect.isawaitable(answer):
            answer = await asyncio.wait_for(answer, None if within is None else within.total_seconds())
    except MnemicError as failure:
        return None, failure.reason
    except TimeoutError:
        return None, "timeout"
    except Exception as failure:  # noqa: BLE001 - stores, models and callbacks of others may raise anything
        return None, type(failure).__name__
    return answer, ""


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
        if (wait := getattr(self._long_term, "wait_until_loaded", None)) is not None:
            await wait()
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
