"""Output of memories, receipts and reports: as JSON data, and as text for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mnemic.cli.terminal import Painted, one_line, paint, pairs, printable, table
from mnemic.json_output import hit_dict, memory_dict, receipt_dict, result_dict
from mnemic.types import Outcome
from mnemic.types.search import MIN_RELEVANCE

if TYPE_CHECKING:
    from datetime import datetime

    from mnemic.engine import MemoryEngine
    from mnemic.maintenance.erase import ErasureReceipt
    from mnemic.types import Actor, Cost, Hit, Memory, SearchResult, WriteReceipt
    from mnemic.types.trace import RunReport


CONTENT_WIDTH = 160
NEAREST = 3
"""Number of hits that are shown if none is likely to be about the query."""
_WORDS_WIDTH = 72
_NONE: Mapping[str, str] = MappingProxyType({})
MIN_SCORE = 0.005
"""Score below which a hit of unknown relevance is printed as 0.00."""

__all__ = ["hit_dict", "memory_dict", "receipt_dict", "result_dict"]


def label(memory: Memory, width: int | None = CONTENT_WIDTH) -> str:
    """`key: content`, or the content alone."""
    return one_line(f"{memory.key}: {memory.content}" if memory.key else memory.content, width)


def count_text(number: int) -> str:
    """Return the number of memories, in words."""
    return "1 memory" if number == 1 else f"{number} memories"


def fields_text(fields: Mapping[str, object]) -> str:
    """JSON data as a line for each name; absent, false and empty values are left out."""
    return pairs({name.replace("_", " "): _plain(value) for name, value in fields.items() if _says(value)})


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        parts = [f"{name.replace('_', ' ')} {_plain(part)}" for name, part in value.items() if _says(part)]
        return f"({', '.join(parts)})"
    return "yes" if value is True else str(value)


def _says(value: object) -> bool:
    return value is not None and value is not False and value != {}


def day(moment: datetime | None) -> str:
    """Return the date and minute, in UTC."""
    return f"{moment:%Y-%m-%d %H:%M}" if moment else ""


def memory_text(memory: Memory) -> str:
    """One memory with all that is known of it."""
    source = memory.source
    facts = {
        "memory": memory.memory_id,
        "kind": memory.kind.value,
        "whose": f"{memory.scope.level} {memory.scope.owner}",
        "status": memory.status.value,
        "version": memory.version,
        "confidence": round(memory.confidence, 3),
        "trust": memory.trust.name.lower(),
        "from": ", ".join(part for part in (source.origin.value, source.session, source.speaker) if part),
        "quote": one_line(source.quote, CONTENT_WIDTH) if source.quote else None,
        "happened": day(memory.happened_at),
        "created": day(memory.created_at),
        "updated": day(memory.updated_at) if memory.version > 1 else None,
        "expires": day(memory.expires_at) or "never",
        "supersedes": ", ".join(memory.supersedes),
        "in conflict": ", ".join(memory.conflicts_with),
    }
    said = f"{memory.key}: {memory.content}" if memory.key else memory.content
    return f"{printable(said)}\n\n{pairs(facts, indent='  ')}"


def list_text(memories: Sequence[Memory]) -> str:
    """One line a memory."""
    return table(
        [[memory.memory_id, day(memory.happened_at)[:10], memory.kind, label(memory, 100)] for memory in memories],
        style=lambda column, _: {"dim": True} if column < len(("id", "date", "kind")) else None,
    )


def near_hits(result: SearchResult) -> tuple[Sequence[Hit], int]:
    """Return the hits worth reading, and the number of the others: those that are hardly about the query; where nothing
    is known, all but the nearest.
    """
    if not result.query:
        return result.hits, 0
    hits = [hit for hit in result.hits if hit.pinned or _is_near(hit)]
    hits = hits or list(result.hits[:NEAREST])
    return hits, len(result.hits) - len(hits)


def _is_near(hit: Hit) -> bool:
    known = hit.relevance is not None
    return hit.concerns_query(MIN_RELEVANCE) if known else hit.score >= MIN_SCORE


def hits_text(hits: Sequence[Hit]) -> str:
    """Two lines a hit: its content, and why it was found."""
    return Painted(
        "\n".join(
            f"{place:>3}. {paint(label(hit.memory), bold=True)}\n     {paint(why(hit), dim=True)}"
            for place, hit in enumerate(hits, start=1)
        )
    )


def why(hit: Hit) -> str:
    """Return the reason for the hit, its relevance (where that is unknown, its score), when it happened, who said it,
    and the memory's name. `--json` also has the score and the place in each list.
    """
    memory = hit.memory
    parts = (
        hit.why,
        f"relevance {hit.relevance:.2f}" if hit.relevance is not None else f"score {hit.score:.2f}",
        hit.reason.replace("_", " ") if hit.reason != "relevance" else "",
        day(memory.happened_at),
        memory.source.speaker or "",
        memory.memory_id,
    )
    return "  ".join(one_line(part) for part in parts if part)


def receipt_text(receipt: WriteReceipt, content: str) -> str:
    """One line: the outcome, the memory's name, its subject; redacted or refused text is not repeated."""
    redacted = next((step.decision for step in receipt.steps if step.name == "redact"), "clean")
    kept = redacted == "clean"
    said = one_line(f"{receipt.key}: {content}" if receipt.key else content, 80) if kept else receipt.key or ""
    word = outcome_word(receipt)
    notes = [said, receipt.reason if receipt.reason and receipt.reason != word else ""]
    if receipt.stored and not kept:
        notes.append(f"(redacted: {redacted})")
    if receipt.superseded:
        notes.append(f"(in place of {', '.join(receipt.superseded)})")
    if receipt.conflicts_with:
        notes.append(f"(contradicts {', '.join(receipt.conflicts_with)}; waits for review)")
    if receipt.clamped:
        notes.append(f"(adjusted: {', '.join(receipt.clamped)})")
    if not receipt.durable and receipt.stored:
        notes.append("(not durable)")
    if "vector" in receipt.degraded:
        notes.append("(without a vector: found by its words alone until `mnemic maintain` makes one)")
    return "  ".join(part for part in (word, receipt.memory_id or "", *notes) if part)


def outcome_word(receipt: WriteReceipt) -> str:
    """Return the outcome of a write in words for people. `superseded` would be read of the memory that the line names,
    which is the one in force.
    """
    if receipt.outcome is Outcome.SUPERSEDED:
        return "revised" if receipt.reason == "revised" else "changed"
    return "waits for review" if receipt.was_flagged else receipt.outcome.value


def history_text(versions: Sequence[Memory]) -> str:
    """Return one line for each value, in the order of time: its number, from when until when it was true, and its
    state. Versions of a memory with the same content are one line, the latest of them.
    """
    newest = {memory.memory_id: memory.version for memory in versions}
    said = {(memory.memory_id, label(memory, None)): memory for memory in versions}
    values = list(said.values())
    rows = []
    for number, memory in enumerate(values, start=1):
        revised = memory.version != newest[memory.memory_id]
        begun = memory.updated_at if memory.version > 1 and _is_revision(memory, values) else memory.happened_at
        start = day(memory.valid_from or begun)
        until = "its revision" if revised else day(memory.valid_to)
        held = f"{start} to {until}" if until else f"since {start}"
        rows.append([f"{number:>3}", held, "earlier" if revised else memory.status.value, label(memory)])
    return table(rows)


def _is_revision(memory: Memory, values: Sequence[Memory]) -> bool:
    """Return True if the same memory said something else before."""
    return any(one.memory_id == memory.memory_id and one.version < memory.version for one in values)


def report_dict(report: RunReport) -> dict[str, Any]:
    """Return the report of a run in the published shape."""
    return report.as_dict()


def capture_text(report: RunReport, *, said: str = "", contents: Mapping[str, str] = _NONE) -> str:
    """Describe what was remembered of a message, what was blocked and what was left out, each with its words: those of
    `contents` by `memory_id`, or those of the message `said`.
    """
    rows = [
        [outcome_word(receipt), receipt.key or "", one_line(_words(receipt, said, contents), _WORDS_WIDTH),
         receipt.memory_id or receipt.reason or ""]
        for receipt in report.receipts
    ]  # fmt: skip
    rows += [["blocked", blocked.key or "", "", blocked.reason] for blocked in report.blocked]
    rows += [
        ["skipped", one.key or "", one_line(_spoken(said, one.span), _WORDS_WIDTH), one.reason]
        for one in report.skipped
    ]
    rows += [
        ["asked", one.kind, "", f"{one.subject} ({count_text(len(one.memory_ids))})".strip()] for one in report.asked
    ]
    nothing = "nothing to remember" if report.status == "ok" else "no fact was remembered"
    return table(_drop_empty_columns(rows)) if rows else nothing


async def written_words(report: RunReport, engine: MemoryEngine, actor: Actor) -> dict[str, str]:
    """Return the content of each memory that the turn wrote, by `memory_id`, but of those that wait for review, which
    only a reviewer reads.
    """
    shown = (one for one in report.receipts if one.outcome is not Outcome.PENDING_REVIEW)
    written = [one.memory_id for one in shown if one.memory_id is not None]
    found = [await engine.get(memory_id, actor=actor) for memory_id in written]
    return {memory.memory_id: memory.content for memory in found if memory is not None}


def _words(receipt: WriteReceipt, said: str, contents: Mapping[str, str]) -> str:
    if receipt.outcome is Outcome.PENDING_REVIEW:
        return said
    return contents.get(receipt.memory_id or "", "")


def _spoken(said: str, span: tuple[int, int] | None) -> str:
    return "" if span is None else said[span[0] : span[1]].strip()


def _drop_empty_columns(rows: list[list[str]]) -> list[list[str]]:
    """Return the rows without the columns that are empty in all of them."""
    filled = [number for number in range(len(rows[0])) if any(row[number] for row in rows)]
    return [[row[number] for number in filled] for row in rows]


def cost_text(cost: Cost, prices: tuple[float, float] | None = None) -> str:
    """Return the calls and tokens of language models, with what they cost at these `prices` of a million tokens in and
    out; nothing without a call.
    """
    if not cost.calls:
        return ""
    calls = "1 call" if cost.calls == 1 else f"{cost.calls} calls"
    text = f"{calls}, {cost.input_tokens:,} tokens in, {cost.output_tokens:,} out"
    if prices is None:
        return text
    return f"{text}, {(cost.input_tokens * prices[0] + cost.output_tokens * prices[1]) / 1e6:.6f}"


def report_text(report: RunReport, prices: tuple[float, float] | None = None) -> str:
    """Return a run for people: the answer, the memories it used, the verification, and the cost."""
    audit = report.audit
    counts = {
        name: len(getattr(audit, name))
        for name in ("retrieved", "injected", "cited", "verified", "likely", "unverifiable", "refuted")
    }
    lines = []
    if report.answer is not None:
        lines += [printable(report.answer), ""]
    facts = {
        "status": f"{report.status} ({report.stop_reason})",
        "phase": report.phase,
        "outcome": report.outcome,
        "used": ", ".join(report.used_memory_keys),
        "audit": ", ".join(f"{count} {name}" for name, count in counts.items() if count),
        "errors": "; ".join(report.errors),
        "cost": cost_text(report.cost, prices),
        "run": report.run_id,
    }
    if report.receipts or report.blocked or report.skipped:
        lines += [capture_text(report), ""]
    return "\n".join([*lines, pairs(facts)])


TITLES: Mapping[str, str] = MappingProxyType({"junk": "empty", "outbox": "copies"})
"""Titles of checks with names that readers may not understand."""
NAMED: Mapping[str, str] = MappingProxyType({"audit": "the audit log", "scope": "the list of users"})
"""Names of the places in which the name of an erased user is kept."""
ERASED: Mapping[str, str] = MappingProxyType(
    {
        "derived": "derived memories",
        "turns": "questions and answers",
        "requests": "answers kept for repeated requests",
        "vault": "encrypted values",
        "api_keys": "API keys",
        "sessions": "conversations",
        "keys": "encryption keys",
        "outbox": "queued changes",
        "memory": "memories",
        "facet": "search entries",
        "bytes": "places in the raw files",
        "unvacuumed": "tables not yet vacuumed",
    }
)
"""Names of an erasure's counts, and of the places with remains; the console has the same."""


def erased_text(receipt: ErasureReceipt) -> str:
    """Return the erased items by kind, without kinds that have none."""
    facts: dict[str, object] = {"receipt": receipt.receipt_id}
    facts |= {ERASED.get(name, _split_words(name)): count for name, count in receipt.counts.items() if count}
    facts["traces left"] = sum(receipt.traces.values()) or "none"
    if receipt.kept:
        facts["still named in"] = " and ".join(NAMED.get(name, _split_words(name)) for name in receipt.kept)
    known = any(receipt.counts.values())
    return ("erased" if known else "nothing was held about this user") + "\n" + pairs(facts, indent="  ")


def traces_text(traces: Mapping[str, int]) -> str:
    """Return the places with remains, and their number."""
    facts = {ERASED.get(name, _split_words(name)): count for name, count in traces.items() if count}
    return "found again, or stated again since:\n" + pairs(facts, indent="  ")


def _split_words(name: str) -> str:
    return name.replace("_", " ")
