"""Every error mnemic raises, drawn as a tree.

    MnemicError
    ├── InvalidInput            what the caller passed cannot be used       invalid_input:<what>
    ├── InvalidConfig           settings or policy cannot be used           invalid_config:<what>
    │   └── MissingExtra        a package is not installed                  missing_extra:<extra>
    ├── RunStopped              a run must end, with a stable reason
    │   ├── InvalidCandidates   the model proposed a malformed memory       invalid_memory_candidates:<what>
    │   ├── KeyNotAllowed       a key outside the policy                    memory_key_not_allowed_policy:<key>
    │   ├── ScopeNotAllowed     a scope outside the policy                  memory_scope_not_allowed_policy:<scope>
    │   ├── InvalidIntent       a malformed retrieval intent                invalid_retrieval_intent:<what>
    │   ├── ScopeDenied         an intent outside the runtime grant         scope_denied:<scope>
    │   ├── InvalidAnswer       the answer fails the audit of use           invalid_answer:<what>
    │   ├── InjectionFailed     memory had to be consulted, and was not     injection_failed:<what>
    │   ├── BudgetSpent         a limit of the run is used up               max_seconds, max_capture_items
    │   └── ModelFailed         the language model gave nothing usable
    │       ├── ModelTimeout        llm_timeout
    │       ├── ModelUnavailable    llm_unavailable
    │       ├── ModelInvalidJson    llm_invalid_json
    │       ├── ModelInvalidSchema  llm_invalid_schema
    │       └── ModelEmpty          llm_empty
    ├── EmbedderFailed          no vector could be made                     embedder_<what>
    │   └── SpaceMismatch       the file holds vectors of another model     embedding_space_mismatch
    ├── RerankerFailed          no scores could be had                      reranker_failed:<what>
    ├── StoreFailed             a database did not do what was asked
    │   ├── StoreUnavailable        store_unavailable
    │   ├── StoreBusy               store_busy
    │   ├── StoreFull               store_full
    │   ├── StoreCorrupt            store_corrupt
    │   ├── StoreNewer              store_newer
    │   ├── KeyFailed               a key is missing, destroyed or wrong    key_failed:<why>
    │   └── CommitUnknown           commit_unknown
    ├── MemoryNotFound          absent, or not yours: the two look alike    memory_not_found
    ├── VersionConflict         the memory changed since it was read        version_conflict
    ├── ReviewDenied            this person may not decide this             review_denied:<why>
    ├── WriteBlocked            grant, consent, quota or trust forbid it    write_blocked:<reason>
    ├── RevealDenied            this role may not see the values of markers reveal_denied:<why>
    ├── IdempotencyConflict     one key, two different requests             idempotency_key_reused
    ├── ServiceRefused          a service of ours refused, or is not there  service_refused:<reason>
    └── NotSupported            this backend declares that it cannot        not_supported:<what>

`reason` is stable API: programs branch on it, tests pin it. Messages carry codes, names and lengths, never content.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import ClassVar

REASON_DETAIL_CHARS = 64


def escape_detail(detail: str) -> str:
    """`detail` made safe for a reason or a log line: one line, visible characters only, at most 64 of them."""
    visible = "".join(c if unicodedata.category(c)[0] not in "CZ" or c == " " else ascii_escape(c) for c in detail)
    return visible[:REASON_DETAIL_CHARS]


def ascii_escape(character: str) -> str:
    """Spell one character with ASCII alone, as Python does."""
    return (
        character.encode("ascii", "backslashreplace").decode("ascii")
        if ord(character) > 127
        else f"\\x{ord(character):02x}"
    )


class MnemicError(Exception):
    """Root of the tree. `reason` is a stable code; `detail` (escaped, at most 64 characters) may follow it after a
    colon.

    `permanent`: the same call would fail again, so nobody retries it. `retry_after`: how long the other side asked to
    be left alone, where it said so.
    """

    code: ClassVar[str] = "mnemic_error"
    permanent: bool = False
    retry_after: timedelta | None = None

    def __init__(self, detail: str | None = None, *, hint: str | None = None) -> None:
        self.reason = self.code if detail is None else f"{self.code}:{escape_detail(detail)}"
        self.hint = hint
        super().__init__(self.reason if hint is None else f"{self.reason} - {hint}")

    def __reduce__(self) -> tuple[Callable[..., MnemicError], tuple[object, ...]]:
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(cls: type[MnemicError], message: tuple[object, ...], state: dict[str, object]) -> MnemicError:
    """Return the error of a pickle or a copy: its constructor takes the detail, which the message no longer shows."""
    error = cls.__new__(cls, *message)
    error.__dict__.update(state)
    return error


class InvalidInput(MnemicError, ValueError):
    """Input of the caller cannot be used; nothing was stored."""

    code = "invalid_input"


class InvalidConfig(MnemicError, ValueError):
    """Settings, a policy file or an environment variable cannot be used."""

    code = "invalid_config"


class MissingExtra(InvalidConfig, ModuleNotFoundError):
    """A package is not installed that an extra of mnemic brings; the reason names the extra."""

    code = "missing_extra"


class RunStopped(MnemicError):
    """The run must end with `reason`; what was committed before it stays committed and is reported."""

    code = "stopped"


class InvalidCandidates(RunStopped):
    """The proposed memories break the contract."""

    code = "invalid_memory_candidates"


class KeyNotAllowed(RunStopped):
    """A candidate names a key outside the policy."""

    code = "memory_key_not_allowed_policy"


class ScopeNotAllowed(RunStopped):
    """A candidate names a scope outside the policy."""

    code = "memory_scope_not_allowed_policy"


class InvalidIntent(RunStopped):
    """The retrieval intent breaks the contract."""

    code = "invalid_retrieval_intent"


class ScopeDenied(RunStopped):
    """The retrieval intent asks for a scope that the runtime has not granted."""

    code = "scope_denied"


class InvalidAnswer(RunStopped):
    """The answer fails the audit of use."""

    code = "invalid_answer"


class InjectionFailed(RunStopped):
    """Memory was to be consulted before the model is called, could not be, and the configuration says to stop."""

    code = "injection_failed"


class BudgetSpent(RunStopped):
    """A limit of the run is used up: the `limit`'s name is the reason."""

    code = "budget"

    def __init__(self, limit: str) -> None:
        super().__init__()
        self.reason = limit
        self.args = (limit,)


class ModelFailed(RunStopped):
    """The language model gave nothing usable, after the retries its budget allowed. `paid`: the calls that reached its
    server, and the tokens of an answer that came all the same.
    """

    code = "llm_failed"
    paid: Mapping[str, int] = MappingProxyType({})


class ModelTimeout(ModelFailed):
    """The model did not answer before the deadline."""

    code = "llm_timeout"


class ModelUnavailable(ModelFailed):
    """The model could not be reached, refused the call, or answered with an error."""

    code = "llm_unavailable"


class ModelInvalidJson(ModelFailed):
    """The model's text is not strict JSON."""

    code = "llm_invalid_json"


class ModelInvalidSchema(ModelFailed):
    """The model's JSON has another shape than the contract."""

    code = "llm_invalid_schema"


class ModelEmpty(ModelFailed):
    """The model answered without text."""

    code = "llm_empty"


class EmbedderFailed(MnemicError):
    """No vector could be made: `embedder_failed:timeout`, `:unavailable`, `:auth`, `:response`, `:dimension`,
    `:not_finite`, `:zero_vector`, `:model_file`, `:closed`, `:circuit_open`.
    """

    code = "embedder_failed"


class RerankerFailed(MnemicError):
    """No scores could be had: `reranker_failed:timeout`, `:unavailable`, `:auth`, `:refused`, `:response`,
    `:circuit_open`. A search answers without them and names it.
    """

    code = "reranker_failed"


class SpaceMismatch(EmbedderFailed):
    """The store holds vectors of another model or dimension than the configured embedder makes."""

    code = "embedding_space_mismatch"


class StoreFailed(MnemicError):
    """A database did not do what was asked, and nothing of the asked change was applied."""

    code = "store_failed"


class StoreUnavailable(StoreFailed):
    """The database could not be opened or reached."""

    code = "store_unavailable"


class StoreBusy(StoreFailed):
    """Another writer held the lock for longer than the deadline."""

    code = "store_busy"


class StoreFull(StoreFailed):
    """No space is left; reads still work, and what was acknowledged is there."""

    code = "store_full"


class StoreCorrupt(StoreFailed):
    """The file is damaged, or is not a mnemic store."""

    code = "store_corrupt"


class StoreNewer(StoreFailed):
    """The file was written by a newer mnemic; it was not touched."""

    code = "store_newer"


class KeyFailed(StoreFailed):
    """Sealed data cannot be opened, or nothing can be sealed: `key_failed:missing` (no such data key here),
    `:destroyed` (its subject was erased), `:rotated` (a copy from before the data keys changed), `:wrong_key` (of
    another master key), `:damaged`, `:unreadable` (the folder).
    """

    code = "key_failed"


class CommitUnknown(StoreFailed):
    """The connection broke while committing: retry with the same idempotency key."""

    code = "commit_unknown"


class MemoryNotFound(MnemicError, LookupError):
    """No such memory in the scopes the caller may read. An absent and a foreign one get the same error."""

    code = "memory_not_found"


class VersionConflict(MnemicError):
    """The memory changed since the version the caller named."""

    code = "version_conflict"


class WriteBlocked(MnemicError):
    """The runtime does not allow the change now; `detail` is the reason that a receipt would carry."""

    code = "write_blocked"


class ReviewDenied(MnemicError):
    """Whoever proposed a memory cannot approve it: `review_denied:proposer`."""

    code = "review_denied"


class RevealDenied(MnemicError):
    """The text of a marker is shown only to roles that the policy names: `reveal_denied:role`."""

    code = "reveal_denied"


class IdempotencyConflict(MnemicError):
    """The idempotency key was already used for a different request."""

    code = "idempotency_key_reused"


class ServiceRefused(MnemicError):
    """The service itself refused a call: who may not call, too many calls, or nobody answers (`unreachable`)."""

    code = "service_refused"


class NotSupported(MnemicError):
    """A backend declares that it cannot do this; it never answers with silence instead."""

    code = "not_supported"


def error_behind(reason: str) -> type[MnemicError]:
    """Return the kind of error that has this `reason`; MnemicError itself for a reason that is no error's."""
    waiting: list[type[MnemicError]] = [MnemicError]
    while waiting:
        kind = waiting.pop()
        if kind.code == reason.partition(":")[0]:
            return kind
        waiting += kind.__subclasses__()
    return MnemicError
