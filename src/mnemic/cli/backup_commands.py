"""backup, restore and salvage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnemic.bootstrap import build_keyring
from mnemic.cli.lazy_loading import Command
from mnemic.cli.option_values import json_file
from mnemic.cli.shared_options import Given, require_store
from mnemic.cli.terminal import Exit, note, pairs
from mnemic.maintenance.erase import ErasureReceipt
from mnemic.operations import backup_store, move_store, restore_store, salvage_store
from mnemic.runtime.clock import SystemClock

if TYPE_CHECKING:
    from mnemic.operations.backup_folder import Manifest
    from mnemic.operations.sqlite.salvage import SalvageResult


@click.command("backup", cls=Command)
@click.argument("folder", type=click.Path(path_type=Path))
@click.pass_obj
def backup_(given: Given, folder: Path) -> int:
    r"""Copy the memory file, or the database's memories, into the new FOLDER, as of one moment, while it is in use.

    The copy is verified before the command succeeds: by SQLite's own check, the chain of every audit log, and a
    manifest with checksum and counts. Anybody with access to it can read everything that is not sealed: protect it like
    the store.

    \b
      mnemic backup monday
      mnemic restore monday --to restored.db --erasures mnemic.db
      mnemic restore tuesday --to postgresql://db/again --erasures postgresql://db/memories
    """
    settings = given.settings()
    require_store(settings.store)
    manifest = backup_store(settings.store, folder, SystemClock())
    given.show({"folder": str(folder), **manifest.as_dict()}, lambda: f"backed up\n{_as_text(manifest)}")
    return Exit.OK


@click.command("restore", cls=Command)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "target",
    required=True,
    metavar="STORE",
    help="The new memory file or database; it must be empty or not exist yet.",
)
@click.option(
    "--erasures", metavar="STORE", help="Erase the users again that were erased in this store since the backup."
)
@click.option("--receipt", "receipts", multiple=True, metavar="FILE", help="... and the user of this erasure receipt.")
@click.pass_obj
def restore_(given: Given, /, folder: Path, target: str, erasures: str | None, receipts: tuple[str, ...]) -> int:
    """Restore a memory file, or a database's memories, from the backup in FOLDER. Checksum, counts and every audit log
    are verified before they can be opened.

    Name the store or receipts with later erasures, so that users erased after the backup do not come back.
    """
    known = [ErasureReceipt.from_dict(json_file(file)) for file in receipts]
    restored, erased = restore_store(
        folder, target, SystemClock(), erasures=erasures, receipts=known, keyring=build_keyring(given.settings())
    )
    fields: dict[str, Any] = {
        "restored": target,
        "verified": True,
        **restored.manifest.as_dict(),
        "erased_again": [receipt.as_dict() for receipt in erased],
        "set_aside": [str(file) for file in restored.set_aside],
    }
    given.show(fields, lambda: f"restored and verified\n{_as_text(restored.manifest, **{'erased again': len(erased)})}")
    if restored.set_aside and not given.as_json:
        names = ", ".join(file.name for file in restored.set_aside)
        note(f"the log of an earlier file of that name was set aside as {names}")
    if erasures is None and not receipts and not given.as_json:
        note("users erased after this backup are restored: --erasures OLD_FILE or --receipt FILE erases them again")
    return Exit.OK


@click.command("move", cls=Command)
@click.option("--to", "target", required=True, metavar="STORE", help="An empty memory file or database.")
@click.option(
    "--tenant-too",
    "tenants",
    multiple=True,
    metavar="NAME",
    help="Additional tenant to move, if the source cannot list tenants.",
)
@click.pass_obj
def move_(given: Given, /, target: str, tenants: tuple[str, ...]) -> int:
    r"""Move everything into another store: every tenant's memories in every version and state, reviews, consents,
    policies, keys of the service, tombstones, requests, and the audit line by line.

    Origin, trust, identifiers and times are kept, also between a file and a database. The copy is compared with the
    original at the end. Nothing may write meanwhile. Documents and active conversations are not moved; rebuild copies
    such as a graph server with `mnemic maintain --rebuild`. After an interruption, start again with an empty store.

    \b
      mnemic move --to postgresql://db/memories
    """
    settings = given.settings()
    require_store(settings.store)
    named = [settings.tenant, *tenants]
    moved = move_store(settings.store, target, SystemClock(), tenants=named, keyring=build_keyring(settings))
    counted = {"tenants": len(moved.tenants), **moved.counts}
    given.show({"moved": target, **moved.as_dict()}, lambda: f"moved and compared\n{pairs(counted, indent='  ')}")
    return Exit.OK


@click.command("salvage", cls=Command)
@click.argument("target", metavar="NEW", type=click.Path(path_type=Path))
@click.pass_obj
def salvage_(given: Given, target: Path) -> int:
    r"""Recover the readable contents of a damaged memory file into the file NEW.

    The damaged file is not modified. Rows with a correct checksum are taken; the others are listed. If there is a
    backup, restore it too: it may have the missing rows.

    \b
      mnemic doctor
      mnemic salvage saved.db
      mnemic doctor --store saved.db
    """
    settings = given.settings()
    require_store(settings.store)
    salvaged = salvage_store(settings.store, target, keyring=build_keyring(settings))
    given.show({"salvaged": str(target), **salvaged.as_dict()}, lambda: _salvage_text(target, salvaged))
    return Exit.STORE if salvaged.damaged else Exit.OK


def _salvage_text(target: Path, salvaged: SalvageResult) -> str:
    facts = {
        "memories": salvaged.counts.get("memory", 0),
        "versions before": salvaged.counts.get("memory_version", 0),
        "audit lines": salvaged.counts.get("audit", 0),
        "without a vector": salvaged.without_vector or None,
        "audits with a gap": salvaged.broken_audit or None,
        "damaged, left out": ", ".join(salvaged.damaged) or None,
    }
    return f"salvaged into {target}\n{pairs(facts, indent='  ')}"


def _as_text(manifest: Manifest, **more: int) -> str:
    facts = {
        "taken": manifest.taken_at.isoformat(timespec="seconds"),
        "memories": manifest.counts["memory"],
        "versions before": manifest.counts["memory_version"],
        "audit lines": sum(lines for lines, _ in manifest.tenants.values()),
        "bytes": manifest.bytes,
    }
    return pairs(facts | more, indent="  ")
