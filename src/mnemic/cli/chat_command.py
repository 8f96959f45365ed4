"""chat: a conversation with a language model that has a memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from mnemic.cli.doctor import model_asked
from mnemic.cli.lazy_loading import Command
from mnemic.cli.result_texts import capture_text, cost_text, label, report_dict, written_words
from mnemic.cli.shared_options import Given, OpenMemory
from mnemic.cli.terminal import Exit, at_terminal, complain, exit_code_of_run, json_text, note, printable, say
from mnemic.cli.write_commands import carried_out, outcome
from mnemic.engine.message_forms import captured_after
from mnemic.engine.turn import keep_injection
from mnemic.errors import ModelEmpty, ModelFailed, ModelInvalidJson, StoreFailed
from mnemic.extract.conversation_context import TURNS_BEFORE
from mnemic.inject import InjectionConfig, injector_for
from mnemic.language.sentences.requests_about_memory import split_requests
from mnemic.policy.answer_json import without_thought
from mnemic.policy.proposal_check import parse_json
from mnemic.ports.providers import counting
from mnemic.prompts import chat_prompt
from mnemic.reason_codes import LLM_TRUNCATED
from mnemic.types import Deadline, Message, WriteReceipt

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine
    from mnemic.types import Actor, ContextBlock, Cost
    from mnemic.types.trace import RunReport

REMEMBERED_TURNS = 10
"""Number of turns of the conversation that the model sees again at least; older ones it has from memory alone."""
LOOKED_UP_WITHIN = 20
"""Seconds for the search before an answer. The first one of a process loads the embedder, and a person waits for it."""
ANSWERED_WITHIN = 60.0
"""Seconds for an answer, or the budget of a turn if that is longer."""
_HELD_BACK = ("<", "{", "[", "`")
"""Beginnings of answers that are read as a whole."""
LEAVE = ("/quit", "/exit")
LEAVING = "/quit or Ctrl-D leaves"
_COMMAND = re.compile(r"/[A-Za-z?-]*(?=\s|$)")
"""Opens a line that is no message but a command of this program; `/home/ana` does not."""


@dataclass(slots=True)
class Turn:
    """One message, the memories shown with it, the model's answer (None without a model), the facts remembered from it,
    and the receipts of the messages themselves, which are stored verbatim.
    """

    message: str
    block: ContextBlock
    answer: str | None
    report: RunReport
    recorded: Sequence[WriteReceipt] = ()
    failed: str | None = None
    truncated: bool = False
    words: Mapping[str, str] = field(default_factory=dict, repr=False)
    cost: Cost | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the turn as JSON data."""
        shown = [{"memory_id": hit.memory.memory_id, "content": hit.memory.content} for hit in self.block.hits]
        fields: dict[str, Any] = {
            "answer": self.answer,
            "shown": shown,
            "block": self.block.text,
            "report": report_dict(self.report),
        }
        fields["cost"] = None if self.cost is None else self.cost.to_dict()
        fields["recorded"] = [one.memory_id for one in self.recorded if one.stored]
        fields |= {"warning": LLM_TRUNCATED} if self.truncated else {}
        return fields | ({} if self.failed is None else {"error": self.failed})


class _Spoken:
    """Passes on an answer as it comes, once it is clear that it is neither a thought nor data."""

    def __init__(self, told: Callable[[str], None]) -> None:
        self._told, self._held, self._open = told, "", False

    def __call__(self, piece: str) -> None:
        """Take the next piece."""
        if self._open:
            self._told(piece)
            return
        self._held += piece
        begun = without_thought(self._held)
        if begun and not begun.startswith(_HELD_BACK):
            self._open = True
            self._told(begun)

    def end(self, answer: str | None) -> None:
        """End the line, with the whole of an answer that was held back."""
        if not self._open and answer is not None:
            self._told(answer)
        if self._open or answer is not None:
            self._told("\n")


@dataclass(slots=True)
class Conversation:
    """The turns so far, as the model is to see them."""

    said: list[dict[str, str]] = field(default_factory=list)

    async def turn(
        self, engine: MemoryEngine, actor: Actor, message: str, told: Callable[[str], None] | None = None
    ) -> Turn:
        """Show the model what memory has for `message`, let it answer, then remember from the message. `told` gets the
        answer as it comes: nobody waits for what is remembered.
        """
        begun = engine.clock.now()
        config = InjectionConfig(timeout=timedelta(seconds=LOOKED_UP_WITHIN))
        injector = injector_for(engine, actor, config, by="chat")
        injection = await injector.inject([{"role": "user", "content": message}])
        block = injection.block()
        said = Message(role="user", content=message, session=actor.session)
        unrecorded, recorded = [said], list[WriteReceipt]()
        # What was said is durable before the model is asked, unless it is a request that has words in it which are to
        # be forgotten. A store that fails now is asked again after the answer.
        if not split_requests(message)[0]:
            with suppress(StoreFailed):
                recorded += await engine.record(unrecorded, actor=actor)
                unrecorded = []
        answer, failed, truncated = None, None, False
        spoken = None if told is None else _Spoken(told)
        with counting() as meter:
            try:
                answer, truncated = await self._answer(engine, block, message, spoken)
            except ModelFailed as failure:
                failed = failure.reason
        if spoken is not None:
            spoken.end(answer)
        if injection.injected:
            await keep_injection(engine, actor, injection.run, message, answer, begun)
        turns = ((one["role"], one["content"]) for one in self.said[-TURNS_BEFORE:])
        before = [Message(role=role, content=text, session=actor.session) for role, text in turns]
        report = await captured_after(engine, said, before, actor=actor)
        self.said.append({"role": "user", "content": message})
        if answer is not None:
            self.said.append({"role": "assistant", "content": answer})
            unrecorded.append(Message(role="assistant", content=answer, session=actor.session))
        # The words of the request, and those of the answer, contain the facts to be forgotten.
        if unrecorded and not report.asked:
            recorded += await engine.record(unrecorded, actor=actor)
        words = await written_words(report, engine, actor)
        return Turn(message, block, answer, report, recorded, failed, truncated, words, report.cost + meter.cost)

    async def _answer(
        self, engine: MemoryEngine, block: ContextBlock, message: str, spoken: _Spoken | None
    ) -> tuple[str | None, bool]:
        """Return the model's answer, also one in plain words, and whether it was cut off; None without a model. Raises
        ModelFailed.
        """
        if engine.completer is None:
            return None, False
        clock, seconds = engine.clock, max(ANSWERED_WITHIN, engine.rules.budget.max_seconds)
        deadline = Deadline.after(timedelta(seconds=seconds), clock.monotonic)
        prompt = chat_prompt(
            self.said[_begin_of(len(self.said)) :],
            block.text,
            message,
            today=clock.now().astimezone().date(),
            tell=spoken,
        )
        completion = await engine.completer.complete(prompt, deadline=deadline)
        prose = without_thought(completion.text)
        if not prose:
            raise ModelEmpty
        try:
            data = parse_json(completion.text)
        except ModelInvalidJson:
            return prose, completion.truncated
        # Some servers wrap every answer in an object; any other JSON is what was asked for.
        wrapped = data.get("answer") if isinstance(data, dict) and len(data) == 1 else None
        return wrapped if isinstance(wrapped, str) else prose, completion.truncated


def _begin_of(said: int) -> int:
    """Return where the turns begin that the model sees again. It moves half of them at a time: a cache holds a prompt
    only from its beginning.
    """
    return max(0, said - 2 * REMEMBERED_TURNS) // REMEMBERED_TURNS * REMEMBERED_TURNS


@click.command("chat", cls=Command)
@click.option("--quiet", is_flag=True, help="Print the answers only.")
@click.pass_obj
def chat_(given: Given, quiet: bool) -> Exit:
    r"""Talk to a language model that remembers you. An empty line changes nothing; /quit or Ctrl-D leaves. Any other
    line that begins with a slash and a word, such as /help, is refused and not recorded.

    \b
      MNEMIC_MODEL=gpt-4.1-mini mnemic chat
      echo "What do I eat?" | mnemic chat --json

    Below each answer you see the memories that the model was shown, and those made from your message; the
    messages themselves are recorded, questions too. Without a model (MNEMIC_MODEL, MNEMIC_MODEL_URL) you see
    the memories that one would be shown. With --json: one object for each message. If the model failed, lines from
    standard input end with exit code 5.
    """
    failed = False
    with given.open_engine() as opened:
        if opened.engine.completer is None:
            rest = "nothing answers you" if quiet else "you see what one would be shown"
            note(f"no language model is configured (MNEMIC_MODEL or MNEMIC_MODEL_URL): {rest}")
        if at_terminal():
            note(LEAVING)
        conversation = Conversation()
        told = None if given.as_json else _tell
        for message in _messages():
            turn = opened.runner.run(conversation.turn(opened.engine, opened.actor, message, told))
            _show(given, opened, turn, quiet=quiet)
            failed = failed or turn.failed is not None or exit_code_of_run(turn.report.stop_reason) is Exit.MODEL
    return Exit.MODEL if failed and not at_terminal() else Exit.OK


def _tell(piece: str) -> None:
    click.echo(printable(piece), nl=False)


def _facts(turn: Turn) -> list[str]:
    """Return a line for each fact that the message was read for; the message itself is recorded in any case."""
    if not (turn.report.receipts or turn.report.blocked or turn.report.skipped or turn.report.asked):
        return ["no fact" if turn.report.status == "ok" else f"no fact ({turn.report.stop_reason})"]
    return capture_text(turn.report, said=turn.message, contents=turn.words).splitlines()


def _recording_text(turn: Turn) -> str:
    """Describe which messages were recorded."""
    if turn.report.asked:
        return "nothing (a request about memory)"
    refused = next((one.reason for one in turn.recorded if not one.stored), None)
    if refused is not None or not turn.recorded:
        return f"nothing ({refused or 'no text'})"
    return "your message, word for word" if turn.answer is None else "your message and the answer, word for word"


def _messages() -> Iterator[str]:
    """Yield the typed lines, or those of standard input, until its end."""
    asking = at_terminal()
    while True:
        try:
            line = input("you> " if asking else "")
        except (EOFError, KeyboardInterrupt):
            if asking:
                note("")
            return
        message = line.strip()
        command = _COMMAND.match(message)
        if message in LEAVE:
            return
        if command is not None:
            note(f"{command[0]} is no command here, and was not recorded: {LEAVING}; other lines are messages")
        elif message:
            yield message


def _show(given: Given, opened: OpenMemory, turn: Turn, *, quiet: bool) -> None:
    if given.as_json:
        click.echo(json_text(turn.as_dict(), indent=None))
        return
    if turn.failed is not None:
        place = model_asked(given.settings(), turn.failed)
        complain(turn.failed, f"{f'{place}: ' if place else ''}no answer; your message was recorded all the same")
    if turn.truncated:
        complain(LLM_TRUNCATED, "the answer was cut off at the limit of its tokens")
    if not quiet:
        for hit in turn.block.hits:
            say(f"  shown       {label(hit.memory, 100)}")
        if not turn.block.hits:
            say(f"  shown       nothing ({turn.block.reason or 'nothing that helps'})")
        for line in _facts(turn):
            say(f"  remembered  {line}")
        say(f"  recorded    {_recording_text(turn)}")
        if turn.cost is not None and turn.cost.calls:
            say(f"  cost        {cost_text(turn.cost, given.settings().model_prices)}")
    for request in turn.report.asked:
        done = carried_out(opened.call, request)
        say(outcome(request, done))
