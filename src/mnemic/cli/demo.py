"""demo: the incident assistant, the travel assistant, and a conversation that is imported and asked about."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from mnemic.cli import demonstrations as parts
from mnemic.cli.demonstrations import TurnFailed
from mnemic.cli.lazy_loading import Command
from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import Exit, complain, say
from mnemic.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("incident", "travel", "conversation")


@click.command("demo", cls=Command)
@click.argument("name", required=False, type=click.Choice(NAMES))
@click.option("--keep", metavar="DIR", help="Keep the memory files in this folder; without it nothing is kept.")
@click.option("--conversation-file", metavar="FILE", help="Import and ask about this conversation instead.")
@click.option("--conversation", metavar="ID", help="Only this conversation of that file.")
@click.option("--ask", "questions", metavar="QUESTION", multiple=True, help="Ask this of it; may be repeated.")
@click.pass_obj
def demo_(
    given: Given,
    name: str | None,
    keep: str | None,
    conversation_file: str | None,
    conversation: str | None,
    questions: tuple[str, ...],
) -> int:
    r"""See it at work, in temporary memory files.

    \b
      incident      preferences stated in one process, an incident update written from them in another
      travel        preferences stated in one thread, used in another
      conversation  forty messages imported and asked about

    Prints a few lines each; with --json the whole reports. Needs no key. With MNEMIC_MODEL set, the first two use that
    model.
    """
    talk = parts.DemonstrationSource(file=conversation_file, conversation=conversation, questions=questions)
    settings = given.settings()
    shown: dict[str, Any] = {}
    proved = True
    with _folder(keep) as folder:
        if not given.as_json:
            say(parts.model_line(settings))
        for one in [name] if name else NAMES:
            if not given.as_json:
                say(f"\n=== {parts.TITLES[one]}")
            try:
                result = parts.run(one, folder, settings, talk)
            except TurnFailed as failed:
                complain(str(failed))
                return failed.exit_code
            shown[one] = result.data
            proved = proved and result.proved
            if not given.as_json:
                say(result.text)
    if given.as_json:
        given.show({"proved": proved, **shown}, str)
    elif keep is not None:
        say(f"The memory files are in {keep}.")
    if not proved:
        complain("demo_not_proved", "what was to be shown did not happen; the report above says why")
    return Exit.OK if proved else Exit.REFUSED


@contextmanager
def _folder(keep: str | None) -> Iterator[Path]:
    """Yield the folder to keep, made if it is missing, or one that is deleted at the end."""
    if keep is None:
        with TemporaryDirectory(prefix="mnemic-demo-") as name:
            yield Path(name)
        return
    folder = Path(keep)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        occupied = any(folder.glob("*.db"))
    except OSError as error:
        raise InvalidInput("keep", hint=error.strerror) from None
    if occupied:
        raise InvalidInput("keep:not_empty", hint="that folder contains memory files already; name another one")
    yield folder
