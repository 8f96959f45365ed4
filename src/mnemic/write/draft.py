"""Data passed between the steps of one write, and the thresholds that it is decided by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from mnemic.errors import InvalidConfig
from mnemic.language.sentences.injected_orders import gives_orders_to_override
from mnemic.policy.expiry_rule import bounded_expiry, end_of
from mnemic.policy.key_rules import Policy
from mnemic.types import (
    SHARED,
    Actor,
    Candidate,
    Kind,
    Memory,
    Origin,
    Outcome,
    Scope,
    Status,
    Step,
    Trust,
    Vector,
    VectorSpace,
    subject_of,
)
from mnemic.types.memory_kinds import CATALOG, TRUST, KindSpec

if TYPE_CHECKING:
    from mnemic.write.commit import Gate
    from mnemic.write.tokenisation import TokenVault


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRules:
    """Thresholds of the write path. Cosines are on the scale of the default embedder.

    `near_duplicate` (0.92) and `conflict` (0.85) are the defaults of the write pipeline's specification. Both are
    necessary conditions only: with all-MiniLM-L6-v2 a third of opposite statements are above 0.92, so words decide
    (`mnemic.language.comparison`), not the cosine. From `near_duplicate` on, two statements in the same words are one
    memory; from `conflict` on, another value by another author waits for a person. `compared_from` is the cosine from
    which a memory is compared at all, `neighbours` the number of memories that a new one is compared with. Memories of
    `reviewed_categories` from `reviewed_origins` wait for a person. A day in words of what has no time of its own is a
    day of the `zone`.
    """

    near_duplicate: float = 0.92
    conflict: float = 0.85
    compared_from: float = 0.12
    neighbours: int = 32
    reviewed_categories: frozenset[str] = frozenset(
        {"instruction", "instructions", "procedure", "policy", "permission"}
    )
    reviewed_origins: frozenset[Origin] = frozenset({Origin.TOOL_OUTPUT, Origin.WEB, Origin.AGENT_INFERRED})

    zone: tzinfo = UTC

    def __post_init__(self) -> None:
        if not all(0.0 < cosine <= 1.0 for cosine in (self.near_duplicate, self.conflict, self.compared_from)):
            raise InvalidConfig("write_rules", hint="its thresholds are cosines above 0 and up to 1")
        if not 1 <= self.neighbours <= 1000:
            raise InvalidConfig("write_rules", hint="neighbours is 1 to 1000")


ORDER_STEMS = (
    "ignor", "disregard", "forget", "overrid", "bypass", "discard", "drop ", "prompt", "instruction", " mode",
    "you are", "message", "passw", "key", "credential", "secret", "token", "contraseñ", "mots de passe", "senha",
    "wachtwoord", "<|", "inst]", "sys>", "vergiss", "vergess", "missacht", "oubli", "olvid", "dimentic",
    "esque", "negeer", "vergeet",
)  # fmt: skip
"""Pre-filter: every instruction-override phrase contains one of these stems."""


@dataclass(slots=True, kw_only=True, eq=False)
class Draft:
    """One statement on its way from a request to its receipt. The steps before the transaction fill it in; the
    transaction only reads it.

    `given` is the candidate as it came, without the times that its words give. `home` is the scope of a memory that
    exists; `scope` that in which it is stored: Raises InvalidInput (`scope:<level>`) if the actor has none.
    `blocked` is the reason why nothing may be stored. `tokens` are the values that markers have replaced, `vaulted` the
    same under their storage names, sealed by `vault`. `verdicts` are a judge's labels of the neighbouring memories by
    memory_id (`mnemic.write.model_judge`), None: no judge was asked; `changes` are the logarithms of the odds that it
    ends or replaces those that its proposer names, and `in_english` the known and the new words of those that were read
    in translation. `read_with` are the fingerprints of other candidates read from the
    same words, if one of the two is a value under a key. `request_key` and `request_digest`
    are its idempotency key in its stored form, and the digest of its request. `known`: an identical memory is there, so
    it needs no vector.
    """

    candidate: Candidate
    actor: Actor
    policy: Policy
    rules: WriteRules
    secret: bytes = field(repr=False)
    now: datetime
    given: Candidate = field(init=False)
    home: Scope | None = None
    scope: Scope = field(init=False)
    timer: StepTimer = field(default_factory=lambda: StepTimer(lambda: 0.0))
    blocked: str | None = None
    fingerprint: str = field(default="", repr=False)
    vector: Vector | None = field(default=None, repr=False)
    space: VectorSpace | None = None
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    vaulted: Mapping[str, str] = field(default_factory=dict, repr=False)
    vault: TokenVault | None = field(default=None, repr=False)
    verdicts: Mapping[str, str] | None = None
    changes: Mapping[str, float] = field(default_factory=dict)
    in_english: Mapping[str, tuple[str, str]] = field(default_factory=dict, repr=False)
    read_with: frozenset[str] = field(default=frozenset(), repr=False)
    request_key: str | None = None
    request_digest: str = ""
    gate: Gate | None = None
    known: bool = False

    def __post_init__(self) -> None:
        self.given = self.candidate
        self.scope = self.actor.scope(self.candidate.level) if self.home is None else self.home

    @property
    def subject(self) -> Scope:
        """Data subject of the memory."""
        return subject_of(self.scope, self.actor.user)

    @property
    def spec(self) -> KindSpec:
        """Promises of its kind."""
        return CATALOG[self.candidate.kind]

    @property
    def trust(self) -> Trust:
        """Trust given by the channel; lower at shared levels until another person approves."""
        origin = self.candidate.source.origin
        if self.scope.level in SHARED and origin is not Origin.OPERATOR:
            # A user's statement in a shared scope is shown to others, so it must not outrank their statements
            # themselves.
            return min(TRUST[origin], Trust.MEDIUM)
        return TRUST[origin]

    @property
    def starts_at(self) -> datetime:
        """Start of its validity in the world, as far as known."""
        return self.candidate.valid_from or self.candidate.occurred_at or self.now

    @property
    def expires_at(self) -> datetime | None:
        """Time at which it ends (`mnemic.policy.expiry_rule`); None means never."""
        return end_of(self.candidate, self.policy, now=self.now)

    def confirming(self, valid_moment: datetime) -> datetime | None:
        """Return the end of a memory that was stated at `valid_moment` and is confirmed by this draft."""
        return end_of(self.candidate, self.policy, now=self.now, stated_at=valid_moment)

    def keeping(self, memory: Memory) -> datetime | None:
        """Return the end of `memory`, which this draft corrects or restores: no later than before."""
        return bounded_expiry(memory, self.policy, now=self.now)

    @property
    def slides(self) -> bool:
        """True if the lifetime of the confirmed memory restarts."""
        return self.policy.slides(self.candidate.key, self.candidate.kind)

    @property
    def review_reason(self) -> str | None:
        """Reason for a mandatory review: its kind, an order to set an assistant's instructions aside, or an instruction
        from an untrusted channel. Recorded messages are stored verbatim, and an operator is the one who reviews.
        """
        if self.spec.reviewed:
            return "kind_reviewed"
        candidate = self.candidate
        asked = candidate.kind is not Kind.EPISODIC and candidate.source.origin is not Origin.OPERATOR
        # The stems first: looking for them costs less than reading the sentence.
        stemmed = asked and any(map(candidate.content.lower().__contains__, ORDER_STEMS))
        if stemmed and gives_orders_to_override(candidate.content):
            return "instruction_to_override"
        category = (self.candidate.category or "").casefold()
        if category in self.rules.reviewed_categories and self.candidate.source.origin in self.rules.reviewed_origins:
            return "instruction_from_untrusted_origin"
        return None

    def memory(self, memory_id: str, **changes: object) -> Memory:
        """Return the new memory, version 1, from the candidate with `changes` applied."""
        candidate = self.candidate
        fields: dict[str, object] = {
            "memory_id": memory_id,
            "kind": candidate.kind,
            "scope": self.scope,
            "content": candidate.content,
            "created_at": self.now,
            "updated_at": self.now,
            "key": candidate.key,
            "category": candidate.category,
            "context": candidate.context,
            "data": candidate.data,
            "status": Status.ACTIVE,
            "confidence": candidate.confidence,
            "trust": self.trust,
            "source": candidate.source,
            "fingerprint": self.fingerprint,
            "vector": self.vector,
            "agent": self.actor.agent,
            "author": self.actor.user,
            "occurred_at": candidate.occurred_at,
            "valid_from": candidate.valid_from,
            "valid_to": candidate.valid_to,
            "expires_at": self.expires_at,
        }
        return Memory(**fields | changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Decision on the outcome of a write. `memory` is the new one, or for a refresh the known one in its next version.

    `changed` is False if nothing is changed: a refresh with nothing new, or a duplicate of a waiting memory. `replaced`
    are other memories in their next versions.
    """

    outcome: Outcome
    memory: Memory
    reason: str | None = None
    changed: bool = True
    replaced: tuple[Memory, ...] = ()


def starts_at(memory: Memory) -> datetime:
    """Start of the validity of `memory` as far as known: the bound that the as-of filter uses."""
    return memory.valid_from or memory.happened_at


class StepTimer:
    """Stopwatch of the steps: each note records the time since the previous one."""

    __slots__ = ("_begun", "_monotonic", "_noted")

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._begun = monotonic()
        self._noted: list[tuple[str, str, float]] = []

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps so far, with their times in milliseconds."""
        before = (self._begun, *(at for _, _, at in self._noted))
        return tuple(
            Step(name=name, decision=decision, ms=round((at - last) * 1000, 3))
            for last, (name, decision, at) in zip(before, self._noted, strict=False)
        )

    def note(self, name: str, decision: str) -> None:
        """Record that the step `name` is done."""
        self._noted.append((name, decision, self._monotonic()))

    def fork(self) -> StepTimer:
        """Return an independent copy, for work that may run again from the start."""
        forked = StepTimer(self._monotonic)
        forked._begun, forked._noted = self._begun, [*self._noted]
        return forked
