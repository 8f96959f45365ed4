"""The names by which an answer cites memories, and the verification that it uses those it cites: one verdict per
memory; "unknown" is one of them.

A verifier examines one memory and one answer. Policy assigns a verifier to a key (`KeyRule.verifier`); an application
may register its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from mnemic.inject.answer_mentions import Mention, mention
from mnemic.language.text.pattern import Pattern
from mnemic.types import Hit, Memory


class Verdict(StrEnum):
    """Verdict on the use of one memory in an answer."""

    VERIFIED = "verified"
    REFUTED = "refuted"
    UNVERIFIABLE = "unverifiable"


Verifier = Callable[[Memory, str], Verdict]

CONCISE_WORDS = 80
CONCISE_SENTENCES = 3
"""The point of "3.4%" ends none."""

_WORD = Pattern(r"[^\W_]+(?:['’.:/+-][^\W_]+)*")
_SENTENCE_END = Pattern(r"[.!?。！？]+(?=\s|$)|[。！？]+")
_CJK = Pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

_FUNCTION_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "english": frozenset(
            "the of and to in is are was with for on at by from this that your you will it be".split()
        ),
        "spanish": frozenset("el la los las de del y en es son con para por un una que su se al lo".split()),
        "french": frozenset("le la les des de du et en est sont avec pour par un une que vous sur au dans".split()),
        "german": frozenset("der die das und in ist sind mit für von ein eine den dem zu auf bei im nicht sie".split()),
        "italian": frozenset("il lo la gli le di del e in è sono con per un una che su al da nel".split()),
        "portuguese": frozenset("o a os as de do da e em é são com para por um uma que no na ao".split()),
    }
)
_LANGUAGE_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **{name: name for name in _FUNCTION_WORDS},
        **dict(en="english", es="spanish", fr="french", de="german", it="italian", pt="portuguese"),
        "inglés": "english",
        "español": "spanish",
        "castellano": "spanish",
        "français": "french",
        "deutsch": "german",
    }
)


def words_of(text: str) -> list[str]:
    """Return the words of `text` in lower case, numbers and hyphenated words whole."""
    return [word.casefold() for word in _WORD.findall(text)]


_VERDICTS: Mapping[Mention, Verdict] = MappingProxyType(
    {
        Mention.SAID: Verdict.VERIFIED,
        Mention.OPEN: Verdict.UNVERIFIABLE,
        Mention.DENIED: Verdict.REFUTED,
        Mention.ABSENT: Verdict.REFUTED,
    }
)


def mentions_value(memory: Memory, answer: str) -> Verdict:
    """Return True if the answer contains the value, in any of its forms, and does not reject it ("do not use email").
    If the scope of a negation is unclear, the verdict is "unknown".
    """
    return _VERDICTS[mention(memory.content, answer)] if words_of(memory.content) else Verdict.UNVERIFIABLE


def is_concise(memory: Memory, answer: str) -> Verdict:
    """Return True if the answer complies with the style "concise": at most 80 words (240 characters of CJK text) and
    three sentences.

    Other styles cannot be verified.
    """
    if memory.content.strip().casefold() not in {"concise", "brief", "short", "conciso", "breve"}:
        return Verdict.UNVERIFIABLE
    # Chinese and Japanese have no spaces; three characters count as a word.
    size = len(words_of(_CJK.sub(" ", answer))) + len(_CJK.findall(answer)) / 3
    # A text without a full stop is one sentence.
    sentences = max(1, len(_SENTENCE_END.findall(answer.strip())))
    return Verdict.VERIFIED if size <= CONCISE_WORDS and sentences <= CONCISE_SENTENCES else Verdict.REFUTED


def is_in_language(memory: Memory, answer: str) -> Verdict:
    """Return True if the answer's function words are those of the language named, more than of any other known one."""
    wanted = _LANGUAGE_NAMES.get(memory.content.strip().casefold())
    if wanted is None:
        return Verdict.UNVERIFIABLE
    words = words_of(answer)
    # Function words, because names and technical terms are the same in many languages.
    counts = {name: sum(word in known for word in words) for name, known in _FUNCTION_WORDS.items()}
    if max(counts.values(), default=0) == 0:
        return Verdict.UNVERIFIABLE
    # Equal counts verify: short answers share words such as "la" between languages.
    return Verdict.VERIFIED if counts[wanted] == max(counts.values()) else Verdict.REFUTED


VERIFIERS: Mapping[str, Verifier] = MappingProxyType(
    {"contains": mentions_value, "style": is_concise, "language": is_in_language}
)


@dataclass(frozen=True, slots=True)
class UsageAudit:
    """Judges cited memories with the verifiers that policy names for their keys."""

    verifiers: Mapping[str, Verifier] = field(default_factory=lambda: VERIFIERS)

    def judge(self, hit: Hit, verifier: str | None, answer: str) -> Verdict:
        """Return the verdict on one cited memory; without a (known) verifier nothing is claimed."""
        check = self.verifiers.get(verifier) if verifier else None
        return check(hit.memory, answer) if check else Verdict.UNVERIFIABLE


def hits_by_citation(hits: Sequence[Hit]) -> dict[str, Hit]:
    """Return each hit under the name by which an answer cites it: its key, `scope:key` if a key occurs in two scopes or
    twice, and `m<n>` for a memory without a key.
    """
    keys = [hit.memory.key for hit in hits]
    names: dict[str, Hit] = {}
    for number, hit in enumerate(hits, start=1):
        key = hit.memory.key
        name = key or f"m{number}"
        if key is not None and keys.count(key) > 1:
            name = f"{hit.memory.scope.level}:{key}"
        names[name if name not in names else f"{name}#{number}"] = hit
    return names


def memory_item(ref: str, hit: Hit) -> dict[str, Any]:
    """Return a memory as a model is shown it."""
    # The day on which it was said or happened: without it an old fact looks like a new one.
    return {"ref": ref, **_as_json(hit), "since": hit.memory.happened_at.date().isoformat()}


def applied_entry(hit: Hit) -> dict[str, Any]:
    """Return a memory that an answer cites, for the report."""
    memory = hit.memory
    return {"memory_id": memory.memory_id, "version": memory.version, **_as_json(hit), "score": round(hit.score, 3)}


def _as_json(hit: Hit) -> dict[str, Any]:
    memory = hit.memory
    return {
        "key": memory.key,
        "value": memory.content,
        "scope": memory.scope.level.value,
        "confidence": memory.confidence,
    }
