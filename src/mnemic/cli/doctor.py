"""doctor: is everything as it should be?"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import click

from mnemic import bootstrap
from mnemic.bootstrap.models import DEFAULT_MODEL, build_completer, build_model_reader, missing_client, vendor_of
from mnemic.cli.lazy_loading import Command
from mnemic.cli.result_texts import TITLES
from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import Exit, exit_code, paint, say, table
from mnemic.config import Settings
from mnemic.errors import (
    InvalidConfig,
    MnemicError,
    ModelInvalidJson,
    ModelInvalidSchema,
    ModelTimeout,
    ModelUnavailable,
    error_behind,
)
from mnemic.maintenance.health import WAITING_LONG, examine
from mnemic.operations.sqlite.inspection import inspect
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.ports.record_store import DamageScan
from mnemic.reason_codes import MAX_SECONDS
from mnemic.runtime.clock import SystemClock
from mnemic.stores.atomic_files import left_parts
from mnemic.types import Cost, Deadline, Message
from mnemic.unit_of_work import commit

if TYPE_CHECKING:
    from mnemic.config import Settings
    from mnemic.maintenance.health import Health
    from mnemic.operations.sqlite.inspection import Inspection
    from mnemic.ports import RecordStore
    from mnemic.ports.record_store import Damage
    from mnemic.types import VectorSpace

TIME_SETTINGS = "MNEMIC_MODEL_TIMEOUT_SECONDS is the time of a call, MNEMIC_MAX_SECONDS that of a turn"
OTHER_VARIABLES = frozenset(
    f"MNEMIC_{name}"
    for name in (
        "ENV_FILE USER TENANT WORKSPACE AGENT SESSION DEBUG COMPLETE ERROR KEY_FOLDER MCP_TOKEN MCP_TOKEN_FILE".split()
    )
)
"""Variables that are read beside the settings."""
OTHERS_OWN = ("MNEMIC_SERVICE_",)
"""Beginnings of variables that another program checks itself."""
LONGEST = timedelta(seconds=20)
"""Wait for the model's answer to `mnemic doctor`; a model that is loaded from disk at its first call takes some."""


TRIAL_MESSAGE = "We moved to Galway in May, and my sister Ada can't eat peanuts. Could you book a table?"
TRIAL_FACTS = ("Galway", "peanuts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Result of one check. `ok` None: for information only."""

    name: str
    ok: bool | None
    detail: str
    code: Exit = Exit.STORE
    facts: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as JSON data."""
        return {"check": self.name, "ok": self.ok, "detail": self.detail, **self.facts}


@click.command("doctor", cls=Command)
@click.pass_obj
def doctor_(given: Given) -> int:
    """Check the store, the embedder and the configuration. Changes nothing. Exits with 0, or as the first failure."""
    findings = list(_findings(given))
    bad = [finding for finding in findings if finding.ok is False]
    if given.as_json:
        given.show({"ok": not bad, "checks": [finding.as_dict() for finding in findings]}, str)
    else:
        marks = {True: "ok", False: "BAD", None: "-"}
        colours: dict[str, dict[str, Any]] = {"ok": {"fg": "green"}, "BAD": {"fg": "red", "bold": True}}
        rows = [[marks[one.ok], TITLES.get(one.name, one.name), one.detail] for one in findings]
        say(table(rows, style=lambda column, cell: colours.get(cell) if column == 0 else None))
        say()
        failed = paint(f"{len(bad)} of {len(findings)} checks failed", fg="red", bold=True)
        say(failed if bad else paint("all is well", fg="green"))
    return bad[0].code if bad else Exit.OK


def _findings(given: Given) -> Iterator[Finding]:
    try:
        settings = given.settings()
    except InvalidConfig as error:
        yield _bad("settings", error)
        return
    yield from _unknown_variables()
    yield _policy(settings)
    space = found = served = None
    try:
        found = _inspect_store(settings)
        if found is not None:
            yield from _store(settings, found)
            space = found.space
        elif settings.store == "memory:":
            yield Finding(name="store", ok=None, detail="in this process only; nothing is on disk")
        else:
            served = _ask_server(settings)
            space = served.space
            yield from _store_of(served)
    except MnemicError as error:
        yield _bad("store", error)
    embedder = _embedder(settings, space)
    yield embedder
    whole = found is not None and found.schema == found.newest_schema and not found.damage
    if embedder.ok and whole and space is not None:
        yield from _memory_findings(settings, space)
    if served is not None:
        yield from _looked_at(served.health)
    yield model_finding(settings)


def _bad(name: str, error: MnemicError) -> Finding:
    detail = error.reason if not error.hint else f"{error.reason} - {error.hint}"
    return Finding(name=name, ok=False, detail=detail, code=exit_code(type(error)), facts={"reason": error.reason})


def _unknown_variables() -> Iterator[Finding]:
    """Yield a finding for variables that look like settings and are none, each with the one that was likely meant."""
    settings = {f"MNEMIC_{one.name.upper()}" for one in fields(Settings)}
    known = settings | {f"{name}_FILE" for name in settings} | OTHER_VARIABLES
    found = []
    for name in sorted(os.environ):
        if name.startswith("MNEMIC_") and not name.startswith(OTHERS_OWN) and name not in known:
            likely = get_close_matches(name, sorted(known), n=1, cutoff=0.7)
            found.append(f"{name} (perhaps {likely[0]}?)" if likely else name)
    if found:
        yield Finding(
            name="variables",
            ok=None,
            detail=f"not a setting, and without effect: {', '.join(found)}",
            facts={"unknown": found},
        )


def _policy(settings: Settings) -> Finding:
    from mnemic.policy.policy_file import load_policy  # loads pydantic, which most commands do without

    if settings.policy is None:
        return Finding(name="policy", ok=None, detail="none: every key may be remembered")
    try:
        policy = load_policy(settings.policy)
    except MnemicError as error:
        return _bad("policy", error)
    keys = len(policy.keys or ())
    return Finding(name="policy", ok=True, detail=f"{settings.policy}: {keys} keys, on violation {policy.on_violation}")


def _inspect_store(settings: Settings) -> Inspection | None:
    path = bootstrap.store_file(settings.store)
    return None if path is None else inspect(path)


def _store(settings: Settings, found: Inspection) -> Iterator[Finding]:
    size = f"{found.size_bytes / 1e6:.1f} MB"
    yield Finding(
        name="store",
        ok=not found.damage,
        detail=f"{settings.store}: {size}, "
        + ("damaged; `mnemic salvage` gets out what can be got out" if found.damage else "readable and whole"),
        facts={"bytes": found.size_bytes},
    )
    yield _rows(found.damaged_rows)
    yield Finding(
        name="schema",
        ok=True,
        detail=f"version {found.schema} of {found.newest_schema}"
        + ("" if found.schema == found.newest_schema else "; the next write brings it up to date"),
        facts={"version": found.schema},
    )
    safe = "" if found.sqlite_safe else ": inside the range in which a WAL reset can damage a file"
    text = f"{found.sqlite_version}, journal {found.journal_mode}{safe}"
    facts = {"version": found.sqlite_version, "journal_mode": found.journal_mode}
    yield Finding(name="sqlite", ok=found.sqlite_safe, detail=text, facts=facts)
    durable = settings.durability == "durable"
    text = "an acknowledged write survives power loss" if durable else "the last moments may be lost at a power cut"
    yield Finding(
        name="durability",
        ok=None if not durable else True,
        detail=f"{settings.durability}: {text}",
        facts={"durability": settings.durability},
    )
    yield _sealing(settings, found)
    yield _leftovers(settings)
    yield from _contents(found)


def _leftovers(settings: Settings) -> Finding:
    """Return the full copies that a killed backup, restore or export has left next to the file."""
    path = bootstrap.store_file(settings.store)
    names = [] if path is None else [part.name for part in left_parts(path.absolute().parent)]
    text = f"{', '.join(names)}: half made by a process that was killed; the next backup in this folder removes it"
    facts = {"parts": names}
    return Finding(name="leftovers", ok=not names, detail=text if names else "none", facts=facts)


def _rows(damaged: Sequence[Damage]) -> Finding:
    """Rows that differ from the written data, each by its name."""
    rows = [{"table": one.table, "name": one.name} for one in damaged]
    if rows:
        names = ", ".join(dict.fromkeys(one.name for one in damaged[:5]))
        text = f"{len(rows)} damaged: {names}{', ...' if len(rows) > 5 else ''}"
        text += "; they are skipped: `mnemic forget` removes one, a backup or `mnemic salvage` helps; an index: REINDEX"
    else:
        text = "each is what was written"
    return Finding(name="rows", ok=not rows, detail=text, facts={"damaged": rows})


def _sealing(settings: Settings, found: Inspection) -> Finding:
    """Check that everything is encrypted that should be, and can be decrypted."""
    total = sum(count for _, _, count in found.counts)
    facts = {"sealed": found.sealed, "plain": total - found.sealed}
    if found.sealed and settings.key_file is None:
        text = f"{found.sealed} of {total} memories are sealed, and no master key is named (MNEMIC_KEY_FILE)"
        return Finding(name="sealing", ok=False, detail=text, facts=facts)
    if not settings.seal and not found.sealed:
        return Finding(name="sealing", ok=None, detail="nothing is encrypted: any reader sees all of it", facts=facts)
    text = f"{found.sealed} of {total} memories are sealed, with vectors and words; keys, categories and times are not"
    if found.sealed < total:
        text += "; `mnemic keys seal` seals the rest"
    return Finding(name="sealing", ok=found.sealed == total or not settings.seal, detail=text, facts=facts)


def _contents(found: Inspection) -> Iterator[Finding]:
    total = sum(count for _, _, count in found.counts)
    detail = ", ".join(f"{count} {kind} {status}" for kind, status, count in found.counts)
    counts = [{"kind": kind, "status": status, "count": count} for kind, status, count in found.counts]
    text = f"{total}: {detail}" if total else "none yet"
    yield Finding(name="memories", ok=None, detail=text, facts={"total": total, "counts": counts})
    yield Finding(
        name="vectors",
        ok=found.without_vector == 0,
        detail="every active memory has one" if not found.without_vector else f"{found.without_vector} have none",
        facts={"without_vector": found.without_vector},
    )
    broken = found.broken_audit
    yield Finding(
        name="audit",
        ok=broken is None,
        detail=f"{found.audit_lines} lines, "
        + ("the chain is intact" if broken is None else f"broken at line {broken[1]} of tenant {broken[0]}"),
        facts={"lines": found.audit_lines},
    )
    yield _outbox(found)


def _outbox(found: Inspection) -> Finding:
    waiting = sum(found.projections.values())
    if found.projections:
        detail = "; ".join(f"{name} has {count} changes to take" for name, count in found.projections.items())
    else:
        detail = f"there is no copy; {found.pending} changes are kept for one that is added"
    facts = {"pending": waiting, "kept": found.pending, "projections": dict(found.projections)}
    return Finding(name="outbox", ok=None, detail=detail, facts=facts)


def _memory_findings(settings: Settings, space: VectorSpace) -> Iterator[Finding]:
    """Examine all memories of the tenant."""

    async def look() -> Health:
        store = bootstrap.build_store(
            settings.store, durability=settings.durability, keyring=bootstrap.build_keyring(settings)
        )
        try:
            await store.open(space)
            return await _examine_store(store, settings)
        finally:
            await store.close()

    try:
        health = asyncio.run(look())
    except MnemicError as error:
        yield _bad("remembered", error)
        return
    yield from _looked_at(health)


async def _examine_store(store: RecordStore, settings: Settings) -> Health:
    """Return the findings about the memories."""
    return await examine(store, settings.tenant, SystemClock().now())


def _looked_at(health: Health) -> Iterator[Finding]:
    yield _count_finding("duplicates", len(health.duplicates), "say the same as another", pairs=health.duplicates)
    yield _count_finding(
        "contradictions", len(health.contradictions), "contradict another", pairs=health.contradictions
    )
    yield _count_finding("junk", len(health.junk), "say nothing", memories=health.junk)
    yield _count_finding("unused", len(health.unused), "were never used in 90 days", memories=health.unused)
    waited = health.oldest_waiting
    text = f"{health.waiting} wait" + (f", the first for {waited.days} days" if waited else "")
    late = waited is not None and waited >= WAITING_LONG
    facts = {"waiting": health.waiting}
    yield Finding(name="review", ok=False if late else None, detail=text, code=Exit.REFUSED, facts=facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Served:
    """Statements of a store on a server about itself and the tenant, through its port."""

    space: VectorSpace
    durable: bool
    kinds: dict[str, int]
    audit: tuple[int, int | None, str]
    behind: dict[str, int]
    damaged: list[Damage]
    health: Health


def _ask_server(settings: Settings) -> _Served:
    """Ask the store on its server. Opening it looks at schema, vector space and isolation of tenants."""

    async def look() -> _Served:
        store = bootstrap.build_store(
            settings.store, durability=settings.durability, keyring=bootstrap.build_keyring(settings)
        )
        try:
            await store.open(None)
            usages = await store.usage(settings.tenant, since=SystemClock().now())
            space = await commit(store, lambda unit: unit.reads.space())
            return _Served(
                space=space,
                durable=store.capabilities.durable,
                kinds={str(kind): used.rows for kind, used in sorted(usages.items())},
                audit=await store.broken_audit(settings.tenant),
                behind=await store.projections(),
                damaged=await store.find_damage(settings.tenant) if isinstance(store, DamageScan) else [],
                health=await _examine_store(store, settings),
            )
        finally:
            await store.close()

    return asyncio.run(look())


def _store_of(served: _Served) -> Iterator[Finding]:
    yield Finding(name="store", ok=True, detail="on a server; its schema is the newest, and tenants are kept apart")
    text = "an acknowledged write survives power loss" if served.durable else "the last moments may be lost"
    durability = {"durability": "durable" if served.durable else "fast"}
    yield Finding(name="durability", ok=served.durable or None, detail=text, facts=durability)
    yield _rows(served.damaged)
    total = sum(served.kinds.values())
    text = ", ".join(f"{count} {kind}" for kind, count in served.kinds.items())
    facts = {"total": total, "kinds": served.kinds}
    yield Finding(name="memories", ok=None, detail=f"{total}: {text}" if total else "none yet", facts=facts)
    missing = len(served.health.without_vector)
    text = f"{missing} have none" if missing else f"every one of the newest {served.health.looked_at} active has one"
    yield Finding(name="vectors", ok=not missing, detail=text, facts={"without_vector": missing})
    lines, broken, _ = served.audit
    text = f"{lines} lines, " + ("the chain is intact" if broken is None else f"broken at line {broken}")
    yield Finding(name="audit", ok=broken is None, detail=text, facts={"lines": lines})
    text = ", ".join(f"{name} lacks {count}" for name, count in served.behind.items()) or "there is no copy"
    yield Finding(name="outbox", ok=None, detail=text, facts={"behind": served.behind})


def _count_finding(name: str, count: int, what: str, **facts: Any) -> Finding:
    """Return a note, if there is one; no fault of the store."""
    text = f"{count} {what}" if count else "none found"
    return Finding(name=name, ok=None, detail=text, facts={"count": count, **facts})


def _embedder(settings: Settings, expected: VectorSpace | None) -> Finding:
    async def try_embedder() -> VectorSpace:
        embedder = bootstrap.build_embedder(settings, SystemClock())
        try:
            await embedder.embed(["is anybody there?"])
            return embedder.space
        finally:
            await embedder.close()

    try:
        space = asyncio.run(try_embedder())
    except MnemicError as error:
        return _bad("embedder", error)
    text = f"{space.model}, {space.dimension} dimensions"
    facts = {"model": space.model, "dimension": space.dimension}
    if expected is not None and expected != space:
        text += f"; but the file holds vectors of {expected.model}, {expected.dimension} dimensions"
        return Finding(name="embedder", ok=False, detail=text, code=Exit.MODEL, facts=facts)
    return Finding(name="embedder", ok=True, detail=text, facts=facts)


def model_place(settings: Settings) -> str:
    """Return the model's name and the address at which it is asked, without a password in it."""
    place = "its own address" if vendor_of(settings) else "the OpenAI API"
    return f"{settings.model or DEFAULT_MODEL} at {_without_password(settings.models_address) or place}"


def model_asked(settings: Settings, reason: str) -> str | None:
    """Return the address of a model that could not be reached or did not answer, or the settings of the time that was
    too short for it, or of a key that is missing; None for any other reason.
    """
    if reason == InvalidConfig("api_key").reason:
        return "the model asks for a key: set MNEMIC_API_KEY, or its vendor's own variable, such as OPENAI_API_KEY"
    if reason == MAX_SECONDS and settings.has_model:
        return f"{model_place(settings)} took too long: {TIME_SETTINGS}"
    unreached = issubclass(error_behind(reason), ModelUnavailable | ModelTimeout)
    if not (unreached and settings.has_model):
        return None
    asked = f"asked {model_place(settings)}"
    return f"{asked}: {TIME_SETTINGS}" if issubclass(error_behind(reason), ModelTimeout) else asked


def model_finding(settings: Settings) -> Finding:
    """Let the configured model read a short message, and report what it can do."""
    if not settings.has_model:
        text = "none asked for (MNEMIC_MODEL): rules propose, templates answer"
        return Finding(name="model", ok=None, detail=text, facts={"configured": False})
    facts: dict[str, Any] = {"configured": True}
    missing = missing_client(settings)
    if missing:
        return Finding(name="model", ok=False, detail=f"{model_place(settings)}; {missing}", facts=facts)
    try:
        trial = asyncio.run(_try_model(settings))
    except MnemicError as error:
        detail = f"{model_place(settings)}; {error.reason}" + (f" - {error.hint}" if error.hint else "")
        answers = issubclass(error_behind(error.reason), ModelInvalidJson | ModelInvalidSchema)
        detail += "; it answers in another form, so that the rules alone read messages" if answers else ""
        return Finding(name="model", ok=False, detail=detail, code=Exit.MODEL, facts={**facts, "answers": answers})
    facts |= {"answers": True, "quoted": trial.quoted, "seconds": round(trial.seconds, 1), **trial.cost.to_dict()}
    cost = f"{trial.cost.input_tokens} + {trial.cost.output_tokens} tokens, {trial.seconds:.1f} s"
    detail = f"{model_place(settings)}; it quotes {trial.quoted} of {len(TRIAL_FACTS)} facts of a message ({cost})"
    if trial.quoted == len(TRIAL_FACTS):
        return Finding(name="model", ok=True, detail=detail, facts=facts)
    advice = "a larger model reads more" if trial.quotes_only else "MNEMIC_MODEL_FORM=quotes asks for less"
    return Finding(name="model", ok=None, detail=f"{detail}: the rules read the rest; {advice}", facts=facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    """Number of the facts of a test message that a model has quoted, and what that took."""

    quoted: int
    quotes_only: bool
    seconds: float
    cost: Cost


async def _try_model(settings: Settings) -> _Trial:
    """Let the model read a message with two facts. Raises ModelFailed, InvalidConfig or MissingExtra."""
    clock = SystemClock()
    completer = build_completer(settings, clock)
    if completer is None:
        raise InvalidConfig("model")
    reader = build_model_reader(settings, completer)
    longest = max(LONGEST, timedelta(seconds=settings.model_timeout_seconds if settings.sets_model_timeout else 0))
    begun = clock.monotonic()
    try:
        found = await reader.extract(
            Message(role="user", content=TRIAL_MESSAGE),
            policy=Policy(on_model_failure="rules"),
            budget=Budget(),
            deadline=Deadline.after(longest, clock.monotonic),
        )
    finally:
        await completer.close()
    said = " ".join(one.content for one in found.candidates)
    quoted = sum(fact in said for fact in TRIAL_FACTS)
    return _Trial(quoted=quoted, quotes_only=reader.quotes_only, seconds=clock.monotonic() - begun, cost=found.cost)


def _without_password(address: str | None) -> str | None:
    parts = urlsplit(address or "")
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) or None
