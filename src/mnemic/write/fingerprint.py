"""Step 3: content hash for deduplication, keyed.

HMAC-SHA-256 under the tenant's secret (RFC 2104), so that a short text cannot be guessed from its hash and equal texts
of two tenants have different hashes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.language.text.normalise import nfkc
from mnemic.types import Candidate, Kind, Scope
from mnemic.types.memory_kinds import CATALOG
from mnemic.write.draft import Draft

MAX_IDEMPOTENCY_KEY_CHARS = 512
_SPACE = re.compile(r"\s+")
_ENDING = " .,;:!…。、，；：！"
"""Punctuation that ends a statement without changing it. A question mark does change it."""


def fingerprint_of(secret: bytes, scope: Scope, candidate: Candidate) -> str:
    """64 hex digits: equal for the same redacted statement of the same kind under the same key in the same scope.

    Letter case, spacing, Unicode form and final punctuation do not count; the speaker does. Without a key,
    data and times count too: "Invoice paid" with another invoice is another memory, and so is "watered the tomatoes" of
    another day.
    """
    parts: list[Any] = [candidate.kind, scope.tenant, scope.level, scope.owner, candidate.key]
    said, speaker = candidate.content, candidate.source.speaker
    parts += [normal_form(said), None if speaker is None else normal_form(speaker)]
    if CATALOG[candidate.kind].append_only:
        parts += [_moment(candidate.occurred_at), candidate.data, candidate.source.ref]
    elif candidate.kind is Kind.STRUCTURED or (candidate.key is None and candidate.data):
        parts.append(candidate.data)
    if candidate.key is None and (candidate.valid_from or candidate.valid_to):
        parts += ["valid", _moment(candidate.valid_from), _moment(candidate.valid_to)]
    # The time of words from a conversation is that of speaking, which is no part of what they say.
    if candidate.key is None and candidate.source.quote is None and not CATALOG[candidate.kind].append_only:
        parts += ["at", _moment(candidate.occurred_at)] if candidate.occurred_at else []
    return keyed_hash(secret, "fingerprint", parts)


def normal_form(text: str) -> str:
    """`text` as it is compared: NFKC, case folded, white space collapsed, final punctuation dropped."""
    # Twice: folding case can leave a text that is no longer normalised (Unicode 15, section 3.13, D146).
    folded = nfkc(nfkc(text).casefold())
    collapsed = _SPACE.sub(" ", folded).strip()
    # A text of punctuation alone keeps it; otherwise all such texts would be equal.
    return collapsed.rstrip(_ENDING) or collapsed


def request_digest(draft: Draft) -> str:
    """64 hex digits of the redacted request: two requests under one idempotency key must agree in it."""
    candidate = draft.candidate
    source = candidate.source
    parts: list[Any] = [draft.actor.user, draft.actor.agent, draft.scope.level, draft.scope.owner]
    parts += [candidate.content, candidate.key, candidate.kind, candidate.category, candidate.context, candidate.data]
    parts += [candidate.ttl and candidate.ttl.total_seconds(), candidate.confidence]
    given = draft.given  # "yesterday" is another day when the request is repeated
    parts += [_moment(moment) for moment in (given.occurred_at, given.valid_from, given.valid_to)]
    parts += [source.origin, source.ref, source.session, source.speaker, source.quote, source.span]
    # Only if set: digests of requests stored before the field existed stay valid.
    parts += [candidate.replaces] if candidate.replaces else []
    return keyed_hash(draft.secret, "request", parts)


def request_key(secret: bytes, user: str, idempotency_key: object) -> str:
    """Return the stored name of an idempotency key: one per user, and unreadable, as keys may contain personal data.

    Raises InvalidInput (`invalid_input:idempotency_key`).
    """
    if not isinstance(idempotency_key, str) or not 0 < len(idempotency_key) <= MAX_IDEMPOTENCY_KEY_CHARS:
        raise InvalidInput("idempotency_key", hint=f"text of 1 to {MAX_IDEMPOTENCY_KEY_CHARS} characters")
    return f"{user}:{keyed_hash(secret, 'idempotency', [user, idempotency_key])[:32]}"


def item_key(idempotency_key: str | None, candidate: Candidate) -> str | None:
    """Return the idempotency key of one candidate of a batch, made from the batch's key and the candidate's content."""
    if idempotency_key is None:
        return None
    # The unit separator avoids ambiguity between the parts: it occurs in no level, kind or valid key.
    said = "\x1f".join((candidate.level, candidate.kind, candidate.key or "", candidate.content))
    return f"{idempotency_key}:{hashlib.sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def request_owner(name: str) -> str:
    """Return the owner of the idempotency key that is stored under this name."""
    # From the right: user names may contain colons, the hash does not.
    return name.rpartition(":")[0]


def keyed_hash(secret: bytes, purpose: str, parts: list[Any]) -> str:
    """Return the HMAC-SHA-256 over JSON, which delimits the parts unambiguously."""
    # `purpose` first, so that hashes for different uses never coincide.
    return hmac.digest(secret, _AS_JSON([purpose, *parts]).encode(), "sha256").hex()


def _thaw(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


# Made once: `json.dumps` would make an encoder for each hash.
_AS_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=_thaw).encode


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
