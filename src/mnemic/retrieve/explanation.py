"""One sentence for people that explains why a memory was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from types import MappingProxyType

from mnemic.language.questions.question_words import content_words
from mnemic.language.text.analyse import terms
from mnemic.retrieve.answer_judgement import ANSWERED
from mnemic.retrieve.policy_candidates import PINNED, PREFERENCE_BIAS
from mnemic.retrieve.question import Question
from mnemic.types import Memory, Origin, Rank

WORDS = 3
"""Maximum words of the query that are named."""
CLOSE = 0.5
"""Cosine from which on a memory is called close in meaning."""

_SIGNS: Mapping[str, str] = MappingProxyType(
    {
        "graph": "mentions what the question names",
        "search_index": "ranked by the search service",
        "reranker": "ranked by the reranker",
        "instances": "names an instance of what is asked for",
        "answers": "says what is asked for in other words",
        "period": "tells what happened at the time in question",
        "near": "is near to what the question names",
        "speaker": "from the person asked about",
        "told": "told at the time the question means",
        "when": "names a time",
        "previous": "right after a matching message",
        "following": "right before a matching message",
        "learned": "moved up by what is around it",
        "judge": "reads like an answer",
        "asked": "says what is asked for",
        "meant": "has other words for what is asked",
        "then": "was true then",
        "anchored": "on the side of the event that is meant",
    }
)
"""Explanation of a list or signal other than those of words or of meaning."""
_AGAINST: Mapping[str, str] = MappingProxyType(
    {
        "asked": "says that it is over",
        "question": "only asks",
    }
)
"""Meaning of a signal that moves a memory down."""
_LEAST: Mapping[str, float] = MappingProxyType({"judge": ANSWERED})
"""Score above which a signal is told where not every score above 0 says it: the judge also scores what is no answer."""
PINNED_BY_POLICY = "belongs into every answer"
DEPENDED_ON = "known of the user, and may matter"
_MAY_MATTER = ("preference", "constraint")
_NEWEST = "among the newest"
_FAR = "loosely related in meaning"
_NO_OTHER = (f"{_NEWEST}; ", f"{_FAR}; ")
_SAID_BY, _IMPORTED = "said by ", "imported"
_SPEAKERS: Mapping[Origin, str] = MappingProxyType(
    {
        Origin.USER_STATED: "the user",
        Origin.OPERATOR: "the operator",
        Origin.AGENT_INFERRED: "the assistant",
        Origin.TOOL_OUTPUT: "a tool",
        Origin.WEB: "a web page",
    }
)


def why(memory: Memory, ranks: Mapping[str, Rank], reason: str, question: Question) -> str:
    """Return which words of the query the memory matches, its other boosts, its speaker, and its time."""
    parts = [*_matches(memory, ranks, question), *_signs(ranks)]
    if reason == PINNED:
        parts.insert(0, PINNED_BY_POLICY)
    elif reason == PREFERENCE_BIAS:
        parts.insert(0, "a preference")
    day = memory.happened_at
    speaker = _speaker(memory)
    said = f"{_IMPORTED}, dated" if speaker is None else f"{_SAID_BY}{speaker} on"
    return "; ".join(
        [*(parts or [_FAR if "vector" in ranks and "recency" not in ranks else _NEWEST]), f"{said} {_day(day.date())}"]
    )


def as_depended_on(sentence: str, category: str | None = None) -> str:
    """Return the sentence of a hit of the category that is shown because the answer could depend on it."""
    rest = sentence.removeprefix(f"{PINNED_BY_POLICY}; ")
    for nothing in _NO_OTHER:
        rest = rest.removeprefix(nothing)
    told = f"a {category} that may matter" if category in _MAY_MATTER else DEPENDED_ON
    return f"{told}; {rest}"


def as_found(sentence: str) -> str:
    """Return the sentence of a hit that had been set beside the others and is shown for its relevance alone."""
    rest = sentence.removeprefix(f"{PINNED_BY_POLICY}; ")
    return f"{_NEWEST}; {rest}" if rest.startswith((_SAID_BY, _IMPORTED)) else rest


def with_disagreement(sentence: str, memory: Memory, others: Sequence[Memory]) -> str:
    """Return the reason for a hit with the dates of the hits that disagree with it, the latest first."""
    for other in others:
        day = other.happened_at
        when = "a later" if day > memory.happened_at else "an earlier"
        sentence += f"; disagrees with {when} statement of {_day(day.date())}"
    return sentence


@lru_cache(maxsize=1024)
def _day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _matches(memory: Memory, ranks: Mapping[str, Rank], question: Question) -> list[str]:
    found = []
    if "key" in ranks and memory.key:
        found.append(f"kept under '{memory.key}'")
    if "keyword" in ranks:
        said = _terms_of(memory.content, memory.key)
        named = [f"'{word}'" for word, terms in _words_of(question.keywords) if not said.isdisjoint(terms)][:WORDS]
        # If it has a word implied by the question, the keyword list found it by that.
        if named or {"instances", "answers", "period"}.isdisjoint(ranks):
            found.append("matches " + _word_list(named) if named else "its context matches")
    if "vector" in ranks and ranks["vector"].score >= CLOSE:
        found.append("close in meaning")
    return found


@lru_cache(maxsize=4096)
def _terms_of(content: str, key: str | None) -> frozenset[str]:
    """Return the terms of a memory: searches meet the same ones again and again."""
    return frozenset(terms(f"{content} {(key or '').replace('_', ' ')}"))


@lru_cache(maxsize=64)
def _words_of(keywords: str) -> list[tuple[str, list[str]]]:
    """Return the words of a question, each with its terms: every hit is compared with them."""
    words = dict.fromkeys(word.strip(".,;:!?'\"()[]") for word in content_words(keywords))
    return [(word, terms(word)) for word in words if word]


def _signs(ranks: Mapping[str, Rank]) -> list[str]:
    found = [phrase for name, phrase in _SIGNS.items() if name in ranks and ranks[name].score > _LEAST.get(name, 0.0)]
    return found + [phrase for name, phrase in _AGAINST.items() if name in ranks and ranks[name].score < 0]


def _word_list(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _speaker(memory: Memory) -> str | None:
    """Return the speaker; None for an import without one."""
    speaker = memory.source.speaker
    if speaker in (None, "", "user"):
        return _SPEAKERS.get(memory.source.origin)
    return "the assistant" if speaker == "assistant" else str(speaker)
