"""Two ways to say one thing: the passive told as the active ("an onion is sliced by a woman" is "a woman slices an
onion"), and a describing clause told as an adjective ("a crane which is white" is "a white crane").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mnemic.write.synonyms import PARTICIPLES

_NOW, _THEN, _BEING = frozenset({"is", "are"}), frozenset({"was", "were"}), frozenset({"being", "been"})
_FINITE = _NOW | _THEN | {"has", "have", "had", "will"}
_TAIL = frozenset("in on at with from to into through near beside behind under over along across during after".split())
_WHICH, _MOST = frozenset({"which", "who", "that"}), 4
LINKING = _WHICH | _NOW | _THEN
"""The words of which a describing clause has two that its adjective has not."""


class Active(NamedTuple):
    """Places of tokens in the order of the active, without auxiliaries; at `verb` stands the participle, told as
    `base` where it is irregular. `past`: whether it happened in the past.
    """

    order: tuple[int, ...]
    verb: int
    base: str
    past: bool


def actives(low: Sequence[str]) -> Iterator[Active]:
    """The active readings of one passive clause with a named agent: what follows the agent may belong to it or to the
    verb. Nothing for any other sentence. `low` are its tokens in small letters.
    """
    finite = [place for place, token in enumerate(low) if token in _FINITE]
    if len(finite) != 1 or low.count("by") != 1 or low[finite[0]] not in _NOW | _THEN:
        return
    auxiliary, by = finite[0], low.index("by")
    verb = auxiliary + (2 if low[auxiliary + 1 : auxiliary + 2] and low[auxiliary + 1] in _BEING else 1)
    if not 0 < auxiliary < verb < by < len(low) - 1 or not (low[verb].endswith("ed") or low[verb] in PARTICIPLES):
        return
    subject, middle = tuple(range(auxiliary)), tuple(range(verb + 1, by))
    tail = next((place for place in range(by + 2, len(low)) if low[place] in _TAIL), len(low))
    base, past = PARTICIPLES.get(low[verb], low[verb]), low[auxiliary] in _THEN
    for end in dict.fromkeys((len(low), tail)):
        order = (*range(by + 1, end), verb, *subject, *middle, *range(end, len(low)))
        yield Active(order, verb, base, past)


def attributes(low: Sequence[str], before: Sequence[str]) -> tuple[int, ...] | None:
    """The places of the tokens with the one clause "N, which is A and B," told as "A B N"; None for any other sentence.

    `low` are the tokens in small letters, `before` what stands in front of each in the text: it shows where the clause
    ends.
    """
    starts = [place for place in range(1, len(low) - 2) if low[place] in _WHICH and low[place + 1] in _NOW | _THEN]
    if len(starts) != 1:
        return None
    start = starts[0]
    end = next((place for place in range(start + 3, len(low)) if "," in before[place]), len(low))
    said = range(start + 2, end)
    if len(said) > _MOST or any(low[place].endswith("ing") or low[place] in _TAIL | _FINITE | {"by"} for place in said):
        return None
    return (*range(start - 1), *said, start - 1, *range(end, len(low)))
