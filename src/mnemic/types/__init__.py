"""The values that travel through mnemic: frozen, keyword-only, no I/O, no third-party import.

Times are aware and in UTC, durations are `timedelta`, vectors are packed bytes. What a person said (content, data,
quotes) is left out of every `repr`, so that it cannot reach a log by accident.
"""

from __future__ import annotations

from mnemic.language.text.cues import Cues
from mnemic.redact.types import Detector, Found
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
from mnemic.types.enums import SHARED, Kind, Level, Origin, Outcome, Status, Trust, lower_origin
from mnemic.types.graph import Fragment, Neighbour, Node, Relation
from mnemic.types.json_forms import Serialisable, from_json, to_json
from mnemic.types.language_models import Completion, Cost, Prompt
from mnemic.types.measures import Usage, VectorSpace
from mnemic.types.memory import (
    ATTACHMENT,
    BETWEEN_PEOPLE,
    FILE_BYTES,
    MAX_FILE_BYTES,
    PARTICIPANT,
    PASTED,
    ROLES,
    UTC_OFFSET,
    AttachedFile,
    Candidate,
    Memory,
    Message,
    Source,
)
from mnemic.types.recall_limits import ContextBlock, RecallRequest, RecallResult
from mnemic.types.requests_about_memory import (
    ConversationReceipts,
    ForgetResult,
    MemoryRequest,
    MemoryRequestKind,
    RequestOutcome,
)
from mnemic.types.scope import Actor, Scope, subject_of
from mnemic.types.search import Hit, Intent, Rank, SearchPlan, SearchResult
from mnemic.types.store_reads import HotSetContents, Scored, Signals, Where
from mnemic.types.user_profile import ProfileLine, UserProfile
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
from mnemic.types.writes import (
    AuditEvent,
    Blocked,
    Change,
    OutboxEntry,
    Readings,
    Skipped,
    Step,
    StoredAnswer,
    WriteReceipt,
)

__all__ = [
    "ATTACHMENT",
    "BETWEEN_PEOPLE",
    "FILE_BYTES",
    "MAX_FILE_BYTES",
    "PARTICIPANT",
    "PASTED",
    "ROLES",
    "SHARED",
    "UTC_OFFSET",
    "Actor",
    "AttachedFile",
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
    "ProfileLine",
    "Prompt",
    "PutDocument",
    "Rank",
    "Readings",
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
    "UserProfile",
    "Vector",
    "VectorSpace",
    "Where",
    "WriteReceipt",
    "aware",
    "checked_identifier",
    "checked_name",
    "from_json",
    "frozen",
    "lower_origin",
    "subject_of",
    "to_json",
    "window_of",
]
