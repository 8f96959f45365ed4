"""Question and answer of a turn, stored with its line in the audit log, so that a person can read the question, the
memories shown to the model, and its answer.

A turn is a mark of its user: redacted, encrypted with the user's data key if there is one, and deleted with the user,
with any memory that it showed and that is erased, forgotten or purged, after `KEPT_FOR`, or once the user has `MOST`
newer ones.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from mnemic.language.sentences.requests_about_memory import asked_of_memory
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, Level, Scope
from mnemic.unit_of_work import Mutation, Unit, commit
from mnemic.write.limiter import is_erased, subject_token

if TYPE_CHECKING:
    from mnemic.write.tokenisation import TokenVault

KEPT_FOR = timedelta(days=30)
MOST = 200
LONGEST = 4_000
"""Maximum length, in characters, of a stored question, answer or block."""
ALL_TURNS = "turns/"


class TurnLogEngine(Protocol):
    """The parts of `MemoryEngine` that a log of turns needs."""

    store: RecordStore
    clock: Clock
    rules: Any
    vault: TokenVault | None
    keeps_turns: bool

    async def redact_text(self, text: str, *, actor: Actor) -> str:
        """`text` as it may be stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTexts:
    """Texts of the turn `run_id`, which began `at`. `shown` are the memories in it, `named` those whose value its
    answer contains.
    """

    run_id: str
    at: datetime
    question: str = field(default="", repr=False)
    answer: str | None = field(default=None, repr=False)
    block: str = field(default="", repr=False)
    shown: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


def turn_prefix(token: str) -> str:
    """Return the prefix of the names of the marks of a user's turns."""
    return f"{ALL_TURNS}{token}/"


def keeps_turns(engine: TurnLogEngine) -> bool:
    """Return True if policy allows to store the texts of turns. By default (`keep_turns` None), they are stored by a
    program and the command line, and not by the service; and never without the messages themselves, nor where keys need
    a consent.
    """
    policy, limits = engine.rules.policy, engine.rules.limits
    if policy.keep_turns is not None:
        return bool(policy.keep_turns)
    return engine.keeps_turns and policy.keep_messages and limits.consent == "implied"


async def keep_turn(engine: TurnLogEngine, actor: Actor, turn: TurnTexts) -> None:
    """Store the texts of a turn of the actor's, replacing earlier ones of the turn, if policy allows it. Nothing is
    stored of a question that asks something of memory ("forget what I told you about ..."), nor of a user who was
    erased since it began, or permanently. Raises StoreFailed, KeyFailed.
    """
    if not keeps_turns(engine) or any(asked_of_memory(turn.question)):
        return
    store, tenant = engine.store, actor.tenant
    token = await subject_token(store, tenant, actor.user)
    name = turn_prefix(token) + turn.run_id
    value = await _encode_turn(engine, actor, name, turn)
    gone = _superfluous(await store.marks(tenant, turn_prefix(token)), engine.clock.now(), beside=name)

    async def work(unit: Unit) -> None:
        # Read in the transaction: an erasure that began while the turn ran must not be followed by the user's words.
        # A turn that began at the very moment of the erasure counts as begun before it.
        if not await is_erased(unit.reads, tenant, token, read_at=turn.at - timedelta(microseconds=1)):
            await unit.apply(Mutation(tenant=tenant, marks={**gone, name: value}))

    await commit(store, work)


async def turns_of(
    store: RecordStore, vault: TokenVault | None, actor: Actor, *, run_ids: Collection[str] | None = None
) -> dict[str, TurnTexts]:
    """Return the stored turns of the actor's user, or only those of `run_ids`, by `run_id`. Raises StoreFailed,
    KeyFailed.
    """
    token = await subject_token(store, actor.tenant, actor.user)
    marks = await store.marks(actor.tenant, turn_prefix(token))
    scope = Scope(tenant=actor.tenant, level=Level.USER, owner=actor.user)

    def read() -> list[TurnTexts]:
        wanted = [name for name in marks if run_ids is None or _run_of(name) in run_ids]
        return [_read(name, marks[name], vault, scope) for name in wanted]

    return {turn.run_id: turn for turn in await asyncio.to_thread(read)}


async def forget_turns(store: RecordStore, tenant: str, memory_ids: Collection[str], *, token: str = "") -> int:
    """Delete the turns that showed one of these memories: of the user with this token, or of everybody in the tenant.
    Returns their number. Raises StoreFailed.
    """
    prefix = turn_prefix(token) if token else ALL_TURNS
    wanted = frozenset(memory_ids)
    marks = (await store.marks(tenant, prefix)).items()
    return await _delete(store, tenant, [name for name, value in marks if wanted & set(json.loads(value)["shown"])])


async def expire_turns(store: RecordStore, tenant: str, now: datetime) -> int:
    """Delete the turns of the tenant that are older than `KEPT_FOR`; return their number. Raises StoreFailed."""
    marks = (await store.marks(tenant, ALL_TURNS)).items()
    return await _delete(store, tenant, [name for name, value in marks if _parse_time(value) < now - KEPT_FOR])


async def reseal_turns(store: RecordStore, vault: TokenVault, tenant: str) -> int:
    """Encrypt the stored turns with the current data keys; return the number of those that were not. Raises
    StoreFailed, KeyFailed.
    """
    done = 0
    for name, value in (await store.marks(tenant, ALL_TURNS)).items():
        kept = json.loads(value)
        fresh = (
            None if "sealed" not in kept else await asyncio.to_thread(vault.reseal_value, tenant, name, kept["sealed"])
        )
        if fresh is None:
            continue
        renewed = json.dumps({**kept, "sealed": fresh})

        async def work(unit: Unit, name: str = name, before: str = value, now: str = renewed) -> int:
            # The turn may have been replaced or deleted since it was read.
            if await unit.reads.find_mark(tenant, name) != before:
                return 0
            await unit.apply(Mutation(tenant=tenant, marks={name: now}))
            return 1

        done += await commit(store, work)
    return done


async def sealed_turns(store: RecordStore, tenant: str) -> list[str]:
    """Return the sealed texts of the tenant's turns."""
    kept = [json.loads(value) for value in (await store.marks(tenant, ALL_TURNS)).values()]
    return [one["sealed"] for one in kept if "sealed" in one]


async def _encode_turn(engine: TurnLogEngine, actor: Actor, name: str, turn: TurnTexts) -> str:
    """Return the turn in its stored form: identifiers in the clear, so that it is found and deleted without a key."""
    whole = {one: getattr(turn, one) for one in ("question", "answer", "block")}
    # Cut after redaction: half a card number at the cut would look harmless.
    texts = {one: text and (await engine.redact_text(text, actor=actor))[:LONGEST] for one, text in whole.items()}
    kept: dict[str, Any] = {"at": turn.at.isoformat(), "shown": list(turn.shown), "named": list(turn.named)}
    if engine.vault is None:
        return json.dumps({**kept, "texts": texts})
    scope = Scope(tenant=actor.tenant, level=Level.USER, owner=actor.user)
    sealed = await asyncio.to_thread(engine.vault.seal_token, scope, name, json.dumps(texts))
    return json.dumps({**kept, "sealed": sealed})


def _read(name: str, value: str, vault: TokenVault | None, scope: Scope) -> TurnTexts:
    kept = json.loads(value)
    texts: dict[str, Any] = kept.get("texts", {})
    if "sealed" in kept and vault is not None:
        texts = json.loads(vault.open_value(scope, name, kept["sealed"]))
    turn = TurnTexts(run_id=_run_of(name), at=datetime.fromisoformat(kept["at"]))
    return replace(turn, shown=tuple(kept["shown"]), named=tuple(kept["named"]), **texts)


def _superfluous(marks: Mapping[str, str], now: datetime, *, beside: str) -> dict[str, str | None]:
    """Return the marks to delete when one more is written: the old ones, and those that are too many."""
    # Oldest first, so that the surplus is at the beginning.
    others = sorted((_parse_time(value), name) for name, value in marks.items() if name != beside)
    too_many = max(0, len(others) + 1 - MOST)
    return {name: None for place, (at, name) in enumerate(others) if place < too_many or at < now - KEPT_FOR}


def _run_of(name: str) -> str:
    return name.rpartition("/")[2]


def _parse_time(value: str) -> datetime:
    return datetime.fromisoformat(json.loads(value)["at"])


async def _delete(store: RecordStore, tenant: str, names: Sequence[str]) -> int:
    async def work(unit: Unit) -> None:
        await unit.apply(Mutation(tenant=tenant, marks=dict.fromkeys(names)))

    if names:
        await commit(store, work)
    return len(names)


def as_dict(turn: TurnTexts) -> dict[str, Any]:
    """Return the turn as JSON data."""
    return {**asdict(turn), "at": turn.at.isoformat(), "shown": list(turn.shown), "named": list(turn.named)}
