"""Judgement on a turn's candidates: which are approved, which are left out, and which a person must look at."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from mnemic.agents.steps.memory_backend import KnownMemory, LongTerm
from mnemic.agents.steps.state import REVIEW, MemoryState, TurnRules, as_data, candidate_of
from mnemic.agents.turns import turns_before
from mnemic.errors import MnemicError
from mnemic.extract.conversation_context import answer_in, talk_before
from mnemic.extract.grounding import NormalisedText, ground
from mnemic.extract.vetting import follows, refusal
from mnemic.language.sentences.classify.classifier import weights
from mnemic.language.sentences.clauses import clauses
from mnemic.language.sentences.exclusion_rules import is_certain, left_out, mood_of
from mnemic.language.sentences.injected_orders import gives_orders_to_override
from mnemic.language.sentences.remember import asked_to_remember
from mnemic.language.sentences.special_topics import PAPERS, TOPICS, is_special
from mnemic.language.text.normalise import canonical_value
from mnemic.policy.budget import Budget
from mnemic.policy.proposal_check import check_candidate
from mnemic.reason_codes import NOT_DURABLE, NOT_UNDERSTOOD, UNSUPPORTED
from mnemic.redact.replacement import MARKER
from mnemic.types import Candidate, Message
from mnemic.write.prepare import Redactor, redact

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
        reason = refusal(message.content, span, may_ask=candidate.category in PROCEDURAL)
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
