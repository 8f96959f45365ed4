"""What a model concludes from several statements of a user, each with the statements that it names: reflections on a
theme, which must name at least two, and sentences of the user's portrait, which must name one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from mnemic.extract.message_context import whole_number
from mnemic.maintenance.summary_prompts import LONGEST_LINE, portrait_prompt, reflection_prompt
from mnemic.maintenance.topics import Topic
from mnemic.policy.proposal_check import objects_in
from mnemic.ports import Completer
from mnemic.types import Deadline, Memory

MAX_REFLECTIONS = 3
MAX_SHOWN = 40
"""Sources that the model is shown: the newest."""
MIN_CITED = 2
MAX_LINES = 8
"""Sentences of a portrait."""
_NUMBER = re.compile(r"\d[\d.,:]*\d|\d")
_WORD = re.compile(r"[^\W\d_]+")


async def reflections(
    topic: Topic, *, completer: Completer, deadline: Deadline
) -> list[tuple[str, tuple[Memory, ...]]]:
    """At most three sentences about the topic, each with the sources it names. Those that name fewer than two, or some
    that are not there, are dropped. Raises ModelFailed.
    """
    shown = topic.sources[-MAX_SHOWN:]
    prompt = reflection_prompt(topic.about, [one.content for one in shown], most=MAX_REFLECTIONS)
    completion = await completer.complete(prompt, deadline=deadline)
    proposed = objects_in(completion.text, "reflections", ("text",))
    found = [(one, _cited_memories(one, shown, MIN_CITED)) for one in proposed[:MAX_REFLECTIONS]]
    return [(_one_line(one["text"]), cited) for one, cited in found if cited]


async def portrait(topic: Topic, *, completer: Completer, deadline: Deadline) -> list[tuple[str, tuple[Memory, ...]]]:
    """At most eight sentences on who the user is, each with the memories it names. One that names none of them, or has
    a name or a number that they do not have, is dropped. Raises ModelFailed.
    """
    shown = topic.sources[-MAX_SHOWN:]
    prompt = portrait_prompt([_told(one) for one in shown], most=MAX_LINES)
    completion = await completer.complete(prompt, deadline=deadline)
    proposed = objects_in(completion.text, "lines", ("text",))
    found = [(one, _cited_memories(one, shown, 1)) for one in proposed[:MAX_LINES]]
    return [(_one_line(one["text"]), cited) for one, cited in found if cited and _is_said(one["text"], cited)]


def _told(memory: Memory) -> str:
    return memory.content if memory.key is None else f"{memory.key.replace('_', ' ')}: {memory.content}"


def _is_said(text: str, cited: Iterable[Memory]) -> bool:
    """Return True if the names and numbers of the text are in what it cites. Its first word may be any."""
    said = " ".join(map(_told, cited)).casefold()
    named = {word.casefold() for word in _WORD.findall(text)[1:] if word[0].isupper() and len(word) > 1}
    return named <= set(_WORD.findall(said)) and set(_NUMBER.findall(text)) <= set(_NUMBER.findall(said))


def _one_line(text: str) -> str:
    return " ".join(text.split())[:LONGEST_LINE]


def _cited_memories(one: Mapping[str, Any], shown: tuple[Memory, ...], least: int) -> tuple[Memory, ...]:
    text, numbers = one.get("text"), one.get("sources")
    if not isinstance(text, str) or not text.strip() or not isinstance(numbers, list):
        return ()
    places = [whole_number(number) for number in numbers]
    if not all(place is not None and 0 <= place < len(shown) for place in places):
        return ()
    cited = tuple(shown[place] for place in sorted({place for place in places if place is not None}))
    return cited if len(cited) >= least else ()
