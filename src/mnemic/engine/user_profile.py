"""The profile of a user: who this is, what holds now and what is planned, each line with the memory that it comes from.

It is read from the memories in force each time, so that it is never behind them: who corrects or forgets the memory of
a line changes the line. Sentences that a model wrote in a consolidation stand before and for the memories that they
name, as long as all of these are in force and say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from mnemic.dispatch.gateway import MemoryGateway
from mnemic.errors import EmbedderFailed, InvalidInput
from mnemic.inject.render import escape, fenced
from mnemic.inject.render import visible as visible_text
from mnemic.inject.token_count import TokenCount
from mnemic.ports import Embedder
from mnemic.types import Actor, Kind, Level, Memory, ProfileLine, Trust, UserProfile, Where
from mnemic.write.derived_memories import PORTRAIT, digest_of, sources_of

MOST_MEMORIES = 500
"""The newest memories of a user that are looked at."""
SECTIONS = ("identity", "constraint", "preference", "relation", "event", "fact")
"""Categories in the order of the lines: what matters for every answer comes first. Others follow as facts."""


TOPICS: Mapping[str, Sequence[str]] = {
    "you": (
        "My name is Ana.",
        "I am 34 years old and was born in 1992.",
        "I speak two languages and my mother tongue is Swedish.",
        "My bank account, insurance and identity card have this number.",
        "You can reach me at this phone number or mail address.",
        "I am a member of the club and have a loyalty card with points.",
        "I drive a car and have a driving licence.",
        "I went there once and visited it in the past.",
        "My height and my clothing size are these.",
        "I am Canadian and a citizen of two countries.",
        "I studied history and hold a degree.",
        "I once won a prize for swimming.",
        "My frequent flyer card has silver status.",
        "My subscription is premium until May.",
        "I finished a long race last year.",
        "I climbed that mountain once.",
        "I was in the army when I was young.",
        "I have a tattoo and curly hair.",
    ),
    "home": (
        "I live in this city.",
        "I moved to another town.",
        "We live in a flat with a garden.",
        "My home address is in this street.",
        "my house, my room, the kitchen and the landlord",
        "Our cat sleeps in the living room.",
        "We have a dog and a parrot.",
        "I used to live in the country.",
        "We bought an apartment and moved in.",
        "home city: Madrid",
        "The airport nearest to my home is this one.",
        "My neighbourhood is quiet.",
        "Our street has a market on Sundays.",
        "I pay rent to my landlord.",
        "I come from a small village.",
        "I share the house with two others.",
    ),
    "work": (
        "I work for a company as an engineer.",
        "my job, my employer, my salary and my colleagues",
        "I am a doctor, a teacher, a lawyer.",
        "My boss leads our team.",
        "We use this software and this database in our project.",
        "I study at the university and have exams.",
        "I changed my job and started at another firm.",
        "I own a business with employees.",
        "My office hours and meetings are on these days.",
        "employer: Acme",
        "I write code, reports and papers at work.",
        "I lost my job and am retired now.",
        "I started as a nurse at the clinic.",
        "I work at Contoso.",
        "I am a chef in a restaurant.",
        "I work in a school, in a hospital, in an office.",
        "My class, my lecture, my thesis and my supervisor.",
        "Our customers pay by card in the product we build.",
    ),
    "health": (
        "I am allergic to nuts and cannot eat them.",
        "diet: vegan",
        "I take medicine for my illness.",
        "My doctor and my therapist treat me.",
        "My back hurts and I sleep badly.",
        "I exercise and go to the gym for my health.",
        "I was operated on in hospital.",
        "I gave up alcohol.",
        "I have high cholesterol and a weak heart.",
        "I am pregnant.",
        "I do not tolerate gluten.",
        "I wear glasses and a hearing aid.",
        "My dentist checks my teeth.",
        "I eat no meat and no fish.",
        "I broke a bone and needed surgery.",
        "I run to stay fit and sleep better.",
    ),
    "tastes": (
        "I like it.",
        "I love this music and this band.",
        "I prefer the one to the other.",
        "I hate spicy food.",
        "My favourite book, film or colour is this.",
        "I enjoy hiking, painting and other hobbies.",
        "I would rather have a room with a view.",
        "I drink tea without sugar.",
        "I want answers that are brief and polite.",
        "seat: aisle",
        "I cannot bear noise and cold.",
        "I like to travel light, in comfortable hotels.",
        "I like hotels in the centre.",
        "I like cities near the sea.",
        "I prefer the window and the quiet side.",
        "My favourite place to eat is that one.",
    ),
    "people": (
        "My husband is called Peter.",
        "My sister lives in another country.",
        "My brother's name is Tom.",
        "Our children are five and nine years old.",
        "My wife's birthday is in May.",
        "She is my best friend since school.",
        "My parents and grandparents are from here.",
        "My neighbour helps us.",
        "My girlfriend works as a vet.",
        "He is my cousin and plays football.",
        "My daughter is allergic to milk.",
        "I have three siblings and two nephews.",
        "My mother had her birthday and turned seventy.",
        "Maria is my aunt.",
        "My partner likes flowers.",
        "My friend lives around the corner.",
    ),
    "plans": (
        "I will go there next week.",
        "We are going to travel there next summer.",
        "I plan a trip for next year.",
        "I have an appointment tomorrow at ten.",
        "I want to learn to play the piano.",
        "My goal is to read more books.",
        "The deadline is on Monday and I must finish it.",
        "We are marrying in autumn.",
        "I will begin a new job in March.",
        "We want to move to a bigger house some day.",
        "I hope to visit them at Christmas.",
        "I must pay the bill before the end of the month.",
        "My wife and I want to see that country one day.",
        "We are flying out on the tenth.",
        "I have to hand it in by Friday.",
        "I am going to apply for it soon.",
    ),
}
"""What a line may be about, with sentences that are: a line is about what its two nearest sentences say."""
SUGGESTED = {
    "constraint": ("health", 0.05),
    "preference": ("tastes", 0.08),
    "relation": ("people", 0.03),
}
"""The topic that a category suggests, and how much nearer it makes a line to it."""
_EXAMPLES: WeakKeyDictionary[Embedder, np.ndarray] = WeakKeyDictionary()


async def user_profile(gateway: MemoryGateway, actor: Actor, *, max_tokens: int, count: TokenCount) -> UserProfile:
    """Return the profile; see `MemoryEngine.profile`. Raises InvalidInput (`max_tokens`), StoreFailed."""
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1:
        raise InvalidInput("max_tokens", hint="a whole number, at least 1")
    lines, now = profile_lines(await memories_of_user(gateway, actor)), gateway.clock.now()
    text, kept = fenced("user", [_spelled(line, now) for line in lines], max_tokens=max_tokens, count=count)
    shown = await _with_topics([lines[at] for at in kept], gateway.searcher.embedder, now)
    shown = [replace(line, topic="plans") if line.memory.happened_at > now else line for line in shown]
    return UserProfile(lines=tuple(shown), text=text, without_room=len(lines) - len(kept))


async def memories_of_user(gateway: MemoryGateway, actor: Actor) -> Sequence[Memory]:
    """Return what holds now of the user and what is still to come, newest first. Raises StoreFailed."""
    scope, now = actor.scope(Level.USER), gateway.clock.now()
    if scope not in gateway.rules.scopes(actor):
        return ()
    hidden = await gateway.hidden_keys(actor)
    where = Where(scopes=(scope,), kinds=frozenset({Kind.LONG_TERM}), live_at=now, hidden_keys=hidden)
    store = gateway.searcher.store
    holding = await store.newest(replace(where, as_of=now), limit=MOST_MEMORIES)
    known = {one.memory_id for one in holding}
    coming = await store.newest(replace(where, happened_from=now), limit=MOST_MEMORIES)
    ahead = [one for one in coming if one.memory_id not in known and (one.valid_to is None or one.valid_to > now)]
    drawn = replace(where, kinds=frozenset({Kind.EPISODIC}), categories=frozenset({PORTRAIT}))
    return [*ahead, *holding, *reversed(await store.newest(drawn, limit=MOST_MEMORIES))]


def profile_lines(memories: Sequence[Memory]) -> list[ProfileLine]:
    """Return the lines that a model wrote of these, and one for each other memory that the user can be known by, most
    important first.
    """
    trusted = [one for one in memories if one.trust > Trust.LOW and one.category != PORTRAIT]
    # The sentence from which a value was read says nothing that the value does not.
    read = {_bare(one.source.quote) for one in trusted if one.key is not None and one.source.quote is not None}
    told = [one for one in trusted if one.key is not None or _bare(one.content) not in read]
    written = [line for one in memories if one.category == PORTRAIT and (line := _written(one, trusted))]
    covered = {proof.memory_id for line in written for proof in line.proof}
    lines = [_line(one) for one in told if one.memory_id not in covered]
    return [*written, *sorted(lines, key=lambda one: (SECTIONS.index(one.section), one.memory.key is None))]


def _written(memory: Memory, holding: Sequence[Memory]) -> ProfileLine | None:
    """Return the line of a model, if all that it says is in force and unchanged."""
    named = sources_of(memory)
    proof = tuple(one for one in holding if one.memory_id in named)
    order: Any = memory.data.get("sources")
    same = memory.data.get("said") == digest_of(sorted(proof, key=lambda one: order.index(one.memory_id)))
    if not proof or len(proof) < len(named) or not same:
        return None
    return ProfileLine(section=SECTIONS[0], text=memory.content, memory=memory, proof=proof)


def _bare(text: str) -> str:
    """Return a sentence without the mark at its end, which a message may lack."""
    return text.strip().rstrip(".!")


async def _with_topics(lines: Sequence[ProfileLine], embedder: Embedder, now: datetime) -> Sequence[ProfileLine]:
    """Return the lines with what each is about; without the embedder, by their categories alone. What has held since a
    day in the past is no plan.
    """
    suggested = [SUGGESTED.get(line.section, ("you", 0.0)) for line in lines]
    if not lines:
        return lines
    try:
        if embedder not in _EXAMPLES:
            _EXAMPLES[embedder] = _matrix(await embedder.embed([one for said in TOPICS.values() for one in said]))
        size = 4 * _EXAMPLES[embedder].shape[1]
        # A memory has no vector of this embedder while a store is embedded anew.
        known = [None if (found := line.memory.vector) is None or len(found) != size else found for line in lines]
        bare = [line.text for line, vector in zip(lines, known, strict=True) if vector is None]
        read = iter(await embedder.embed(bare) if bare else ())
    except EmbedderFailed:
        return [replace(line, topic=topic) for line, (topic, _) in zip(lines, suggested, strict=True)]
    nearness = _matrix([next(read) if vector is None else vector for vector in known]) @ _EXAMPLES[embedder].T
    topics, ends = list(TOPICS), np.cumsum([0, *(len(said) for said in TOPICS.values())])
    # One sentence alone may be near by its form: "I moved" to "I travelled".
    two = [np.sort(nearness[:, start:end], axis=1)[:, -2:].mean(axis=1) for start, end in pairwise(ends)]
    best = np.stack(two, axis=1)
    for row, line, (topic, nearer) in zip(best, lines, suggested, strict=True):
        row[topics.index(topic)] += nearer
        if line.memory.valid_from is not None and line.memory.valid_from <= now:
            row[topics.index("plans")] = -np.inf
    return [replace(line, topic=topics[at]) for line, at in zip(lines, best.argmax(axis=1), strict=True)]


def _matrix(vectors: Sequence[bytes]) -> np.ndarray:
    return np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)


def _line(memory: Memory) -> ProfileLine:
    section = memory.category if memory.category in SECTIONS else SECTIONS[-1]
    # A whole sentence needs no name before it; a value alone ("aisle") says nothing without one.
    whole = memory.key is None or (" " in memory.content and memory.content.endswith((".", "!")))
    text = memory.content if whole else f"{str(memory.key).replace('_', ' ')}: {memory.content}"
    return ProfileLine(section=section or SECTIONS[-1], text=text, memory=memory)


def _spelled(line: ProfileLine, now: datetime) -> str:
    """Return the line as data for a model, with the day from which it is known, or on which it is to be."""
    ahead = line.memory.happened_at > now
    day = f'on="{line.memory.happened_at:%Y-%m-%d}"' if ahead else f'since="{line.since:%Y-%m-%d}"'
    return f"<{line.section} {day}>{escape(visible_text(line.text))}</{line.section}>"
