"""Report of one run: its steps, its result, and the reason why it stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from mnemic.types import Blocked, Cost, Hit, JsonValue, MemoryRequest, Serialisable, Skipped, WriteReceipt

Watch = Callable[[Mapping[str, Any]], None]
"""Is shown each step of a run as it ends; it must not wait."""


class RunStatus(StrEnum):
    """Way in which a run ended."""

    OK = "ok"
    STOPPED = "stopped"
    NEEDS_REVIEW = "needs_review"
    FAILED = "failed"


@dataclass(slots=True)
class Trace:
    """Steps of a run (`steps`: phase, counts, ms, ok) and its auditable history (`history`), in order.

    `steps` is for monitoring and has counts only; `history` names keys and reasons and may quote the user's message.
    """

    steps: list[dict[str, Any]] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    watch: Watch | None = None

    def record(self, phase: str, *, ms: float, ok: bool = True, **counts: Any) -> None:
        """Add one step, numbered from 1, and pass it to the watcher."""
        step = {"step": len(self.steps) + 1, "phase": phase, **counts, "ms": round(ms, 3), "ok": ok}
        self.steps.append(step)
        if self.watch is not None:
            self.watch(dict(step))

    def tell(self, **event: Any) -> None:
        """Add one line to the story, under the number of the step it belongs to."""
        self.history.append({"step": len(self.history) + 1, **event})


@dataclass(frozen=True, slots=True, kw_only=True)
class UseAudit(Serialisable):
    """The states of a memory in a run; each is a list of memory ids.

    Of those that were cited, words of the answer prove the use of the `verified` ones, and show or say that the
    `refuted` ones were not used. Words and meaning of the answer speak for the use of the `likely` ones and prove
    nothing; of the `unverifiable` ones they do not even speak for it. `certainty` says of both, by memory, how certain
    it is that the answer uses it, from 0 to 1.
    """

    retrieved: tuple[str, ...] = ()
    injected: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    verified: tuple[str, ...] = ()
    likely: tuple[str, ...] = ()
    unverifiable: tuple[str, ...] = ()
    refuted: tuple[str, ...] = ()
    certainty: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport(Serialisable):
    """Full report of a run. `stop_reason` is `success` or a stable reason code; `cost` includes every answer of a
    language model in the run, also the retried ones. `basis` is the source of the answer: `model`, `template`, `echo`
    (a template that only repeats memories) or `none` (no source could answer, as the text says). `stopped_on` has the
    objects that stopped the run, by name: `raw_capture`, `raw_intent`, `intent`, `invalid_used_memory_keys` and
    `retrieved_keys`, or `used_memory_keys` and `applied_memory`. `asked` is the message's request about memory, to be
    carried out on confirmation (`MemoryEngine.carry_out`).
    """

    run_id: str
    status: RunStatus
    stop_reason: str
    phase: str | None = None
    outcome: str | None = None
    answer: str | None = field(default=None, repr=False)
    basis: str | None = None
    used_memory_keys: tuple[str, ...] = ()
    applied_memory: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    memory_state: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    receipts: tuple[WriteReceipt, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    cost: Cost = Cost()
    hits: tuple[Hit, ...] = ()
    audit: UseAudit = UseAudit()
    stopped_on: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    asked: tuple[MemoryRequest, ...] = ()
    errors: tuple[str, ...] = ()
    trace: tuple[Mapping[str, Any], ...] = ()
    history: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    @property
    def for_review(self) -> tuple[WriteReceipt, ...]:
        """Receipts of memories that were written and are not used until a person has approved them."""
        return tuple(one for one in self.receipts if one.was_flagged)

    def as_dict(self) -> dict[str, Any]:
        """Return the report in the shape of the published sample run, ready for JSON."""
        return {
            "run_id": self.run_id,
            "status": self.status.value,
            "stop_reason": self.stop_reason,
            **({"phase": self.phase} if self.phase else {}),
            "outcome": self.outcome,
            "answer": self.answer,
            "basis": self.basis,
            "used_memory_keys": list(self.used_memory_keys),
            "applied_memory": [dict(entry) for entry in self.applied_memory],
            "memory_state": [dict(entry) for entry in self.memory_state],
            "audit": self.audit.to_dict(),
            "skipped": [{"reason": entry.reason, "key": entry.key} for entry in self.skipped],
            **({"for_review": [_review_entry(one) for one in self.for_review]} if self.for_review else {}),
            **({"asked": [one.to_dict() for one in self.asked]} if self.asked else {}),
            **({"cost": self.cost.as_dict()} if self.cost.calls else {}),
            "errors": list(self.errors),
            "trace": [dict(step) for step in self.trace],
            "history": [dict(event) for event in self.history],
            **self.stopped_on,
        }


def _review_entry(receipt: WriteReceipt) -> dict[str, Any]:
    return {
        "memory_id": receipt.memory_id,
        "key": receipt.key,
        "reason": receipt.reason,
        "conflicts_with": list(receipt.conflicts_with),
    }


CLIPPED_CHARS = 240


def clip_text(text: str) -> str:
    """`text` as a trace shows it: at most `CLIPPED_CHARS` characters, with an ellipsis if there were more."""
    return text if len(text) <= CLIPPED_CHARS else text[: CLIPPED_CHARS - 3].rstrip() + "..."
