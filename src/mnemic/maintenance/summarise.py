"""Summaries of texts, by a model or by rules, with every line traceable to its source.

A model's line is accepted only with a quote from the named message; without a model, sentences are selected unchanged.
Lines of a previous summary stay unchanged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from mnemic.errors import ModelFailed
from mnemic.extract.grounding import SHORTEST_QUOTE_WORDS, NormalisedText
from mnemic.extract.message_context import whole_number
from mnemic.inject.token_budget import estimated_tokens
from mnemic.language.sentences.clauses import sentences
from mnemic.language.text.analyse import terms
from mnemic.maintenance.summary_prompts import LONGEST_LINE, MAX_POINTS, profile_prompt, summary_prompt
from mnemic.policy.proposal_check import objects_in
from mnemic.ports import Completer
from mnemic.types import Deadline, Message, Prompt

SUMMARY = "summary"
"""Role of a message that summarises older ones."""
_TOKENS_A_POINT = 30


class Summary(NamedTuple):
    """The lines of a summary, their author (model or rules), and the failure that preceded."""

    lines: list[str]
    by: Literal["model", "extract"]
    degraded: str | None = None


async def shorten_messages(
    messages: Sequence[Message],
    *,
    max_tokens: int,
    completer: Completer | None,
    deadline: Deadline,
    about: str | None = None,
    instructions: str = "",
) -> Summary:
    """Return `messages` in lines of at most `max_tokens`: by the model if there is one and it sticks to the messages,
    else by selecting sentences. With `about` the model is asked for statements about that only; `instructions` tell it
    what to include or leave out of a conversation.
    """
    known = [line for message in messages if message.role == SUMMARY for line in message.content.splitlines()]
    unread = [message for message in messages if message.role != SUMMARY]
    degraded: str | None = None
    if completer is not None and unread:
        try:
            prompt = _summary_prompt(unread, "\n".join(known), max_tokens, about, instructions)
            lines = await _by_model(unread, prompt, completer, deadline)
            if lines:
                return Summary(_newest([*known, *lines], max_tokens), "model")
            degraded = "unsupported"
        except ModelFailed as failure:
            degraded = failure.reason
    return Summary(_chosen(known, unread, max_tokens), "extract", degraded)


# -- by a model --------------------------------------------------------------------------------------------------------


def _summary_prompt(
    messages: Sequence[Message], known: str, max_tokens: int, about: str | None, instructions: str
) -> Prompt:
    most = min(MAX_POINTS, max(1, max_tokens // _TOKENS_A_POINT))
    if about is None:
        return summary_prompt(messages, summary=known, max_points=most, instructions=instructions)
    return profile_prompt(about, messages, known=known, max_points=most)


async def _by_model(messages: Sequence[Message], prompt: Prompt, completer: Completer, deadline: Deadline) -> list[str]:
    """Return the model's points, without those with a quote that is not in the named message. Raises ModelFailed."""
    completion = await completer.complete(prompt, deadline=deadline)
    points = objects_in(completion.text, "points", ("quote",))
    supported = (point for point in points if _is_supported(point, messages))
    return list(dict.fromkeys(" ".join(str(point["text"]).split())[:LONGEST_LINE] for point in supported))


def _is_supported(point: Mapping[str, Any], messages: Sequence[Message]) -> bool:
    text, number, quote = (point.get(name) for name in ("text", "message", "quote"))
    if not isinstance(text, str) or not text.strip() or not isinstance(quote, str):
        return False
    # A quote that one message alone has settles which it is.
    saying = [place for place, one in enumerate(messages) if NormalisedText(one.content).find(quote) is not None]
    number = saying[0] if len(saying) == 1 else whole_number(number)
    if number is None or not 0 <= number < len(messages):
        return False
    content = messages[number].content
    whole = len(quote.split()) >= SHORTEST_QUOTE_WORDS or quote.strip() == content.strip()
    return whole and NormalisedText(content).find(quote) is not None


# -- without a model ---------------------------------------------------------------------------------------------------


class _Sentence(NamedTuple):
    place: int
    line: str
    worth: float


def _chosen(known: Sequence[str], messages: Sequence[Message], max_tokens: int) -> list[str]:
    """Return the most informative sentences, in their order and verbatim; `known` lines are among them."""
    said = [*((line, "", True) for line in known), *_message_lines(messages)]
    words = [frozenset(terms(text)) for text, _, _ in said]
    common = Counter(word for one in words for word in one)
    found = [
        _Sentence(place, f"{role}: {text}" if role else text, _worth(words[place], common, text, own))
        for place, (text, role, own) in enumerate(said)
    ]
    kept: dict[str, int] = {}
    left = max_tokens
    for one in sorted(found, key=lambda sentence: (-sentence.worth, -sentence.place)):
        cost = estimated_tokens(one.line) + 1
        if one.worth > 0 and cost <= left and one.line not in kept:
            kept[one.line] = one.place
            left -= cost
    return sorted(kept, key=lambda line: kept[line])


def _message_lines(messages: Sequence[Message]) -> Iterator[tuple[str, str, bool]]:
    for message in messages:
        for start, end in sentences(message.content):
            text = " ".join(message.content[start:end].split())
            yield (
                (text if len(text) <= LONGEST_LINE else text[:LONGEST_LINE] + "…"),
                message.speaker or message.role,
                message.role == "user",
            )


def _worth(words: frozenset[str], common: Mapping[str, int], text: str, own: bool) -> float:
    """Rate how much of the conversation's vocabulary a sentence shares, by its length; the user's own words count more,
    and so do names and numbers, questions less.
    """
    if len(words) < 2:
        return 0.0
    central = sum(math.log1p(common[word]) for word in words) / math.sqrt(len(words))
    names = sum(1 for word in text.split()[1:] if word[:1].isupper() or any(c.isdigit() for c in word))
    asked = 0.5 if text.rstrip().endswith("?") else 1.0
    return central * (1.5 if own else 1.0) * (1 + 0.1 * min(names, 5)) * asked


def _newest(lines: Sequence[str], max_tokens: int) -> list[str]:
    """Return the last lines that fit: newer ones matter more."""
    kept: list[str] = []
    left = max_tokens
    for line in reversed(lines):
        left -= estimated_tokens(line) + 1
        if left < 0:
            break
        kept.insert(0, line)
    return kept
