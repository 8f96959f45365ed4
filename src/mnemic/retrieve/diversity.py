"""Each statement once among the hits: a message that says what other hits say has no place of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from mnemic.language.statement import read
from mnemic.language.text.normalise import plain
from mnemic.types import Kind, Memory

Entry = tuple[str, float, str]
"""A memory with its score and the reason why it is there."""
COVERS = 0.7
"""Share of a message's words, from which the statements that were read from them stand for the message."""

_WORD = re.compile(r"\w+")


def repetitions(known: Sequence[Memory]) -> Mapping[str, str]:
    """Return the recorded messages among the `known` memories (best first) that add nothing to another of them, by the
    memory_ids of both: a memory of the same words, the best of the statements that were read from most of its words, or
    the same words of the same conversation and day.
    """
    if not any(memory.kind is Kind.EPISODIC for memory in known):
        return {}
    made: dict[str | None, list[tuple[str, Memory]]] = {}
    for memory in known:
        if memory.kind is Kind.LONG_TERM and (words := _words_of(memory.source.quote or memory.content)):
            made.setdefault(memory.source.session, []).append((words, memory))
    found: dict[str, str] = {}
    first: dict[tuple[object, ...], str] = {}
    for message in known:
        # An episode has its steps in `data`: two runs of one task are two, although they are named by the same words.
        if message.kind is not Kind.EPISODIC or "steps" in message.data:
            continue
        said, session = _speaker_and_words(message), message.source.session
        # A memory recorded or added without a conversation may be of any.
        sessions = made.keys() if session is None else (session, None)
        same = _read_from(message, [told for one in sessions for told in made.get(one, ())])
        here = first.setdefault((said, session, message.happened_at.date()), message.memory_id)
        shown = same[0].memory_id if same else here
        if shown != message.memory_id:
            found[message.memory_id] = shown
    return found


def without_repetitions(entries: Sequence[Entry], repeated: Mapping[str, str]) -> list[Entry]:
    """`entries` (best first) without those `repeated` by another memory, which has the better place of the two."""
    if not repeated:
        return list(entries)
    own = {memory_id: (memory_id, score, reason) for memory_id, score, reason in entries}
    found: dict[str, Entry] = {}
    for memory_id, score, _ in entries:
        shown = repeated.get(memory_id, memory_id)
        # The first entry for a memory has its best place; later ones only lose it.
        found.setdefault(shown, (shown, max(score, own[shown][1]), own[shown][2]))
    return list(found.values())


def _read_from(message: Memory, statements: Sequence[tuple[str, Memory]]) -> list[Memory]:
    """Return those of statements, each after its words, that were read from the words of a message, or say them, if
    they stand for most of them, and for what it denies.
    """
    speaker, rest = _speaker_and_words(message)
    found = [(said, one) for said, one in statements if said in rest and (one.source.speaker or "user") == speaker]
    if not found:
        return []
    words = len(_WORD.findall(rest))
    for said in sorted({said for said, _ in found}, key=len, reverse=True):
        rest = rest.replace(said, " ", 1)
    if len(_WORD.findall(rest)) > (1 - COVERS) * words:
        return []
    same = [one for _, one in found]
    denied = sum(_denials(one.source.quote or one.content) for one in same)
    return same if denied >= _denials(message.content) else []


def _denials(text: str) -> int:
    return sum(clause.negated for clause in read(text).clauses)


def _speaker_and_words(memory: Memory) -> tuple[str, str]:
    """Return the speaker and the words."""
    return memory.source.speaker or "user", _words_of(memory.content)


@lru_cache(maxsize=4096)
def _words_of(content: str) -> str:
    """Return a content in a form without differences of spelling: searches meet the same memories again and again."""
    return plain(content).strip(" .,;:!?")
