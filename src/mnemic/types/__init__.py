"""The values that travel through mnemic: frozen, keyword-only, no I/O, no third-party import.

Times are aware and in UTC, durations are `timedelta`, vectors are packed bytes. What a person said (content, data,
quotes) is left out of every `repr`, so that it cannot reach a log by accident.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mnemic.language.text.cues import Cues
from mnemic.redact.types import Detector, Found
from mnemic.types.enums import SHARED, Kind, Level, Origin, Outcome, Status, Trust, lowered
from mnemic.types.measures import Usage, VectorSpace
from mnemic.types.memory import BETWEEN_PEOPLE, PASTED, ROLES, UTC_OFFSET, Candidate, Memory, Message, Source
from mnemic.types.scope import Actor, Scope, subject_of
from mnemic.types.serialisation import Serialisable, from_json, to_json
from mnemic.types.values import (
    Deadline,
    FrozenDict,
    JsonValue,
    Vector,
    aware,
    checked_identifier,
    checked_name,
    frozen,
    window_of,
)
from mnemic.types.writes import AuditEvent, Blocked, Change, OutboxEntry, Skipped, Step, StoredAnswer, WriteReceipt

if TYPE_CHECKING:
    from mnemic.types.documents import (
        Document,
        DocumentAnswer,
        DocumentOperation,
        FindDocuments,
        GetDocument,
        ListNamespaces,
        Namespace,
        PutDocument,
    )
    from mnemic.types.graph import Fragment, Neighbour, Node, Relation
    from mnemic.types.language_models import Completion, Cost, Prompt
    from mnemic.types.recall_limits import ContextBlock, RecallRequest, RecallResult
    from mnemic.types.requests_about_memory import (
        ConversationReceipts,
        ForgetResult,
        MemoryRequest,
        MemoryRequestKind,
        RequestOutcome,
    )
    from mnemic.types.search import Hit, Intent, Rank, SearchPlan, SearchResult
    from mnemic.types.store_reads import HotSetContents, Scored, Signals, Where

_LATE = {
    "RequestOutcome": "requests_about_memory",
    "ForgetResult": "requests_about_memory",
    "Completion": "language_models",
    "ContextBlock": "recall_limits",
    "ConversationReceipts": "requests_about_memory",
    "Cost": "language_models",
    "Document": "documents",
    "DocumentAnswer": "documents",
    "DocumentOperation": "documents",
    "FindDocuments": "documents",
    "Fragment": "graph",
    "GetDocument": "documents",
    "Hit": "search",
    "HotSetContents": "store_reads",
    "Intent": "search",
    "ListNamespaces": "documents",
    "MemoryRequest": "requests_about_memory",
    "MemoryRequestKind": "requests_about_memory",
    "Namespace": "documents",
    "Neighbour": "graph",
    "Node": "graph",
    "Prompt": "language_models",
    "PutDocument": "documents",
    "Rank": "search",
    "RecallRequest": "recall_limits",
    "RecallResult": "recall_limits",
    "Relation": "graph",
    "Scored": "store_reads",
    "SearchPlan": "search",
    "SearchResult": "search",
    "Signals": "store_reads",
    "Where": "store_reads",
}
"""Names that are loaded when they are first used, with the module each is in: most programs need none of them."""

__all__ = [
    "BETWEEN_PEOPLE",
    "PASTED",
    "ROLES",
    "SHARED",
    "UTC_OFFSET",
    "Actor",
    "AuditEvent",
    "Blocked",
    "Candidate",
    "Change",
    "Completion",
    "ContextBlock",
    "ConversationReceipts",
    "Cost",
    "Cues",
    "Deadline",
    "Detector",
    "Document",
    "DocumentAnswer",
    "DocumentOperation",
    "FindDocuments",
    "ForgetResult",
    "Found",
    "Fragment",
    "FrozenDict",
    "GetDocument",
    "Hit",
    "HotSetContents",
    "Intent",
    "JsonValue",
    "Kind",
    "Level",
    "ListNamespaces",
    "Memory",
    "MemoryRequest",
    "MemoryRequestKind",
    "Message",
    "Namespace",
    "Neighbour",
    "Node",
    "Origin",
    "OutboxEntry",
    "Outcome",
    "Prompt",
    "PutDocument",
    "Rank",
    "RecallRequest",
    "RecallResult",
    "Relation",
    "RequestOutcome",
    "Scope",
    "Scored",
    "SearchPlan",
    "SearchResult",
    "Serialisable",
    "Signals",
    "Skipped",
    "Source",
    "Status",
    "Step",
    "StoredAnswer",
    "Trust",
    "Usage",
    "Vector",
    "VectorSpace",
    "Where",
    "WriteReceipt",
    "aware",
    "checked_identifier",
    "checked_name",
    "from_json",
    "frozen",
    "lowered",
    "subject_of",
    "to_json",
    "window_of",
]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"mnemic.types.{_LATE[name]}"), name)
