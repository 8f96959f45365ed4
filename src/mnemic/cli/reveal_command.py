"""reveal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mnemic.cli.failures import Exit
from mnemic.cli.lazy_loading import Command
from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import pairs

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine
    from mnemic.maintenance.reveal import RevealResult
    from mnemic.types import Actor


@click.command("reveal", cls=Command)
@click.argument("memory_id", metavar="MEMORY_ID")
@click.option("--role", required=True, help="A role that the policy's [redaction] reveal names.")
@click.pass_obj
def reveal_(given: Given, /, memory_id: str, role: str) -> int:
    r"""Show the values that the markers of a memory replace, where the policy tokenised them.

    Each call leaves a line in the audit, also when it is denied.

    \b
      mnemic reveal MEMORY_ID --role privacy_officer --user ben
    """

    async def work(engine: MemoryEngine, actor: Actor) -> RevealResult:
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


def _revealed_text(revealed: RevealResult) -> str:
    gone = dict.fromkeys(revealed.unknown, "replaced permanently")
    return "\n".join(filter(None, (revealed.content, pairs({**revealed.values, **gone}, indent="  "))))
