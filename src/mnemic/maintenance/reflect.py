"""Reflections by a model: conclusions from several statements of a user. Each must name at least two of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mnemic.errors import ModelInvalidSchema
from mnemic.maintenance.summary_prompts import LONGEST_LINE, reflection_prompt
from mnemic.maintenance.topics import Topic
from mnemic.policy.proposal_check import parse_json
from mnemic.ports import Completer
from mnemic.types import Deadline, Memory

MAX_REFLECTIONS = 3
MAX_SHOWN = 40
"""Sources that the model is shown: the newest."""
MIN_CITED = 2


async def reflections(
    topic: Topic, *, completer: Completer, deadline: Deadline
) -> list[tuple[str, tuple[Memory, ...]]]:
    """At most three sentences about the topic, each with the sources it names. Those that name fewer than two, or some
    that are not there, are dropped. Raises ModelFailed.
    """
    shown = topic.sources[-MAX_SHOWN:]
    prompt = reflection_prompt(topic.about, [one.content for one in shown], most=MAX_REFLECTIONS)
    answer = parse_json((await completer.complete(prompt, deadline=deadline)).text)
    proposed = answer.get("reflections") if isinstance(answer, Mapping) else None
    if not isinstance(proposed, list) or not all(isinstance(one, Mapping) for one in proposed):
        raise ModelInvalidSchema(hint="reflections is not a list of objects")
    found = [(one, _cited_memories(one, shown)) for one in proposed[:MAX_REFLECTIONS]]
    return [(" ".join(one["text"].split())[:LONGEST_LINE], cited) for one, cited in found if cited]


def _cited_memories(one: Mapping[str, Any], shown: tuple[Memory, ...]) -> tuple[Memory, ...]:
    text, numbers = one.get("text"), one.get("sources")
    if not isinstance(text, str) or not text.strip() or not isinstance(numbers, list):
        return ()
    if not all(type(number) is int and 0 <= number < len(shown) for number in numbers):
        return ()
    cited = tuple(shown[number] for number in sorted(set(numbers)))
    return cited if len(cited) >= MIN_CITED else ()
