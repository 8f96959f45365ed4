"""Every error mnemic raises, in one tree (docs/concepts.md draws it); `mnemic.reason_codes` has the code of each.

Programs branch on `reason`, which is stable API. Messages carry codes, names and lengths, never content.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import ClassVar

from mnemic import reason_codes

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

    `permanent`: the same call would fail again, so it is not retried. `retry_after`: the pause that the other side
    asked for, if it named one.
    """

    code: ClassVar[str] = reason_codes.MNEMIC_ERROR
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

    code = reason_codes.INVALID_INPUT


class UnknownArgument(InvalidInput, TypeError):
    """A verb has no argument of this name: `unknown_argument:<verb>:<name>`."""

    code = reason_codes.UNKNOWN_ARGUMENT


class UnknownVerb(InvalidInput, AttributeError):
    """A memory has no verb of this name: `unknown_verb:<name>`."""

    code = reason_codes.UNKNOWN_VERB


class InvalidConfig(MnemicError, ValueError):
    """Settings, a policy file or an environment variable cannot be used."""

    code = reason_codes.INVALID_CONFIG


class MissingExtra(InvalidConfig, ModuleNotFoundError):
    """A package of an optional extra is not installed; the reason names the extra."""

    code = reason_codes.MISSING_EXTRA


class RunStopped(MnemicError):
    """The run must end with `reason`; everything committed before stays committed and is reported. `proposal`: the
    answer of a model at which it ends, as it was read.
    """

    code = reason_codes.STOPPED
    proposal: object = None


class InvalidCandidates(RunStopped):
    """The proposed memories break the contract."""

    code = reason_codes.INVALID_MEMORY_CANDIDATES


class KeyNotAllowed(RunStopped):
    """A candidate names a key outside the policy."""

    code = reason_codes.MEMORY_KEY_NOT_ALLOWED_POLICY


class ScopeNotAllowed(RunStopped):
    """A candidate names a scope outside the policy."""

    code = reason_codes.MEMORY_SCOPE_NOT_ALLOWED_POLICY


class InvalidIntent(RunStopped):
    """The retrieval intent breaks the contract."""

    code = reason_codes.INVALID_RETRIEVAL_INTENT


class ScopeDenied(RunStopped):
    """The retrieval intent asks for a scope that the runtime has not granted."""

    code = reason_codes.SCOPE_DENIED


class InvalidAnswer(RunStopped):
    """The answer fails the audit of use."""

    code = reason_codes.INVALID_ANSWER


class InjectionFailed(RunStopped):
    """Memory was to be consulted before the model is called, could not be, and the configuration says to stop."""

    code = reason_codes.INJECTION_FAILED


class BudgetSpent(RunStopped):
    """A limit of the run is used up: the `limit`'s name is the reason."""

    code = reason_codes.BUDGET

    def __init__(self, limit: str) -> None:
        super().__init__()
        # The name alone: programs branch on `max_seconds`, not on `budget:max_seconds`.
        self.reason = limit
        self.args = (limit,)


class ModelFailed(RunStopped):
    """The model returned nothing usable despite retries. `paid`: calls that reached the server, and tokens."""

    code = reason_codes.LLM_FAILED
    paid: Mapping[str, int] = MappingProxyType({})


class ModelTimeout(ModelFailed):
    """The model did not answer before the deadline."""

    code = reason_codes.LLM_TIMEOUT


class ModelUnavailable(ModelFailed):
    """The model could not be reached, refused the call, or answered with an error."""

    code = reason_codes.LLM_UNAVAILABLE


class ModelInvalidJson(ModelFailed):
    """The model's text is not strict JSON."""

    code = reason_codes.LLM_INVALID_JSON


class ModelInvalidSchema(ModelFailed):
    """The model's JSON has another shape than the contract."""

    code = reason_codes.LLM_INVALID_SCHEMA


class ModelEmpty(ModelFailed):
    """The model answered without text."""

    code = reason_codes.LLM_EMPTY


class EmbedderFailed(MnemicError):
    """No vector could be made: `embedder_failed:timeout`, `:unavailable`, `:auth`, `:response`, `:dimension`,
    `:not_finite`, `:zero_vector`, `:model_file`, `:closed`, `:circuit_open`.
    """

    code = reason_codes.EMBEDDER_FAILED


class RerankerFailed(MnemicError):
    """No scores: `timeout`, `unavailable`, `auth`, `refused`, `response`, `circuit_open`. A search continues without
    them.
    """

    code = reason_codes.RERANKER_FAILED


class SpaceMismatch(EmbedderFailed):
    """The store's vectors are of another model or dimension than the configured embedder's."""

    code = reason_codes.EMBEDDING_SPACE_MISMATCH


class StoreFailed(MnemicError):
    """A database failed, and nothing of the requested change was applied."""

    code = reason_codes.STORE_FAILED


class StoreUnavailable(StoreFailed):
    """The database could not be opened or reached, or is not open."""

    code = reason_codes.STORE_UNAVAILABLE

    def __init__(self, detail: str | None = None, *, hint: str | None = None) -> None:
        if detail == "closed" and hint is None:
            hint = "it is not open: use `async with`, or call `open` first and `close` last"
        super().__init__(detail, hint=hint)


class StoreBusy(StoreFailed):
    """Another writer had the lock past the deadline."""

    code = reason_codes.STORE_BUSY


class StoreFull(StoreFailed):
    """No space is left; reads still work, and all acknowledged writes are stored."""

    code = reason_codes.STORE_FULL


class StoreCorrupt(StoreFailed):
    """The file is damaged, or is not a mnemic store."""

    code = reason_codes.STORE_CORRUPT


class StoreNewer(StoreFailed):
    """The file was written by a newer mnemic; it was not touched."""

    code = reason_codes.STORE_NEWER


class StoreOlder(StoreFailed):
    """The store is older than the first release; it was not touched. Its data is carried over by export and import."""

    code = reason_codes.STORE_OLDER

    def __init__(
        self,
        detail: str | None = None,
        *,
        hint: str = "it is older than the first release: `mnemic export --all` with the program that wrote it, then "
        "`mnemic import --own` into a new store",
    ) -> None:
        super().__init__(detail, hint=hint)


class KeyFailed(StoreFailed):
    """Sealed data cannot be opened, or nothing can be sealed: `key_failed:missing` (no such data key here),
    `:destroyed` (its subject was erased), `:rotated` (a copy from before the data keys changed), `:wrong_key` (of
    another master key), `:damaged`, `:unreadable` (the folder).
    """

    code = reason_codes.KEY_FAILED


class CommitUnknown(StoreFailed):
    """The connection broke while committing: retry with the same idempotency key."""

    code = reason_codes.COMMIT_UNKNOWN


class MemoryNotFound(MnemicError, LookupError):
    """No such memory in the scopes the caller may read. An absent and a foreign one get the same error."""

    code = reason_codes.MEMORY_NOT_FOUND

    def __init__(self, detail: str | None = None, *, hint: str | None = None) -> None:
        if detail is None and hint is None:
            hint = "this user has no memory of that id; `search` and `list` show ids"
        super().__init__(detail, hint=hint)


class VersionConflict(MnemicError):
    """The memory changed since the version the caller named."""

    code = reason_codes.VERSION_CONFLICT


class WriteBlocked(MnemicError):
    """The runtime does not allow the change now; `detail` is the reason that a receipt would carry."""

    code = reason_codes.WRITE_BLOCKED


class ReviewDenied(MnemicError):
    """The proposer of a memory cannot approve it: `review_denied:proposer`."""

    code = reason_codes.REVIEW_DENIED


class RevealDenied(MnemicError):
    """The text of a marker is shown only to roles that the policy names: `reveal_denied:role`."""

    code = reason_codes.REVEAL_DENIED


class IdempotencyConflict(MnemicError):
    """The idempotency key was already used for a different request."""

    code = reason_codes.IDEMPOTENCY_KEY_REUSED


class ServiceRefused(MnemicError):
    """The service itself refused a call: not authorised, too many calls, or not reachable (`unreachable`)."""

    code = reason_codes.SERVICE_REFUSED


class NotSupported(MnemicError):
    """A backend declares that it cannot do this; it never answers with silence instead."""

    code = reason_codes.NOT_SUPPORTED


def error_behind(reason: str) -> type[MnemicError]:
    """Return the kind of error that has this `reason`; MnemicError itself for a reason that is no error's."""
    waiting: list[type[MnemicError]] = [MnemicError]
    while waiting:
        kind = waiting.pop()
        if kind.code == reason.partition(":")[0]:
            return kind
        waiting += kind.__subclasses__()
    return MnemicError
