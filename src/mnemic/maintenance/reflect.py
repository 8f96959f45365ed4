"""Reflections by a model: conclusions from several statements of a user. Each must name at least two of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mnemic.extract.message_context import whole_number
from mnemic.maintenance.summary_prompts import LONGEST_LINE, reflection_prompt
from mnemic.maintenance.topics import Topic
from mnemic.policy.proposal_check import objects_in
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
    completion = await completer.complete(prompt, deadline=deadline)
    proposed = objects_in(completion.text, "reflections", ("text",))
    found = [(one, _cited_memories(one, shown)) for one in proposed[:MAX_REFLECTIONS]]
    return [(" ".join(one["text"].split())[:LONGEST_LINE], cited) for one, cited in found if cited]


def _cited_memories(one: Mapping[str, Any], shown: tuple[Memory, ...]) -> tuple[Memory, ...]:
    text, numbers = one.get("text"), one.get("sources")
    if not isinstance(text, str) or not text.strip() or not isinstance(numbers, list):
        return ()
    places = [whole_number(number) for number in numbers]
    if not all(place is not None and 0 <= place < len(shown) for place in places):
        return ()
    cited = tuple(shown[place] for place in sorted({place for place in places if place is not None}))
    return cited if len(cited) >= MIN_CITED else ()
