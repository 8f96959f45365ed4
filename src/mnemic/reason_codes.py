"""Every stable reason code. Programs branch on codes, so none is ever renamed; docs/concepts.md explains them.

A detail may follow a code after a colon. The codes of skipped statements are in `mnemic.language.skip_reason_codes`,
the service's further codes in `mnemic_server.service_reason_codes`, and their texts for people in `labels.js` of the
console.
"""

from __future__ import annotations

from mnemic.language import skip_reason_codes

# Errors (`mnemic.errors`)
MNEMIC_ERROR = "mnemic_error"
INVALID_INPUT = "invalid_input"
UNKNOWN_ARGUMENT = "unknown_argument"
UNKNOWN_VERB = "unknown_verb"
INVALID_CONFIG = "invalid_config"
MISSING_EXTRA = "missing_extra"
STOPPED = "stopped"
INVALID_MEMORY_CANDIDATES = "invalid_memory_candidates"
MEMORY_KEY_NOT_ALLOWED_POLICY = "memory_key_not_allowed_policy"
MEMORY_SCOPE_NOT_ALLOWED_POLICY = "memory_scope_not_allowed_policy"
INVALID_RETRIEVAL_INTENT = "invalid_retrieval_intent"
SCOPE_DENIED = "scope_denied"
INVALID_ANSWER = "invalid_answer"
INJECTION_FAILED = "injection_failed"
BUDGET = "budget"
LLM_FAILED = "llm_failed"
LLM_TIMEOUT = "llm_timeout"
LLM_UNAVAILABLE = "llm_unavailable"
LLM_INVALID_JSON = "llm_invalid_json"
LLM_INVALID_SCHEMA = "llm_invalid_schema"
LLM_EMPTY = "llm_empty"
LLM_TRUNCATED = "llm_truncated"
EMBEDDER_FAILED = "embedder_failed"
RERANKER_FAILED = "reranker_failed"
EMBEDDING_SPACE_MISMATCH = "embedding_space_mismatch"
STORE_FAILED = "store_failed"
STORE_UNAVAILABLE = "store_unavailable"
STORE_BUSY = "store_busy"
STORE_FULL = "store_full"
STORE_CORRUPT = "store_corrupt"
STORE_NEWER = "store_newer"
STORE_OLDER = "store_older"
KEY_FAILED = "key_failed"
COMMIT_UNKNOWN = "commit_unknown"
MEMORY_NOT_FOUND = "memory_not_found"
VERSION_CONFLICT = "version_conflict"
WRITE_BLOCKED = "write_blocked"
REVIEW_DENIED = "review_denied"
REVEAL_DENIED = "reveal_denied"
IDEMPOTENCY_KEY_REUSED = "idempotency_key_reused"
SERVICE_REFUSED = "service_refused"
NOT_SUPPORTED = "not_supported"

# Limits of a run
MAX_SECONDS = "max_seconds"
MAX_CAPTURE_ITEMS = "max_capture_items"

# A candidate is blocked, or a request refused
KEY_DENIED_EXECUTION = "key_denied_execution"
SCOPE_DENIED_EXECUTION = "scope_denied_execution"
CONSENT_REQUIRED = "consent_required"
QUOTA_EXCEEDED = "quota_exceeded"
RETENTION_DENIED = "retention_denied"
PII_BLOCKED = "pii_blocked"
NOTHING_LEFT = "nothing_left"
SOURCES_GONE = "sources_gone"

# A memory waits for review
KEY_NEEDS_REVIEW = "key_needs_review"
CONTRADICTION = "contradiction"
LOWER_TRUST = "lower_trust"

# A memory is kept beside another, in doubt
KEPT_BESIDE = "kept_beside"
WHICH_OF_SEVERAL = "which_of_several"

# A write stores nothing new
DUPLICATE = "duplicate"
NEAR_DUPLICATE = "near_duplicate"
ALREADY_SUPERSEDED = "already_superseded"
ALREADY_WAITING = "already_waiting"
UNCHANGED = "unchanged"

# A statement of a message is not proposed
TRANSIENT = skip_reason_codes.TRANSIENT
HYPOTHETICAL = skip_reason_codes.HYPOTHETICAL
QUOTED = skip_reason_codes.QUOTED
SARCASM = skip_reason_codes.SARCASM
JOKE = skip_reason_codes.JOKE
OPINION = skip_reason_codes.OPINION
THIRD_PARTY = skip_reason_codes.THIRD_PARTY
NOT_DURABLE = skip_reason_codes.NOT_DURABLE
NOT_UNDERSTOOD = skip_reason_codes.NOT_UNDERSTOOD
UNSUPPORTED = "unsupported"
NEGATED = "negated"
PAST = "past"
UNKNOWN_MEMORY = "unknown_memory"
MEMORY_REQUEST = "memory_request"
ORIGIN = "origin"

# Nothing is injected into a model call
NOT_TRIGGERED = "not_triggered"
NOTHING_RELEVANT = "nothing_relevant"
NOTHING_NEW = "nothing_new"
