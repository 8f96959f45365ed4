"""`mnemic keys`: the master key and the data keys under it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from mnemic.bootstrap import key_folder
from mnemic.cli.lazy_loading import TenantCommand
from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import Exit, pairs
from mnemic.errors import InvalidConfig

if TYPE_CHECKING:
    from pathlib import Path

    from mnemic.config import Settings


@click.command("keys", cls=TenantCommand)
@click.argument("action", type=click.Choice(["init", "status", "rotate", "seal"]))
@click.option("--data", is_flag=True, help="rotate: the data keys, with re-encryption.")
@click.option("--subject", metavar="USER", help="rotate --data: of this user only.")
@click.option("--keep-old", is_flag=True, help="rotate --data: destroy none; another store is sealed with them too.")
@click.pass_obj
def keys_(given: Given, /, action: str, data: bool, subject: str | None, keep_old: bool) -> int:
    r"""Create a master key, show the state of the keys, change the master key or the data keys, or seal a plain-text
    store.

    The master key is the file MNEMIC_KEY_FILE, the data keys are in MNEMIC_KEY_FOLDER. Back both up separately from the
    store: without them sealed data can never be read again.

    \b
      MNEMIC_KEY_FILE=master.key mnemic keys init
      mnemic keys rotate
      mnemic keys rotate --data --subject ana
      MNEMIC_SEAL=1 mnemic keys seal
    """
    settings = given.settings()
    path = _key_file(settings)
    if (data and action != "rotate") or ((subject or keep_old) and not data):
        raise click.UsageError("--data goes with rotate, --subject and --keep-old with --data")
    if action == "init":
        from mnemic.keys import MasterKeys  # needs the extra `keys`

        MasterKeys.make(path)
        given.show({"key_file": str(path)}, lambda: f"made {path}; back it up apart from the store")
        return Exit.OK
    if action == "seal":
        sealed = given.with_engine(lambda engine, actor: engine.store.seal(actor.tenant))
        given.show({"sealed": sealed}, lambda: f"sealed {sealed} {'row' if sealed == 1 else 'rows'}")
        return Exit.OK
    if data:
        return _rotate_keys(given, subject, keep_old=keep_old)
    result = _looked_at(settings, path, rotate=action == "rotate")
    given.show(result, lambda: pairs({name.replace("_", " "): value for name, value in result.items()}))
    return Exit.OK


def _rotate_keys(given: Given, subject: str | None, *, keep_old: bool) -> int:
    rotation = given.with_engine(
        lambda engine, actor: engine.rotate_data_keys(actor=actor, subject=subject, keep_old=keep_old)
    )
    fields = asdict(rotation)
    given.show(fields, lambda: pairs(fields) + "\nbackups of the store made before need the key folder of their time")
    return Exit.OK


def _key_file(settings: Settings) -> Path:
    if settings.key_file is None:
        raise InvalidConfig("key_file", hint="name the file of the master key in MNEMIC_KEY_FILE")
    return settings.key_file


def _looked_at(settings: Settings, path: Path, *, rotate: bool) -> dict[str, Any]:
    from mnemic.keys import KeyFolder  # needs the extra `keys`

    folder = key_folder(path, settings)
    keys = KeyFolder(folder, path)
    wrapped = {"wrapped_anew": keys.rotate()} if rotate else {}
    live, destroyed, followed = keys.count()
    fields = {"key_file": str(path), "key_folder": str(folder), "keys": live, "destroyed": destroyed}
    return fields | {"being_rotated": followed} | wrapped
