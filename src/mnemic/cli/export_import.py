"""export and import."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from mnemic.cli.file_import import KEYLESS, KEYLESS_HINT, Intake, Summary
from mnemic.cli.import_dry_run import rehearse
from mnemic.cli.lazy_loading import Command
from mnemic.cli.result_texts import count_text
from mnemic.cli.service_import import SentImport
from mnemic.cli.shared_options import SERVICES, Given
from mnemic.cli.terminal import (
    Exit,
    Progress,
    at_terminal,
    complain,
    exit_code_of_run,
    harmless,
    json_text,
    note,
    one_line,
    pairs,
    printable,
    say,
    tally,
    unwritable,
)
from mnemic.errors import InvalidInput, MnemicError
from mnemic.importers.conversation_files import AUTO, formats, importers, read_conversation
from mnemic.importers.file_readers.multi_file_exports import open_packed
from mnemic.importers.file_readers.records import open_file
from mnemic.importers.file_readers.speakers import Speakers, speakers_in, with_user
from mnemic.stores.atomic_files import part_of, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mnemic.engine import MemoryEngine
    from mnemic.importers.file_readers.item import Item
    from mnemic.maintenance.subject_export import Form
    from mnemic.types import Actor

SHOWN = 20
WIDTH = 72
_MARKS = {"new": "+", "changed": "~", "waits": "?"}


@click.command("export", cls=Command)
@click.option("--output", "-o", metavar="FILE", help="Write to this file; - is standard output, as without the option.")
@click.option("--force", is_flag=True, help="Replace FILE where it exists.")
@click.option("--all", "archive", is_flag=True, help="With every version, and consents: an archive for import.")
@click.option("--subject", metavar="USER", help="Instead, all data stored about this user, as one JSON document.")
@click.option("--page", is_flag=True, help="With --subject: as one HTML page for people, to be read and printed.")
@click.option("--values", is_flag=True, help="With --subject, if that is you: also the sealed values behind markers.")
@click.pass_obj
def export_(
    given: Given, /, output: str | None, force: bool, archive: bool, subject: str | None, **options: bool
) -> None:
    r"""Write all memories, whatever their status, as JSON lines: one memory a line, newest first.

    \b
      mnemic export --output everything.jsonl
      mnemic export --all --output archive.jsonl
      mnemic export --subject ana --page --output ana.html

    FILE is complete or not there at all, and only you can read it.
    """
    output = None if output == "-" else output
    given.personal = subject is None
    if subject is not None:
        _export_subject(given, subject, output, force, **options)
        return
    if any(options.values()):
        raise click.UsageError("about whom? name a user with --subject", ctx=click.get_current_context())

    async def work(engine: MemoryEngine, actor: Actor) -> int:
        count = 0
        with _destination(output, force) as file:
            async for memory in engine.export(actor=actor, archive=archive):
                line = json_text(memory, indent=None)
                if file is None:
                    say(line)
                else:
                    file.write(f"{line}\n")
                count += 1
        return count

    count = given.with_engine(work)
    if output is not None:
        given.show({"exported": count, "file": output}, lambda: f"exported  {count_text(count)} to {output}")


def _export_subject(given: Given, subject: str, output: str | None, force: bool, *, page: bool, values: bool) -> None:
    shown = printable if page else harmless

    async def work(engine: MemoryEngine, actor: Actor) -> None:
        with _destination(output, force) as file:
            form: Form = "html" if page else "json"
            async for chunk in engine.export_subject(subject, actor=actor, form=form, values=values):
                if file is None:
                    click.echo(shown(chunk), nl=False)
                else:
                    file.write(chunk)

    given.with_engine(work)
    if output is not None:
        given.show({"subject": subject, "file": output}, lambda: f"exported  everything about {subject} to {output}")


@contextmanager
def _destination(output: str | None, force: bool) -> Iterator[IO[str] | None]:
    """Yield a file that takes the place of `output` once everything is written; None for standard output."""
    if output is None:
        yield None
        return
    path = Path(output)
    if path.is_dir():
        raise InvalidInput("file:directory", hint="a folder was given, not a file")
    if path.exists() and not force:
        raise InvalidInput("file:exists", hint="the file already exists; --force replaces it")
    try:
        with part_of(path) as part:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                yield file
                file.flush()
            put(part, path)
    except OSError as error:
        raise unwritable(path, error) from None


@click.command("import", cls=Command)
@click.argument("file", required=False)
@click.option("--undo", metavar="ID", help="Take back an import, with what was learnt from it.")
@click.option(
    "--format",
    "file_format",
    metavar="FORMAT",
    default=AUTO,
    show_default=True,
    shell_complete=lambda _context, _option, begun: [one for one in formats() if one.startswith(begun)],
    help=f"One of {', '.join(formats())}; auto detects it from the content.",
)
@click.option("--conversation", metavar="ID", help="Only this conversation of a file with several.")
@click.option("--me", metavar="NAME", help="The user's name in a chat that does not identify them.")
@click.option("--no-extract", is_flag=True, help="Store the messages only; extract no facts from them.")
@click.option("--strict", is_flag=True, help="Stop at the first line that cannot be used.")
@click.option("--own", is_flag=True, help="An archive of your own: keep its origin, trust and author.")
@click.option("--again", is_flag=True, help="Import items again that were imported before, forgotten ones included.")
@click.option("--dry-run", is_flag=True, help="Show what would be kept and left out, with samples; import nothing.")
@click.pass_obj
def import_(
    given: Given,
    /,
    file: str | None,
    undo: str | None,
    file_format: str,
    conversation: str | None,
    me: str | None,
    no_extract: bool,
    dry_run: bool,
    **options: bool,
) -> int:
    r"""Import a conversation, or an export of mnemic. FILE may be gzipped, a zip or a folder; "-" is standard input.

    \b
      chat         one message a line: {"role": "user", "content": "...", "timestamp"?, "speaker"?, "id"?, "session"?},
                   or OpenAI's {"messages": [...]}
      mnemic       an export; what was not active is left out
      archive      what `mnemic export --all` wrote: every version, every state
      chatgpt      conversations.json of ChatGPT's data export
      claude       conversations.json of Claude's data export
      telegram     result.json of Telegram Desktop
      sharegpt     {"conversations": [{"from": "human", "value": "..."}]}
      mem0         what get_all() answers; "history" beside "results" keeps the earlier values
      gemini       MyActivity.json of Google Takeout
      slack        an export: the zip, its folder, or one file of a channel
      whatsapp     a chat exported as text
      markdown     notes: a file, or a folder of them
      letta        an agent file (.af)
      graphiti     facts as edges, of Graphiti or Zep
      langmem      items of a LangGraph store
      claude_code  a session of Claude Code (~/.claude/projects/.../*.jsonl)
      codex        a session of Codex (~/.codex/sessions/.../rollout-*.jsonl)
      mcp_memory   memory.jsonl of the MCP memory server
      discord      a channel by DiscordChatExporter, as JSON
      open_webui   the export of Open WebUI's chats, or of its memories
      librechat    a conversation exported by LibreChat as JSON
      sillytavern  a chat of SillyTavern (JSONL)
      openmemory   memories.json of OpenMemory
      transcript   a text with "Name: text" lines
      csv          a table with a header: a column content or text, and perhaps role, timestamp, id, session

    \b
    With the measurements of the repository (`bench/eval`):
      locomo       the LoCoMo conversations
      longmemeval  the LongMemEval questions with their sessions
      beam         the BEAM chats
      realtalk     one chat of REALTALK

    A line that cannot be used is reported with its number and stops no other. Importing a file twice changes nothing.
    What was learnt is shown at the end, and `mnemic import --undo ID` takes all of it back.
    """
    if (file is None) is (undo is None):
        raise click.UsageError("name a file, or an import with --undo", ctx=click.get_current_context())
    if file is None:
        return _undo(given, undo or "")
    _require_file(file, file_format)
    read = partial(read_conversation, file, file_format, conversation)
    found, total, extract, watched = Speakers(), None, not no_extract, Progress("read").is_shown
    if file == "-":
        # It can be read only once, so its speakers are known when everything is taken in.
        read = partial(found.count_speakers, read())
    elif me is not None or extract or watched:
        # Read before for its speakers and, on a terminal, its length.
        whole = me is not None or watched
        found = speakers_in(read(), whole=whole)
        me, total = _user_of(found, me, asks=extract, refuses=not dry_run), found.items if whole else None

    def items() -> Iterator[Item]:
        return read() if me is None else with_user(read(), me)

    if dry_run:
        code = _show_rehearsal(given, items(), extract=extract)
    else:
        code = _taken_in(given, items, total, extract=extract, **options)
    if file == "-":
        _remark_on_speakers(found, me, asks=extract)
    return code


def _undo(given: Given, import_id: str) -> int:
    """Take an import back, and show the outcome."""
    done = given.with_engine(lambda engine, actor: engine.undo_import(import_id, actor=actor))

    def text() -> str:
        stays = f"{len(done.changed_since)} changed since" if done.changed_since else None
        return pairs({"forgotten": len(done.forgotten), "as before": len(done.restored) or None, "left": stays})

    given.show(done.to_dict(), text)
    note("importing the file again needs --again")
    return Exit.OK


def _taken_in(given: Given, items: Callable[[], Iterator[Item]], total: int | None, **options: Any) -> int:
    """Import the items (`total` of them, if known), and show the outcome."""
    summary = Summary()
    progress = Progress("read")
    taking = SentImport if given.settings().store.startswith(SERVICES) else Intake

    async def work(engine: MemoryEngine, actor: Actor) -> None:
        intake = taking(engine=engine, actor=actor, summary=summary, **options)
        await intake.take(items(), lambda done: progress.show_progress(done, total))

    try:
        given.with_engine(work, creates=True)
    except MnemicError:
        progress.end()
        if summary != Summary():
            given.show(summary.as_dict(), lambda: summary_text(summary))
            note("the items above are stored; rerun to continue")
        raise
    progress.end()
    given.show(summary.as_dict(), lambda: summary_text(summary))
    _complain_of([one for one in summary.failed if one[1] != summary.stopped], summary.hints)
    if any(one.endswith(KEYLESS) for one in summary.blocked):
        note(KEYLESS_HINT)
    if summary.stopped is not None:
        complain(summary.stopped, "the import stopped; the same command goes on from there")
        return exit_code_of_run(summary.stopped)
    taken = summary.recorded or summary.refreshed or summary.captured or summary.blocked
    return _exit_code(summary.failed, nothing=not taken)


def _user_of(found: Speakers, me: str | None, *, asks: bool, refuses: bool) -> str | None:
    """Return the speaker who is the user; None if the file itself names the user, or if the question is not asked.
    Raises InvalidInput (`speaker`, `speaker:unknown`).
    """
    if refuses and asks and me is None and found.lacks_user:
        if not at_terminal():
            hint = f"which of {found.list_names()} are you? --me NAME says so; --no-extract keeps the messages alone"
            raise InvalidInput("speaker:unknown", hint=hint)
        question = f"Which of {found.list_names()} are you (empty: none of them)"
        me = click.prompt(printable(question), default="", show_default=False, err=True) or None
    elif me is None:
        _remark_on_speakers(found, me, asks=asks)
    if me is not None and not found.has(me):
        raise InvalidInput("speaker", hint=f"the file has no such speaker, but {found.list_names() or 'none at all'}")
    return me


def _remark_on_speakers(found: Speakers, me: str | None, *, asks: bool) -> None:
    """Report that no facts are extracted from messages of an unknown user."""
    if asks and found.people and (found.lacks_user if me is None else not found.has(me)):
        note(f"only what the user says becomes facts: which of {found.list_names()} are you? --me NAME says so")


def _show_rehearsal(given: Given, items: Iterator[Item], *, extract: bool) -> int:
    """Show the items that an import would store, and those that it would leave out."""
    import asyncio

    settings = given.settings()
    if settings.store.startswith(SERVICES):
        note("read by the policy in force here: the service goes by its own")
    done = asyncio.run(rehearse(items, settings, given.actor(settings), extract=extract))
    given.show(done.as_dict(), done.as_text)
    _complain_of(done.failed, done.hints)
    return _exit_code(done.failed, nothing=not done.messages and not done.memories)


def _exit_code(failed: Sequence[tuple[str, str]], *, nothing: bool) -> int:
    """Return the exit code: a file of which nothing was taken in is an error, also if nothing in it is defective."""
    if nothing and not failed:
        complain("invalid_input:file:empty", "nothing in the file could be imported: the line `skipped` says why")
    return Exit.INPUT if failed or nothing else Exit.OK


def _complain_of(failed: Sequence[tuple[str, str]], hints: Mapping[str, str]) -> None:
    """Report unusable items: the first by its place, and the expected form."""
    for place, reason in failed[:SHOWN]:
        hint = hints.get(place) or ""
        complain(reason, hint if hint.startswith(place) else f"{place}: {hint}" if hint else place)
    if len(failed) > SHOWN:
        complain(f"and {len(failed) - SHOWN} more", "--json lists them all")


def _require_file(file: str, file_format: str) -> None:
    """Raise InvalidInput before anything is opened, so that a typing error creates no empty memory file."""
    importers(file_format)
    if file != "-" and open_packed(file) is None:
        with open_file(file):
            pass


def summary_text(summary: Summary) -> str:
    """Return the counts of an import, one a line, and what was learnt."""
    rows = {
        "recorded": summary.recorded,
        "refreshed": f"{summary.refreshed} were there already; --again imports forgotten ones, too"
        if summary.refreshed
        else None,
        "captured": tally(summary.captured),
        "to review": f"{summary.waiting} of the captured: mnemic review list" if summary.waiting else None,
        "blocked": tally(summary.blocked),
        "left out": tally(summary.left_out),
        "skipped": tally(summary.skipped),
        "failed": len(summary.failed) or None,
    }
    lists = {
        "learnt": [_learnt_text(one) for one in summary.learnt],
        "left out": [f"  {one['reason']}: {one_line(one['words'], WIDTH)}" for one in summary.passed_over],
    }
    undo = [f"mnemic import --undo {summary.import_id} takes it back"] if summary.import_id else []
    return "\n\n".join([pairs(rows), *[_list_text(title, lines) for title, lines in lists.items() if lines], *undo])


def _learnt_text(one: Mapping[str, Any]) -> str:
    was = f"  (was: {one_line('; '.join(one['was']), WIDTH)})" if one["was"] else ""
    key = "" if one["key"] is None else f"{one['key']}: "
    return f"  {_MARKS[one['change']]} {key}{one_line(one['content'], WIDTH)}{was}"


def _list_text(title: str, lines: Sequence[str]) -> str:
    more = [f"  ... and {len(lines) - SHOWN} more: --json lists them"] if len(lines) > SHOWN else []
    return "\n".join([title, *lines[:SHOWN], *more])
