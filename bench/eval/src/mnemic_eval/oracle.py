"""A language model's part, played from the labels: `right` answers with the labels, `wrong` with answers that must not
count.

What a right model gives shows what the engine makes of good answers; what a wrong one gets stored, what it lets pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from mnemic.language.sentences.clauses import clauses, sentences
from mnemic.types import Completion, Deadline, Prompt
from mnemic_eval.truth_match import cover, is_stale, matches

Line = Mapping[str, Any]
Answers = Literal["right", "wrong"]
ANSWERED_FROM = 0.34
"""The share of a statement's content words that the message telling it has at least."""
SAME_FROM = 0.5
MOST = 6
_DENIAL = re.compile(r"\b(?:not|never|no|nicht|kein\w*|pas|jamais|nunca|não|non|niet|geen)\b|n't", re.IGNORECASE)


class Oracle:
    """Answers the prompts of a capture for the conversation `line`, which is set before its messages are captured."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.line: Line = {}
        self.model = f"oracle-{answers}"

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        """Return the items for the message that `prompt` shows."""
        return Completion(text=self.reply(prompt.user), model=self.model)

    def reply(self, shown: str) -> str:
        """Return the answer to the data part of a prompt, as JSON."""
        asked = json.loads(shown)
        made = right_items if self.answers == "right" else wrong_items
        return json.dumps({"items": made(self.line, asked["user_message"], asked["known"])[:MOST]}, ensure_ascii=False)

    async def close(self) -> None:
        """Nothing to free."""


def right_items(line: Line, text: str, known: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the labels of the message `text`: what it tells, what that replaces, and what it ends."""
    result = _best_sentences(line, text)
    ended = [one["statement"] for one in line["no_longer"] if _ending(line, one) == text]
    items = [_item(quote, None, "add") for quote in result]
    words = _best(text, [*ended, *line["now_true"]], line)
    for entry in known:
        if any(_says(entry, one) for one in ended) or (ended and _is_over(line, entry)):
            quote = max(result, key=lambda one: cover(entry["text"], one), default="")
            items.append(_item(quote, entry["id"], "update") if quote else _item(words, entry["id"], "end"))
    named = {item["quote"] for item in items if item["id"] is not None}
    return [item for item in items if item["id"] is not None or item["quote"] not in named]


def wrong_items(line: Line, text: str, known: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Wrong answers about the message `text`, of which none may become a memory that it does not support."""
    parts = [text[start:end] for start, end in sentences(text)] or [text]
    ways = list(_ways(line, parts, known))
    turn = len(text) % max(1, len(ways))
    return [*ways[turn:], *ways[:turn]]


def _ways(line: Line, parts: Sequence[str], known: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    first = parts[0]
    yield {"op": "add", "key": "home_city", "value": "Ulaanbaatar", "quote": first}
    yield {"op": "add", "key": None, "value": "I keep an owl in the attic", "quote": "I keep an owl in the attic"}
    yield {"op": "add", "key": "job", "value": " ".join(reversed(first.split()))[:200], "quote": first}
    for claim in line["not_users_word"]:
        yield {"op": "add", "key": None, "value": claim, "quote": first}
        yield {"op": "add", "key": "claim", "value": claim[:200], "quote": claim}
    for quote in line["never_store"]:
        yield {"op": "add", "key": None, "value": quote, "quote": quote}
    for part in parts:
        if _DENIAL.search(part):
            yield {"op": "add", "key": "liking", "value": " ".join(_DENIAL.sub("", part).split())[:200], "quote": part}
        yield {"op": "add", "key": None, "value": part, "quote": part}
    for one in line["no_longer"]:
        yield {"op": "add", "key": "state", "value": one["statement"][:200], "quote": first}
    yield {"op": "update", "id": 999, "key": None, "value": first, "quote": first}
    yield {"op": "end", "id": known[0]["id"] if known else 1, "quote": "I no longer have an owl"}


def _item(quote: str, memory_id: int | None, operation: str) -> dict[str, Any]:
    return {
        "op": "add" if memory_id is None else operation,
        "id": memory_id,
        "key": None,
        "value": quote,
        "category": "fact",
        "quote": quote,
    }


def _users(line: Line) -> list[tuple[datetime, str]]:
    return [
        (datetime.fromisoformat(session["at"]), one["content"])
        for session in line["sessions"]
        for one in session["messages"]
        if one["role"] == "user"
    ]


def _best_sentences(line: Line, text: str) -> list[str]:
    """Return the sentences of `text` that tell a labelled statement which no other message tells better."""
    found: dict[str, None] = {}
    statements = [(one, True) for one in line["now_true"]]
    statements += [(one["statement"], False) for one in line["no_longer"]]
    for statement, latest in statements:
        if _teller(line, statement, latest) == text:
            quote = _best(text, [statement], line if latest else None)
            if not latest and not _is_over(line, {"text": quote}):
                # Beside words of another end ("the pass expired, skip the lounge") the clause alone tells it.
                quote = next((one for one in _clauses(text) if _is_over(line, {"text": one})), quote)
            found |= {quote: None} if quote else {}
    for ask in line["asks"]:
        for wanted in ask["must"]:
            tellers = [said for _, said in _users(line) if matches(wanted, said)]
            if tellers and tellers[-1] == text and not any(matches(wanted, one) for one in found):
                quote = next((one for one in _parts(text) if matches(wanted, one)), "")
                found |= {quote: None} if quote else {}
    return list(found)


def _teller(line: Line, statement: str, latest: bool) -> str | None:
    """Return the message that tells `statement`: of those that have most of its words the first one, or the
    `latest`.
    """
    said = _users(line)
    shares = [cover(statement, text) for _, text in said]
    if not latest:
        over = [any(_is_over(line, {"text": part}) for part in (text, *_clauses(text))) for _, text in said]
        shares = [share + 0.5 * one for share, one in zip(shares, over, strict=True)]
    best = max(shares, default=0.0)
    if best < ANSWERED_FROM:
        return None
    places = [place for place, one in enumerate(shares) if one == best]
    return said[places[-1 if latest else 0]][1]


def _ending(line: Line, over: Line) -> str | None:
    """Return the message that ends a statement: the one that shares most words with the statement and its successor,
    among the messages of the end's day, or else among all that follow the statement.
    """
    said = _users(line)
    teller = _teller(line, over["statement"], False)
    after = said[1 + next((place for place, one in enumerate(said) if one[1] == teller), -1) :]
    same_day = [one for one in after if one[0].date().isoformat() == over["until"][:10]]
    near = same_day or after
    wanted = [over["statement"], *line["now_true"]]
    return max(near, key=lambda one: sum(cover(each, one[1]) for each in wanted))[1] if near else None


def _says(entry: Mapping[str, Any], statement: str) -> bool:
    return cover(statement, f"{entry['key'] or ''} {entry['text']}") >= SAME_FROM


def _is_over(line: Line, entry: Mapping[str, Any]) -> bool:
    """Return True if a memory says something that the questions of the line must not find."""
    return any(is_stale(entry["text"], ask) for ask in line["asks"] if ask["must_not"])


def _parts(text: str) -> list[str]:
    """Return the sentences of `text`, and up to three of them in a row."""
    found = [_sentence_span(text, *span) for span in sentences(text)]
    return [text[found[a][0] : found[b][1]] for a in range(len(found)) for b in range(a, min(a + 3, len(found)))]


def _clauses(text: str) -> list[str]:
    """Return the clauses of `text`."""
    return [one.text for one in clauses(text)]


def _sentence_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the place of a sentence, or of what it says before it asks."""
    if not text[start:end].endswith("?"):
        return start, end
    cut = max(text.rfind(mark, start, end) for mark in (",", "😄", " and "))
    return start, cut if cut > start else end


def _best(text: str, statements: Sequence[str], line: Line | None) -> str:
    """Return the sentence of `text` that has most of the statements' words, and of what is asked for."""
    wanted = [] if line is None else [one for ask in line["asks"] for one in ask["must"]]

    def worth(part: str) -> float:
        score = sum(cover(one, part) for one in statements) + 0.1 * sum(matches(one, part) for one in wanted)
        return score - 0.05 * len(sentences(part))

    return max(_parts(text), key=worth, default="")
