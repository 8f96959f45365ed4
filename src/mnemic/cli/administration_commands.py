"""review, consent, erase, audit, maintain."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from mnemic.cli.lazy_loading import Command, TenantCommand
from mnemic.cli.option_values import json_file
from mnemic.cli.result_texts import (
    count_text,
    day,
    erased_text,
    fields_text,
    label,
    memory_dict,
    receipt_dict,
    receipt_text,
    traces_text,
)
from mnemic.cli.shared_options import Given, require_store
from mnemic.cli.terminal import Exit, Progress, ask_confirmation, complain, note, require_new_file, table, write_json
from mnemic.errors import InvalidInput, MnemicError, StoreFailed
from mnemic.maintenance.consolidate import ConsolidationRules
from mnemic.maintenance.erase import ErasureReceipt
from mnemic.maintenance.expiry_job import ExpiryRules
from mnemic.maintenance.personal_keys import names_of_key_owners
from mnemic.maintenance.subject_data import users_of
from mnemic.operations import reembed_store
from mnemic.ports import RecordStore
from mnemic.runtime.clock import SystemClock
from mnemic.types.json_forms import to_json
from mnemic.types.writes import AUDIT_END

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine
    from mnemic.maintenance.consolidate import ConsolidationReport
    from mnemic.maintenance.reports import AuditReport, MaintenanceReport
    from mnemic.maintenance.review import PendingReview
    from mnemic.types import Actor, WriteReceipt


_NEAR = 3


async def require_known(store: RecordStore, tenant: str, user: str) -> None:
    """Raise InvalidInput (`subject:unknown`), whose hint has similar names, unless the user has written, done or been
    given something in the tenant. Reads the whole tenant.
    """
    known = await users_of(store, tenant) | await names_of_key_owners(store, tenant)
    if user in known:
        return
    near = get_close_matches(user, sorted(known), n=_NEAR)
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    raise InvalidInput("subject:unknown", hint=f"nobody of the name {user!r} is known here{meant}")


@click.command("review", cls=Command)
@click.argument("action", type=click.Choice(["list", "approve", "reject"]))
@click.argument("memory_ids", nargs=-1, metavar="[MEMORY_ID]...")
@click.option("--content", help="approve: the corrected text.")
@click.option("--merge-with", multiple=True, metavar="MEMORY_ID", help="approve: replace this too; may be repeated.")
@click.option("--older-than", type=click.IntRange(min=0), metavar="DAYS", help="list, reject: by waiting time.")
@click.option("--shared", is_flag=True, help="list: also unapproved statements of others at shared levels.")
@click.option("--limit", "-n", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Maximum number.")
@click.pass_obj
def review_(given: Given, /, action: str, memory_ids: tuple[str, ...], **options: Any) -> int:
    r"""Look at what waits for a person, in the whole tenant; approve or reject it.

    The proposer of a memory cannot approve it: name yourself with --user.

    \b
      mnemic review list
      mnemic review approve MEMORY_ID --user ben
      mnemic review reject --older-than 90
    """
    if action == "list":
        return _list(given, options)
    if not memory_ids and not (action == "reject" and options["older_than"] is not None):
        raise click.UsageError("which memories? name at least one", ctx=click.get_current_context())
    if (options["content"] is not None or options["merge_with"]) and len(memory_ids) > 1:
        raise click.UsageError("--content and --merge-with are for one memory", ctx=click.get_current_context())
    receipts, failed = given.with_engine(lambda engine, actor: _decide(engine, actor, action, memory_ids, options))
    shown = {"receipts": [receipt_dict(one) for one in receipts], "failed": failed}
    given.show(shown, lambda: "\n".join(receipt_text(one, action) for one in receipts) or "nothing was decided")
    for one in failed:
        complain(one["reason"], one["memory_id"])
    return Exit.REFUSED if failed else Exit.OK


def _list(given: Given, options: dict[str, Any]) -> int:
    waiting = given.with_engine(
        lambda engine, actor: engine.reviews(
            actor=actor,
            whole_tenant=True,
            limit=options["limit"],
            older_than=_days(options["older_than"]),
            shared=options["shared"],
        )
    )
    given.show({"waiting": [_waiting_dict(one) for one in waiting]}, lambda: _waiting_text(waiting))
    return Exit.OK


def _days(number: int | None) -> Any:
    return None if number is None else timedelta(days=number)


async def _decide(
    engine: MemoryEngine, actor: Actor, action: str, memory_ids: tuple[str, ...], options: dict[str, Any]
) -> tuple[list[WriteReceipt], list[dict[str, str]]]:
    if action == "reject" and options["older_than"] is not None and not memory_ids:
        aged = await engine.reject_older(_days(options["older_than"]), actor=actor, whole_tenant=True)
        return list(aged), []
    if options["content"] is not None or options["merge_with"]:
        return await _correct_memory(engine, actor, memory_ids[0], options)
    decided = await engine.decide(
        memory_ids, "reject" if action == "reject" else "approve", actor=actor, whole_tenant=True
    )
    receipts = [one.receipt for one in decided if one.receipt is not None]
    return receipts, [_failure(one.memory_id, one.reason) for one in decided if one.receipt is None]


async def _correct_memory(
    engine: MemoryEngine, actor: Actor, memory_id: str, options: dict[str, Any]
) -> tuple[list[WriteReceipt], list[dict[str, str]]]:
    content, merged = options["content"], options["merge_with"]
    try:
        receipt = await engine.approve(memory_id, actor=actor, content=content, merge_with=merged, whole_tenant=True)
    except StoreFailed:
        raise
    except MnemicError as error:
        return [], [_failure(memory_id, error.reason)]
    return [receipt], []


def _failure(memory_id: str, reason: str | None) -> dict[str, str]:
    return {"memory_id": memory_id, "reason": reason or ""}


def _waiting_dict(one: PendingReview) -> dict[str, Any]:
    return {
        "memory": memory_dict(one.memory),
        "against": [memory_dict(memory) for memory in one.against],
        "age_days": round(one.age.total_seconds() / 86400, 2),
        "proposer": one.proposer,
    }


def _waiting_text(waiting: Sequence[PendingReview]) -> str:
    lines = []
    for one in waiting:
        who = f"by {one.proposer or 'unknown'}"
        lines.append(f"{one.memory.memory_id}  {day(one.memory.created_at)}  {who}  {label(one.memory, 100)}")
        lines += [f"    against {memory.memory_id}  {label(memory, 100)}" for memory in one.against]
    return "\n".join(lines) or "nothing waits for review"


@click.command("consent", cls=Command)
@click.argument("action", type=click.Choice(["list", "grant", "revoke"]))
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@click.option("--erase", "erase_held", is_flag=True, help="revoke: also erase the memories under the key.")
@click.pass_obj
def consent_(given: Given, action: str, keys: tuple[str, ...], erase_held: bool) -> int:
    """Decide which keys may be remembered about you. What you revoke is hidden at once, and erased with --erase."""
    if action != "list" and not keys:
        raise click.UsageError("which keys? name at least one", ctx=click.get_current_context())

    async def work(engine: MemoryEngine, actor: Actor) -> list[dict[str, Any]]:
        decided = []
        for key in keys if action != "list" else ():
            if action == "grant":
                await engine.grant_consent(key, actor=actor)
                decided.append({"key": key, "granted": True})
                continue
            revoked = await engine.revoke_consent(key, actor=actor, erase_held=erase_held)
            erased = revoked.erased.as_dict() if revoked.erased else None
            decided.append({"key": revoked.key, "granted": False, "hidden": revoked.hidden, "erased": erased})
        if action == "list":
            decided = [
                {"key": key, "granted": granted} for key, granted in (await engine.consents(actor=actor)).items()
            ]
        return decided

    decided = given.with_engine(work, creates=True)
    rows = [[one["key"], _consent_text(one)] for one in decided]
    given.show({"consents": decided}, lambda: table(rows) if rows else "nothing decided yet")
    if any(one.get("hidden") for one in decided) and not given.as_json:
        note("its memories are hidden; `mnemic consent revoke KEY --erase` erases it")
    return Exit.OK


def _consent_text(fields: Mapping[str, Any]) -> str:
    if fields["granted"]:
        return "granted"
    erased = fields.get("erased")
    return "revoked" if erased is None else f"revoked, {count_text(len(erased['memory_ids']))} erased"


@click.command("erase", cls=TenantCommand)
@click.argument("subject", required=False)
@click.option("--block", is_flag=True, help="Never store anything about them again.")
@click.option("--receipt", "receipt_file", metavar="FILE", help="Write the receipt, which has no content, to FILE.")
@click.option("--verify", "verify_file", metavar="FILE", help="Scan the store for the erased data of this receipt.")
@click.option("--force", is_flag=True, help="Continue even if the user is unknown.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.pass_obj
def erase_(given: Given, /, subject: str | None, **options: Any) -> int:
    r"""Erase everything about the user SUBJECT of the tenant, with a receipt that can be verified later.

    \b
      mnemic erase ana --receipt ana.json
      mnemic erase --verify ana.json

    FILE must not exist: receipts are never overwritten.
    """
    if options["verify_file"] is not None:
        return _verify(given, options["verify_file"])
    if subject is None:
        raise click.UsageError("whom? name a user", ctx=click.get_current_context())
    if options["receipt_file"] is not None:
        require_new_file(options["receipt_file"])
    if not options["force"]:
        given.with_engine(lambda engine, actor: require_known(engine.store, actor.tenant, subject))
    if not options["yes"] and not ask_confirmation(f"Erase everything about {subject} permanently?"):
        complain("not_confirmed", "nothing was erased")
        return Exit.REFUSED

    receipt = given.with_engine(lambda engine, actor: engine.erase(subject, actor=actor, block=options["block"]))
    if options["receipt_file"] is not None:
        write_json(options["receipt_file"], receipt.as_dict())
    given.show(receipt.as_dict(), lambda: erased_text(receipt))
    if not receipt.complete:
        complain("erasure_incomplete", "something can still be read in the files; free some disk space and erase again")
    return Exit.OK if receipt.complete else Exit.STORE


def _verify(given: Given, file: str) -> int:
    said = json_file(file)
    job = isinstance(said.get("erased"), dict)  # a service answers with the job, of which the receipt is a part
    receipt = ErasureReceipt.from_dict(said["erased"] if job else said)

    traces = given.with_engine(lambda engine, _: engine.verify_erasure(receipt))
    holds = not any(traces.values())
    given.show(
        {"holds": holds, "traces": traces},
        lambda: "no traces found" if holds else traces_text(traces),
    )
    return Exit.OK if holds else Exit.REFUSED


@click.command("audit", cls=TenantCommand)
@click.argument("action", type=click.Choice(["list", "verify"]))
@click.option("--after", type=click.IntRange(min=0), help="list: the lines after this one; without it the newest.")
@click.option("--limit", "-n", type=click.IntRange(1, 100_000), default=100, show_default=True, help="Maximum number.")
@click.pass_obj
def audit_(given: Given, action: str, after: int | None, limit: int) -> int:
    """Show the tenant's audit log, which has no content, or verify every line."""
    if action == "list":
        wanted = {"before": AUDIT_END} if after is None else {"after": after}
        events = given.with_engine(lambda engine, actor: engine.audit(actor=actor, limit=limit, **wanted))
        rows = [[str(one.sequence), day(one.at), one.action, one.actor, one.memory_id or ""] for one in events]
        shown = [
            {
                "sequence": one.sequence,
                "at": one.at.isoformat(),
                "action": one.action,
                "actor": one.actor,
                "memory_id": one.memory_id,
                "version": one.version,
                "hash": one.hash,
            }
            for one in events
        ]
        given.show({"events": shown}, lambda: table(rows) if rows else "no line yet")
        return Exit.OK
    report = given.with_engine(lambda engine, actor: engine.verify_audit(actor=actor))
    whole = report.broken_at is None
    fields = {"holds": whole, **to_json(report)}
    chain = "the chain is intact" if whole else f"broken at {report.broken_at}"
    given.show(fields, lambda: f"{report.lines} lines, {chain}, {_signature_text(report)}")
    return Exit.OK if whole and report.unsigned_at is None else Exit.REFUSED


def _signature_text(report: AuditReport) -> str:
    missing = (
        "" if report.unsigned_at is None else f", but line {report.unsigned_at} is not, although earlier lines are"
    )
    if not report.signed:
        return f"no line is signed{missing}"
    checked = "" if report.signatures_checked else "; not checked, for that takes the key file"
    return f"{report.signed} lines are signed, the last is {report.signed_to}{missing}{checked}"


@click.command("maintain", cls=TenantCommand)
@click.option("--dry-run", is_flag=True, help="Show what would be done; change nothing.")
@click.option("--grace-days", type=click.FloatRange(min=0), default=30, show_default=True, help="From expiry to purge.")
@click.option("--vacuum", is_flag=True, help="Rewrite the file; needs as much free disk space again.")
@click.option("--rebuild", metavar="COPY", help="Only rebuild this copy: graph, search_index, hot_set.")
@click.option("--unregister", metavar="COPY", help="Only drop this copy's entries in the outbox: it will not return.")
@click.option(
    "--consolidate", type=click.Choice(["rules", "model"]), help="Consolidate memories; model: by a language model."
)
@click.option("--most", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Texts of --consolidate.")
@click.option("--reembed", is_flag=True, help="First re-embed all tenants' memories with the configured embedder.")
@click.pass_obj
def maintain_(given: Given, /, rebuild: str | None, unregister: str | None, reembed: bool, **options: Any) -> None:
    r"""Expire, purge, update copies, compact the file. Run it once a day.

    The first run only records the time: a memory expires once two runs have seen its expiry in the past. --rebuild
    fills a copy of the tenant's memories from the store, and creates a missing index. --unregister forgets a copy that
    is no longer in the settings, for all tenants; until then entries for it wait and no erasure is complete.

    --consolidate also writes a summary of each finished conversation, a profile of each entity that users mention, and
    a reflection for each recurring theme. It writes at most --most texts; the next run continues. Each text names its
    sources and is deleted with them. With `model` each takes a call of the language model.

    With --reembed every memory first gets a second vector, batch by batch, while the store is in use; then the new
    vectors replace the old ones in one step. After an interruption it continues where it stopped. Running programs with
    the old embedder then find by words only, report that, and cannot write until they are restarted with the new one.

    \b
      export MNEMIC_EMBEDDER=http MNEMIC_EMBEDDER_URL=... MNEMIC_EMBEDDER_MODEL=... MNEMIC_EMBEDDER_DIMENSION=768
      mnemic maintain --reembed
    """
    if rebuild is not None:
        built = given.with_engine(lambda engine, actor: engine.rebuild(rebuild, actor=actor))
        given.show({"rebuilt": rebuild, "memories": built}, lambda: f"{rebuild}: {count_text(built)}")
        return
    if unregister is not None:
        waited = given.with_engine(lambda engine, actor: engine.unregister(unregister, actor=actor))
        given.show({"unregistered": unregister, "entries": waited}, lambda: f"{unregister}: {waited} entries dropped")
        return
    if reembed and options["dry_run"]:
        raise click.UsageError("--reembed has no --dry-run", ctx=click.get_current_context())
    reembedded = _reembed_store(given) if reembed else None

    report, consolidated = given.with_engine(lambda engine, actor: _run_maintenance(engine, actor, options))
    report_data = _maintenance_dict(report)
    if reembedded is not None:
        report_data["reembedded"] = reembedded
    if consolidated is not None:
        report_data["consolidated"] = consolidated.as_dict()
    given.show(report_data, lambda: fields_text(report_data))


async def _run_maintenance(
    engine: MemoryEngine, actor: Actor, options: dict[str, Any]
) -> tuple[MaintenanceReport, ConsolidationReport | None]:
    dry_run = options["dry_run"]
    rules = ExpiryRules(grace=timedelta(days=options["grace_days"]), hard_kinds=engine.rules.limits.hard_kinds)
    report = await engine.maintain(actor=actor, rules=rules, whole=options["vacuum"], dry_run=dry_run)
    if options["consolidate"] is None:
        return report, None
    drawn = ConsolidationRules(by=options["consolidate"], most=options["most"])
    return report, await engine.consolidate(actor=actor, rules=drawn, dry_run=dry_run)


def _maintenance_dict(report: MaintenanceReport) -> dict[str, Any]:
    expiry = report.expiry
    return {
        "dry_run": report.dry_run,
        "expired": expiry.expired,
        "purged": expiry.purged,
        "restored": expiry.restored,
        "clock_confirmed_at": expiry.confirmed_at.isoformat() if expiry.confirmed_at else None,
        "clock_went_back": expiry.clock_went_back,
        "reviews_aged": report.aged,
        "outbox": report.outbox.total,
        "behind": dict(report.outbox.behind),
        "captured": report.captured,
        "embedded": report.embedded,
        "unembedded": report.unembedded,
        "freed_bytes": report.freed_bytes,
    }


def _reembed_store(given: Given) -> int:
    """Embed the store's memories again and return the number of vectors it took."""
    settings = given.settings()
    require_store(settings.store)
    progress = Progress("embedded")
    try:
        return asyncio.run(reembed_store(settings, SystemClock(), on_progress=progress.show_progress)).filled
    finally:
        progress.end()
