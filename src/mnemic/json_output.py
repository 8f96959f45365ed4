"""JSON data of memories, receipts and hits, the same for every entry point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mnemic.retrieve.export import as_dict
from mnemic.types.json_forms import to_json

if TYPE_CHECKING:
    from mnemic.types import Hit, Kind, Memory, SearchResult, Usage, UserProfile, WriteReceipt
    from mnemic.types.ratings import RatedMemory
    from mnemic.types.trace import RunReport


def memory_dict(memory: Memory) -> dict[str, Any]:
    """Return a memory as `mnemic export` writes it."""
    return as_dict(memory)


def hit_dict(hit: Hit) -> dict[str, Any]:
    """Return a hit: the memory, its score and relevance in 0..1, the results of each list and signal, and the reason
    why it is here.
    """
    ranks = {name: {"position": rank.position, "score": round(rank.score, 6)} for name, rank in hit.ranks.items()}
    return {
        "score": round(hit.score, 6),
        "relevance": hit.relevance,
        "reason": hit.reason,
        "why": hit.why,
        "outdated_by": hit.outdated_by,
        "disagrees_with": list(hit.disagrees_with),
        "ranks": ranks,
        "memory": memory_dict(hit.memory),
    }


def result_dict(result: SearchResult) -> dict[str, Any]:
    """Return a search's results; `errors` names the lists that failed."""
    return {
        "query": result.query,
        "hits": [hit_dict(hit) for hit in result.hits],
        "errors": dict(result.errors),
        "degraded": result.degraded,
        "relevance": result.relevance,
        "abstains": result.abstains,
        "plan": result.plan.as_dict(),
    }


def profile_dict(profile: UserProfile) -> dict[str, Any]:
    """Return a user's profile, each line with its memory."""
    lines = [
        {
            "section": one.section,
            "topic": one.topic,
            "text": one.text,
            "memory": memory_dict(one.memory),
            "proof": [memory_dict(said) for said in one.proof],
        }
        for one in profile
    ]
    return {"known_lines": lines, "text": profile.text, "without_room": profile.without_room}


def rating_dict(rated: RatedMemory) -> dict[str, Any]:
    """Return a rating with its memory and its effect."""
    return {
        **to_json(rated.rating),
        "memory": None if rated.memory is None else memory_dict(rated.memory),
        "shift": rated.shift,
    }


def report_dict(report: RunReport) -> dict[str, Any]:
    """Return the steps and results of a run, with complete receipts."""
    return {**report.as_dict(), "receipts": [receipt_dict(receipt) for receipt in report.receipts]}


def usage_dict(usages: Mapping[Kind, Usage]) -> dict[str, Any]:
    """Return the usage of each kind: rows, bytes, and recently created rows."""
    return {
        kind.value: {"rows": used.rows, "bytes": used.bytes, "recent": used.recent} for kind, used in usages.items()
    }


def receipt_dict(receipt: WriteReceipt) -> dict[str, Any]:
    """Return the outcome of a write, with the decision of each step."""
    return {
        "outcome": receipt.outcome.value,
        "memory_id": receipt.memory_id,
        "version": receipt.version,
        "key": receipt.key,
        "level": str(receipt.level),
        "reason": receipt.reason,
        "superseded": list(receipt.superseded),
        "conflicts_with": list(receipt.conflicts_with),
        "clamped": list(receipt.clamped),
        "durable": receipt.durable,
        "degraded": list(receipt.degraded),
        "replayed": receipt.replayed,
        "warnings": list(receipt.warnings),
        "steps": [{"name": step.name, "decision": step.decision, "ms": round(step.ms, 3)} for step in receipt.steps],
    }
