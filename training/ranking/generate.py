"""Make chats between two people, and questions about them, from the frames of `frames.toml`.

A chat has sessions some days apart. In each one of the two tells of two or three topics, in one of several shapes: with
the question of the other one and the answer, or at once; with remarks and small talk in between or without. Both people
tell of the same topics with other words, so that who tells decides. A part of a topic that answers a question is its
evidence. The seed is fixed.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from mnemic.types import Message

FRAMES = Path(__file__).parent / "frames.toml"
PAIRS = (("Caro", "Ben"), ("Dana", "Miguel"), ("Edith", "Owen"), ("Farah", "Leon"), ("Greta", "Hugo"), ("Iris", "Paul"))
SESSIONS, TOPICS, SEED = 18, 3, 20261127
FIRST = datetime(2025, 1, 6, 18, tzinfo=UTC)
_SLOT = re.compile(r"{(\w+)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and the ids of the messages that answer it."""

    text: str
    evidence: frozenset[str]


@dataclass(slots=True)
class Chat:
    """A chat so far: its messages, its questions, and which message tells of which frame of whom."""

    name: str
    messages: list[Message] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    told: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


def chats(many: int = len(PAIRS)) -> Iterator[Chat]:
    """Yield so many chats, the same ones each time."""
    frames = tomllib.loads(FRAMES.read_text(encoding="utf-8"))
    for place, pair in enumerate(PAIRS[:many]):
        draw = random.Random(SEED + place)
        chat = Chat(f"made-{place}")
        rest: list[tuple[str, Any]] = [(who, topic) for who in pair for topic in frames["topics"]]
        draw.shuffle(rest)
        for session in range(SESSIONS):
            _session(chat, session, pair, [rest.pop() for _ in range(TOPICS) if rest], frames, draw)
        _sets(chat, pair, frames)
        yield chat


def _session(
    chat: Chat, session: int, pair: tuple[str, str], topics: list[tuple[str, Any]], frames: Any, draw: random.Random
) -> None:
    said: list[tuple[str, str]] = []
    first = draw.choice(pair)
    other = pair[first == pair[0]]
    said += [(first, draw.choice(frames["greetings"]).replace("{B}", other))]
    said += [(other, draw.choice(frames["replies"]).replace("{A}", first))]
    begin = FIRST + timedelta(days=9 * session + draw.randrange(4))
    for teller, topic in topics:
        _topic(chat, session, said, teller, pair[teller == pair[0]], topic, frames, draw)
    said.append((first, draw.choice(frames["partings"]).replace("{B}", other)))
    chat.messages += [
        Message(
            role="user",
            content=text,
            speaker=speaker,
            session=f"s{session}",
            message_id=f"s{session}:{turn}",
            sent_at=begin + timedelta(minutes=turn),
        )
        for turn, (speaker, text) in enumerate(said)
    ]


def _topic(
    chat: Chat, session: int, said: list[tuple[str, str]], teller: str, listener: str, topic: Any, frames: Any,
    draw: random.Random,
) -> None:  # fmt: skip
    words = {name: draw.choice(values) for name, values in frames["words"].items()} | {"A": teller, "B": listener}
    at_once, talkative = draw.random() < 0.3, draw.random() < 0.5
    parts = {"t": f"s{session}:{len(said)}"}
    tells, answers = _filled(topic["tells"], words), _filled(topic["answers"], words)
    if at_once:
        parts["a"] = parts["t"]
        said.append((teller, f"{tells} {answers}"))
    else:
        said.append((teller, tells))
        if talkative:
            said += [(listener, draw.choice(frames["fillers"])), (teller, draw.choice(frames["fillers"]))]
        said.append((listener, _filled(topic["asks"], words)))
        parts["a"] = f"s{session}:{len(said)}"
        said.append((teller, answers))
    said.append((listener, _filled(topic["remarks"], words)))
    if talkative:
        said.append((teller, draw.choice(frames["fillers"])))
    for text, part in topic["questions"]:
        chat.questions.append(Question(text=_filled(text, words), evidence=frozenset({parts[part]})))
    chat.told.setdefault(teller, []).append((topic["tells"], parts["t"]))


def _sets(chat: Chat, pair: tuple[str, str], frames: Any) -> None:
    """Add the questions that several topics answer together."""
    for who in pair:
        for made in frames["sets"]:
            found = frozenset(
                one for tells, one in chat.told.get(who, ()) if any(part in tells for part in made["topics"])
            )
            if len(found) > 1:
                chat.questions.append(Question(text=made["question"].replace("{A}", who), evidence=found))


def _filled(text: str, words: Mapping[str, str]) -> str:
    made = _SLOT.sub(lambda slot: words[slot[1]], text)
    return made[:1].upper() + made[1:]
