"""Topics by which a user's memories can be consolidated: a conversation, an entity, a recurring theme, the user."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice, pairwise
from typing import Any

from mnemic.language.entities.relations import USER
from mnemic.types import Kind, Memory, Trust
from mnemic.types.search import MESSAGE_CATEGORY
from mnemic.write.derived_memories import PORTRAIT, PROFILE, REFLECTION, SUMMARY, digest_of

MAX_SOURCES = 400
"""Sources of one derived memory: the newest count."""
MIN_MESSAGES, MIN_SOURCES, MIN_SESSIONS, MAX_THEMES, MAX_MENTIONS = 6, 3, 3, 3, 40
_WORD = re.compile(r"[^\W\d_]{4,}")
_TOKEN = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """Topic to write about: `about` identifies it in its category, `facts` are copied unchanged, `sources` are all
    memories that may be read for it. `called` are the words for the entity; None for a conversation or a theme.
    """

    category: str
    about: str
    title: str = field(repr=False)
    sources: tuple[Memory, ...] = field(repr=False)
    facts: tuple[Memory, ...] = field(default=(), repr=False)
    called: str | None = field(default=None, repr=False)

    @property
    def digest(self) -> str:
        """The same as long as the sources have the same content."""
        return digest_of(self.sources)


def topics_of(memories: Iterable[Memory], *, quiet_since: datetime) -> Iterator[Topic]:
    """Yield the topics of one user's active memories. Conversations whose last message is newer than `quiet_since` may
    continue and are left out.
    """
    ordered = sorted(memories, key=lambda one: (one.happened_at, one.memory_id))
    messages = [one for one in ordered if one.kind is Kind.EPISODIC and one.category == MESSAGE_CATEGORY]
    kept = [one for one in ordered if one.kind is Kind.LONG_TERM and one.key is None]
    yield from _conversations(messages, quiet_since)
    texts = [*kept, *messages]
    yield from _things([one for one in ordered if one.kind is Kind.ENTITY], texts)
    yield from _themes([*kept, *(one for one in messages if one.source.speaker != "assistant")])
    holding = [one for one in ordered if one.kind is Kind.LONG_TERM and one.trust > Trust.LOW]
    if len(holding) >= MIN_SOURCES:
        yield Topic(category=PORTRAIT, about=USER, title="", sources=tuple(holding[-MAX_SOURCES:]))


def _conversations(messages: Sequence[Memory], quiet_since: datetime) -> Iterator[Topic]:
    sessions: defaultdict[str, list[Memory]] = defaultdict(list)
    for message in messages:
        if message.source.session is not None:
            sessions[message.source.session].append(message)
    for session, said in sessions.items():
        last = said[-1].happened_at
        if len(said) >= MIN_MESSAGES and last <= quiet_since:
            title = f"Conversation of {last.date().isoformat()}:"
            yield Topic(category=SUMMARY, about=session, title=title, sources=tuple(said[-MAX_SOURCES:]))


# -- what is spoken of -------------------------------------------------------------------------------------------------


def _things(entities: Sequence[Memory], texts: Sequence[Memory]) -> Iterator[Topic]:
    nodes: dict[str, dict[str, Any]] = {}
    names: defaultdict[str, set[str]] = defaultdict(set)
    facts: defaultdict[str, list[Memory]] = defaultdict(list)
    for memory in entities:
        data: Any = memory.data
        for node in data.get("nodes") or ():
            if node["label"] != USER:
                nodes[node["node"]] = node
                names[node["node"]] |= {node["name"], *(node.get("aliases") or ())}
                if data.get("relations"):
                    facts[node["node"]].append(memory)
    mentions = _Mentions(texts)
    for name, node in nodes.items():
        said = mentions.texts_with_names(names[name])[-MAX_MENTIONS:]
        sources = (*facts[name][-MAX_SOURCES + MAX_MENTIONS :], *said)
        if len(sources) >= MIN_SOURCES:
            called = f"{node['name']} ({node['label']})"
            title, known = f"About {called}:", tuple(facts[name])
            yield Topic(category=PROFILE, about=name, called=called, title=title, sources=sources, facts=known)


class _Mentions:
    """Places of names in texts: by their words first, so that not every name is looked for in every text."""

    def __init__(self, texts: Sequence[Memory]) -> None:
        self._texts = texts
        self._places: defaultdict[str, set[int]] = defaultdict(set)
        for place, memory in enumerate(texts):
            for word in set(_TOKEN.findall(memory.content.casefold())):
                self._places[word].add(place)

    def texts_with_names(self, names: Iterable[str]) -> list[Memory]:
        """Return the texts that contain one of the names as written, in their order."""
        found: set[int] = set()
        for name in names:
            words = _TOKEN.findall(name.casefold())
            containing = [self._places.get(word, set()) for word in words]
            spelt = re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE)
            common = set.intersection(*containing) if containing else set()
            found |= {place for place in common if spelt.search(self._texts[place].content)}
        return [self._texts[place] for place in sorted(found)]


# -- what comes up again -----------------------------------------------------------------------------------------------


def _themes(texts: Sequence[Memory]) -> Iterator[Topic]:
    """Yield the words that occur in most conversations, and in fewer of them than by chance: by their residual IDF
    (Church and Gale, "Inverse Document Frequency: A Measure of Deviations from Poisson", 1995) over the number of
    conversations. A word of more than half of them does not count.
    """
    holding: defaultdict[str, list[Memory]] = defaultdict(list)
    for memory in texts:
        for word in dict.fromkeys(_WORD.findall(memory.content.casefold())):
            holding[word].append(memory)
    count = len(_sessions(texts))
    worth: dict[str, float] = {}
    for word, containing in holding.items():
        among = len(_sessions(containing))
        if MIN_SESSIONS <= among <= count / 2:
            beyond_chance = math.log(count / among) + math.log(1 - math.exp(-len(containing) / count))
            worth[word] = beyond_chance * among
    rising = sorted((word for word in worth if worth[word] > 0), key=lambda word: (worth[word], word), reverse=True)
    named = ((_name(word, holding[word], worth), word) for word in rising)
    for name, word in islice(_first_of_each_name(named), MAX_THEMES):
        title = f"Comes up in {len(_sessions(holding[word]))} conversations: {name}."
        yield Topic(category=REFLECTION, about=word, title=title, sources=tuple(holding[word][-MAX_SOURCES:]))


def _first_of_each_name(named: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Of several words with one name ("pottery", "class": "pottery class") the first."""
    seen: set[str] = set()
    for name, word in named:
        if name not in seen:
            seen.add(name)
            yield name, word


def _name(word: str, containing: Sequence[Memory], worth: Mapping[str, float]) -> str:
    """Return the word with the neighbour that it has in at least half of its conversations ("pottery class"), if that
    one comes up in fewer than by chance, too; else the word.
    """
    pairs: defaultdict[str, list[Memory]] = defaultdict(list)
    for memory in containing:
        for pair in pairwise(_TOKEN.findall(memory.content.casefold())):
            if word in pair and pair[0] != pair[1] and all(worth.get(one, 0.0) > 0 for one in pair):
                pairs[" ".join(pair)].append(memory)
    among = {pair: len(_sessions(said)) for pair, said in pairs.items()}
    best = max(among, key=lambda pair: (among[pair], pair), default=word)
    return best if 2 * among.get(best, 0) >= len(_sessions(containing)) else word


def _sessions(memories: Iterable[Memory]) -> set[str]:
    return {one.source.session for one in memories if one.source.session is not None}
