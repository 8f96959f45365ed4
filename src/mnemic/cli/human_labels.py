"""Checks and receipts for people, under names that need no knowledge of a store; JSON keeps its own names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from mnemic.cli.terminal import pairs

if TYPE_CHECKING:
    from mnemic.maintenance.erasure_receipt import ErasureReceipt

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
