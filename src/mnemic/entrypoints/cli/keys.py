"""reveal, keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mnemic.entrypoints.cli.failures import Exit
from mnemic.entrypoints.cli.frame import Command
from mnemic.entrypoints.cli.given import Given
from mnemic.entrypoints.cli.terminal import pairs

if TYPE_CHECKING:
    from pathlib import Path

    from mnemic.config import Settings
    from mnemic.engine import MemoryEngine
    from mnemic.maintain.vault import Revealed
    from mnemic.types import Actor


@click.command("reveal", cls=Command)
@click.argument("memory_id", metavar="MEMORY_ID")
@click.option("--role", required=True, help="A role that the policy's [redaction] reveal names.")
@click.pass_obj
def reveal_(given: Given, /, memory_id: str, role: str) -> int:
    r"""Show what the markers of a memory stand for, where policy tokenised it.

    Each call leaves a line in the audit, also when it is denied.

    \b
      mnemic reveal MEMORY_ID --role privacy_officer --user ben
    """

    async def work(engine: MemoryEngine, actor: Actor) -> Revealed:
        return await engine.reveal(memory_id, actor=actor, role=role, whole_tenant=True)

    revealed = given.with_engine(work)
    shown = {
        "memory_id": revealed.memory_id,
        "content": revealed.content,
        "values": dict(revealed.values),
        "unknown": list(revealed.unknown),
    }
    given.show(shown, lambda: _revealed_text(revealed))
    return Exit.OK


def _revealed_text(revealed: Revealed) -> str:
    gone = dict.fromkeys(revealed.unknown, "replaced for good")
    return "\n".join(filter(None, (revealed.content, pairs({**revealed.values, **gone}, indent="  "))))


@click.command("keys", cls=Command)
@click.argument("action", type=click.Choice(["init", "status", "rotate"]))
@click.pass_obj
def keys_(given: Given, /, action: str) -> int:
    r"""Make a master key, look at the keys, or change the master key.

    The master key is the file MNEMIC_KEY_FILE, the data keys lie in MNEMIC_KEY_FOLDER. Back both up apart from the
    store: without them nothing that was sealed can be read again, by anybody.

    \b
      MNEMIC_KEY_FILE=master.key mnemic keys init
      mnemic keys rotate
    """
    settings = given.settings()
    path = _key_file(settings)
    if action == "init":
        from mnemic.keys import MasterKeys

        MasterKeys.make(path)
        given.show({"key_file": str(path)}, lambda: f"made {path}; back it up apart from the store")
        return Exit.OK
    told = _looked_at(settings, path, rotate=action == "rotate")
    given.show(told, lambda: pairs({name.replace("_", " "): value for name, value in told.items()}))
    return Exit.OK


def _key_file(settings: Settings) -> Path:
    from mnemic.errors import InvalidConfig

    if settings.key_file is None:
        raise InvalidConfig("key_file", hint="name the file of the master key in MNEMIC_KEY_FILE")
    return settings.key_file


def _looked_at(settings: Settings, path: Path, *, rotate: bool) -> dict[str, Any]:
    from mnemic.bootstrap import key_folder
    from mnemic.keys import KeyFolder

    folder = key_folder(path, settings)
    keys = KeyFolder(folder, path)
    wrapped = {"wrapped_anew": keys.rotate()} if rotate else {}
    live, destroyed = keys.count()
    return {"key_file": str(path), "key_folder": str(folder), "keys": live, "destroyed": destroyed, **wrapped}
