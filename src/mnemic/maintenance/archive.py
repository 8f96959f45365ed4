"""Archive: export and restore of memories with every version, state and consent.

An archive is JSON lines, oldest memory first, so that the messages of a conversation are restored in order. A restored
memory keeps its identifier, its versions with their times, its state, validity and lineage. It passes redaction and the
gate of every write; its words are not compared with existing memories, because that was done when it was first stored.
Under a key with one value it never becomes active next to another value: it waits for a person.

A line has a seal: an HMAC of its content, with the key that signs the audit log. A changed line cannot be sealed again
without the key folder. A removed line leaves no trace.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from mnemic.errors import InvalidInput, VersionConflict
from mnemic.policy.key_rules import Policy
from mnemic.ports import Clock, Reads, RecordStore
from mnemic.ports.keyring import SigningKeyring
from mnemic.ports.record_store import SuppliedIdentifiers
from mnemic.reason_codes import KEY_NEEDS_REVIEW, LOWER_TRUST
from mnemic.retrieve.export import as_dict, from_dict
from mnemic.types import Actor, Memory, Origin, Outcome, Scope, Status, WriteReceipt, aware, lower_origin
from mnemic.types.memory_kinds import TRUST
from mnemic.types.values import canonical_key
from mnemic.unit_of_work import Mutation, Unit, commit
from mnemic.write.commit import Gate, GateRefusal, blocked_receipt, receipt_of
from mnemic.write.decide import peers_of
from mnemic.write.derived_memories import mark_tenant, sources_of
from mnemic.write.draft import Draft
from mnemic.write.limiter import consent_prefix, subject_token
from mnemic.write.missing_vectors import require_present
from mnemic.write.pipeline import MemoryWritePipeline
from mnemic.write.prepare import fingerprint_of
from mnemic.write.revise import candidate_of
from mnemic.write.tokenisation import keep

SEAL = "seal"


@dataclass(frozen=True, slots=True)
class Seal:
    """Return the seal of a line, None if it has none, and the sealed content."""

    given: str | None = field(repr=False)
    message: bytes = field(repr=False)


def seal_line(line: dict[str, Any], keyring: object) -> dict[str, Any]:
    """Return the line with its seal, if `keyring` has a key that signs. Raises KeyFailed."""
    return {**line, SEAL: keyring.sign(_message(line))} if isinstance(keyring, SigningKeyring) else line


def seal_of(line: Mapping[str, Any]) -> Seal:
    """Return the seal of a line as it was read."""
    given = line.get(SEAL)
    return Seal(given if isinstance(given, str) else None, _message(line))


def require_sealed(seal: Seal | None, keyring: object) -> None:
    """Raise InvalidInput (`archive:seal`) if there is a key that signs, and it has not sealed this line as it is.
    Raises KeyFailed.
    """
    if not isinstance(keyring, SigningKeyring):
        return
    if seal is None or seal.given is None or not hmac.compare_digest(seal.given, keyring.sign(seal.message)):
        hint = "this key has not sealed the line as it is: without --own it counts as imported by you"
        raise InvalidInput("archive:seal", hint=hint)


def _message(line: Mapping[str, Any]) -> bytes:
    fields = {name: value for name, value in line.items() if name != SEAL}
    return b"mnemic archive line\n" + json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()


FORMAT = "mnemic-archive/1"
PAGE = 500
MAX_VERSIONS = 10_000


@dataclass(frozen=True, slots=True)
class ArchivedMemory:
    """A memory in all its versions, oldest first, in the scopes they had."""

    versions: tuple[Memory, ...]
    seal: Seal | None = None


@dataclass(frozen=True, slots=True)
class ArchivedConsent:
    """Decision of a user about a key, and when it was made."""

    key: str = field(repr=False)
    granted: bool
    at: datetime
    seal: Seal | None = None


Archived = ArchivedMemory | ArchivedConsent


async def archive_lines(
    store: RecordStore, scopes: Sequence[Scope], user: str, keyring: object = None
) -> AsyncIterator[dict[str, Any]]:
    """All memories in `scopes`, scope by scope, oldest first, then the consents of `user`; one line each, sealed where
    `keyring` has a key that signs.
    """
    for scope in scopes:
        after = None
        while page := await store.scan(scope.tenant, statuses=list(Status), scope=scope, after=after, limit=PAGE):
            after = page[-1].memory_id
            for memory in page:
                versions = [memory]
                if memory.version > 1:
                    versions = await store.versions(memory.memory_id, scopes=[scope])
                yield seal_line(line_of(ArchivedMemory(tuple(versions))), keyring)
    tenant = scopes[0].tenant
    prefix = consent_prefix(await subject_token(store, tenant, user))
    for name, value in (await store.marks(tenant, prefix)).items():
        line = {"format": FORMAT, "consent": {"key": name.removeprefix(prefix), **json.loads(value)}}
        yield seal_line(line, keyring)


def line_of(archived: Archived) -> dict[str, Any]:
    """Return the line that `read_line` reads as this memory or consent, without its seal."""
    if isinstance(archived, ArchivedMemory):
        return {"format": FORMAT, "versions": [_as_json(one) for one in archived.versions]}
    consent = {"key": archived.key, "granted": archived.granted, "at": archived.at.isoformat()}
    return {"format": FORMAT, "consent": consent}


def _as_json(memory: Memory) -> dict[str, Any]:
    return as_dict(memory) | {"agent": memory.agent, "author": memory.author}


def read_line(data: Mapping[str, Any]) -> Archived:
    """Return the memory or the consent of a line. Raises InvalidInput (`archive:<what>`, `export:<field>`)."""
    if data.get("format") != FORMAT:
        raise InvalidInput("archive:format", hint=f"expected {FORMAT}")
    if isinstance(consent := data.get("consent"), Mapping):
        return _consent(consent, seal_of(data))
    raw_versions = data.get("versions")
    if not isinstance(raw_versions, list) or not 0 < len(raw_versions) <= MAX_VERSIONS:
        raise InvalidInput("archive:versions", hint="a line must contain a consent, or the versions of one memory")
    if not all(isinstance(one, Mapping) for one in raw_versions):
        raise InvalidInput("archive:versions")
    versions = tuple(map(from_dict, raw_versions))
    first = versions[0]
    same = all((one.memory_id, one.scope, one.kind) == (first.memory_id, first.scope, first.kind) for one in versions)
    if not same or [one.version for one in versions] != list(range(1, len(versions) + 1)):
        raise InvalidInput("archive:versions", hint="versions of one memory, from the first on, none left out")
    return ArchivedMemory(versions, seal_of(data))


def _consent(data: Mapping[str, Any], seal: Seal) -> ArchivedConsent:
    granted = data.get("granted")
    try:
        at = aware(datetime.fromisoformat(data["at"]), "archive:consent")
    except (KeyError, TypeError, ValueError):
        raise InvalidInput("archive:consent") from None
    if not isinstance(granted, bool):
        raise InvalidInput("archive:consent")
    return ArchivedConsent(canonical_key(data.get("key")), granted, at, seal)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restorer:
    """Restores archived memories for `actor`, into the actor's own scope of each level.

    With `own` the operator vouches for the archive: origin, trust and author are preserved. Without it, and from the
    channel of a model or a tool, everything counts as imported by the actor, with at most the trust of the channel.
    Kinds that always need a person wait for review, even if they were approved elsewhere.
    """

    store: RecordStore
    clock: Clock
    pipeline: MemoryWritePipeline
    actor: Actor
    gate: Gate
    policy: Policy
    own: bool = False

    async def restore(self, archived: Archived) -> WriteReceipt:
        """Return `created`, `refreshed` if it exists already, `pending_review` next to another value of its key,
        `blocked` with the reason.

        Raises InvalidInput, VersionConflict if another memory has its identifier or its history differs,
        EmbedderFailed, StoreFailed.
        """
        if isinstance(archived, ArchivedConsent):
            return await self._consent(archived)
        newest = archived.versions[-1]
        drafts = [await self._draft(one, newest=one is newest) for one in archived.versions]
        blocked = next((draft.blocked for draft in drafts if draft.blocked is not None), None)
        if blocked is not None:
            return blocked_receipt(drafts[-1].candidate, blocked)
        versions = [
            self._version(one, draft, newest=one is newest)
            for one, draft in zip(archived.versions, drafts, strict=True)
        ]
        try:
            return await commit(self.store, lambda unit: self._write(unit, versions, drafts))
        except GateRefusal as refused:
            return blocked_receipt(drafts[-1].candidate, refused.reason)

    async def _draft(self, memory: Memory, *, newest: bool) -> Draft:
        """Draft the stored form of a version. Only the newest has a vector."""
        home = self.actor.scope(memory.scope.level)
        source = replace(memory.source, origin=self._origin(memory.source.origin))
        candidate = replace(candidate_of(memory), source=source, valid_from=None, valid_to=None)
        return await self.pipeline.prepare_draft(
            candidate, home=home, actor=self.actor, policy=self.policy, embedded=newest
        )

    def _origin(self, origin: Origin) -> Origin:
        if self.own:
            return origin
        inferred = origin is Origin.AGENT_INFERRED or TRUST[origin] < TRUST[Origin.IMPORT]
        # an agent's inference never becomes a person's words
        return lower_origin(self.actor.channel, origin if inferred else Origin.IMPORT)

    def _version(self, memory: Memory, draft: Draft, *, newest: bool) -> Memory:
        """Return the stored form of a version. Only the newest is searchable and has a fingerprint."""
        candidate, status = draft.candidate, memory.status
        timed = replace(candidate, valid_from=memory.valid_from, valid_to=memory.valid_to)
        if newest and status is Status.ACTIVE and draft.review_reason is not None:
            status = Status.PENDING_REVIEW
        return replace(
            memory,
            scope=draft.scope,
            content=candidate.content,
            key=candidate.key,
            category=candidate.category,
            context=candidate.context,
            data=candidate.data,
            confidence=candidate.confidence,
            source=candidate.source,
            trust=memory.trust if self.own else min(memory.trust, draft.trust),
            author=memory.author if self.own else self.actor.user,
            status=status,
            expires_at=draft.keeping(memory),
            fingerprint=fingerprint_of(draft.secret, draft.scope, timed) if newest else "",
            vector=draft.vector,
        )

    async def _write(self, unit: Unit, versions: Sequence[Memory], drafts: Sequence[Draft]) -> WriteReceipt:
        tx, newest = unit.reads, versions[-1]
        present = await tx.get(newest.memory_id, scopes=[newest.scope])
        known = await self._receipt_of_existing(tx, versions, present)
        if known is not None:
            return known
        if present is None and isinstance(tx, SuppliedIdentifiers):
            await tx.claim(newest)
        await require_present(tx, drafts[-1])
        receipt = receipt_of(Outcome.CREATED, newest, "restored")
        if against := await self._against(tx, newest, drafts[-1]):
            ids = tuple(memory.memory_id for memory in against)
            reason = LOWER_TRUST if any(memory.trust > newest.trust for memory in against) else KEY_NEEDS_REVIEW
            newest = replace(newest, status=Status.PENDING_REVIEW, conflicts_with=ids)
            receipt = receipt_of(Outcome.PENDING_REVIEW, newest, reason)
        for version in [*versions[:-1], newest][present.version if present else 0 :]:
            await unit.apply(self._restore_version(version, newest=version is newest))
        for draft in drafts:
            await keep(unit, draft)
        if sources_of(newest):
            await unit.apply(mark_tenant(newest.scope.tenant))
        refused = await self.gate(tx, drafts[-1].candidate)
        if refused is not None:
            raise GateRefusal(refused)
        return receipt

    async def _receipt_of_existing(
        self, tx: Reads, versions: Sequence[Memory], present: Memory | None
    ) -> WriteReceipt | None:
        """Return the receipt of an existing memory. Raises VersionConflict."""
        newest = versions[-1]
        if present is not None and present.version >= newest.version:
            return receipt_of(Outcome.REFRESHED, present, "unchanged")
        if present is not None and present.updated_at != versions[present.version - 1].updated_at:
            raise VersionConflict(hint="the memory diverged in this store")
        if newest.status is Status.ACTIVE:
            twin = await tx.find_fingerprint(newest.scope, newest.fingerprint)
            if twin is not None and twin.memory_id != newest.memory_id:
                return receipt_of(Outcome.REFRESHED, twin, "said_already")
        return None

    async def _against(self, tx: Reads, newest: Memory, draft: Draft) -> list[Memory]:
        """Return the other values of its key, if the key has one value and the memory would be in force."""
        single = newest.key is not None and self.policy.rule(newest.key).on_change != "accumulate"
        if newest.status is not Status.ACTIVE or not single or draft.spec.append_only:
            return []
        return [memory for memory in await peers_of(tx, draft) if memory.memory_id != newest.memory_id]

    def _restore_version(self, memory: Memory, *, newest: bool) -> Mutation:
        """Return the mutation that writes one version; the newest brings the line in the audit log and the outbox
        entry.
        """
        detail = {"status": memory.status.value, "own": self.own}
        return Mutation.for_memory(
            memory,
            "restored" if newest else None,
            actor=self.actor,
            at=self.clock.now(),
            detail=detail,
            was=Status.ACTIVE,
            silent=not newest,
        )

    async def _consent(self, consent: ArchivedConsent) -> WriteReceipt:
        """Store the archived decision, unless the user has decided about the key here."""
        token = await subject_token(self.store, self.actor.tenant, self.actor.user)
        name = consent_prefix(token) + consent.key
        value = json.dumps({"granted": consent.granted, "at": consent.at.isoformat()})
        restored = Mutation.line(
            "consent_restored",
            actor=self.actor,
            at=self.clock.now(),
            detail={"subject": token, "agent": self.actor.agent, "granted": consent.granted},
            marks={name: value},
        )

        async def work(unit: Unit) -> bool:
            known = await unit.reads.find_mark(self.actor.tenant, name)
            return known is None and await unit.apply(restored)

        outcome = Outcome.CREATED if await commit(self.store, work) else Outcome.REFRESHED
        return WriteReceipt(outcome=outcome, key=consent.key)
