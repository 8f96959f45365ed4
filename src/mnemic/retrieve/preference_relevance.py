"""Judgement on whether the answer to a request could depend on a preference, a constraint or a fact about who somebody
is.

Likeness alone does not tell: "Book a table for dinner" is not like "vegetarian", and depends on it. A memory counts
where it shapes every answer (language, style), shares a word or a topic with the request, or is clearly like it. A
question about the world ("Who directed Alien?") depends on no topic, a greeting only on what shapes every answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from mnemic.retrieve.question import content_words
from mnemic.retrieve.small_talk import is_small_talk
from mnemic.retrieve.topics import topics_of_memory, topics_of_request
from mnemic.text.analyse import terms
from mnemic.types import Hit

ALIKE = 0.35
"""Cosine from which on a memory is about the request, whatever its topic."""
ALIKE_WITHOUT_TOPIC = 0.25
"""The same for a memory whose topic nobody knows."""
READ = 2_000
"""Characters of a request that are read: who pastes a page asks before it or after it."""

SHAPES_ANSWERS = frozenset(
    {"language", "response_style", "tone", "units", "pronouns", "preferred_name", "format", "verbosity"}
)
"""Keys on which every answer depends."""
_ABOUT_ANSWERS = re.compile(
    r"\b(?:answer|answers|answering|reply|replies|respond|responses?|explanations?|explain|bullet|bullets|concise|"
    r"concisely|brief|formatting|markdown|call me|address me|emojis?|metric|celsius|plain language|step by step)\b",
    re.IGNORECASE,
)
_OF_THE_WORLD = re.compile(
    r"\A\s*+(?:who|when|what|what['’]s|which|why|how (?:many|much|far|tall|old|big|long|high|deep|fast)|define|"
    r"translate|convert|calculate|compute|solve|is|are|was|were|does|did|do)\b",
    re.IGNORECASE,
)
_OF_THE_USER = re.compile(
    r"\b(?:i|i['’]m|i['’]d|i['’]ve|me|my|mine|we|us|our|recommend\w*|suggest\w*|best|good|nice|should|ideas?|tips?|"
    r"advice|options?|plan|choose|pick|book|buy)\b",
    re.IGNORECASE,
)
_SEASON = re.compile(r"\b(?:for|over|during|before|after|until) the holidays\b", re.IGNORECASE)
"""A time of the year, which is no journey."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A request, read once: its words and topics. Small talk has none."""

    words: frozenset[str]
    topics: frozenset[str]
    is_small_talk: bool = False

    @classmethod
    def of(cls, text: str) -> Ask:
        """`text`, of which the first and the last `READ` characters are read."""
        if is_small_talk(text):
            return cls(frozenset(), frozenset(), is_small_talk=True)
        read = text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}"
        words = _words(_SEASON.sub(" ", read))
        of_the_world = _OF_THE_WORLD.match(read) is not None and _OF_THE_USER.search(read) is None
        return cls(words, frozenset() if of_the_world else topics_of_request(words))

    def depends_on(self, hit: Hit) -> bool:
        """Return True if the answer could be another one because of what the memory says."""
        memory, near = hit.memory, hit.ranks.get("vector")
        cosine = None if near is None else near.score
        return self.concerns(
            memory.content, key=memory.key, quote=memory.source.quote, category=memory.category, cosine=cosine
        )

    def concerns(
        self,
        content: str,
        *,
        key: str | None = None,
        quote: str | None = None,
        category: str | None = None,
        cosine: float | None = None,
    ) -> bool:
        """Return True if the answer could be another one because of `content`, which is kept under `key`, was told as
        `quote`, and has this cosine to the request (None: unknown).
        """
        if key in SHAPES_ANSWERS or _shapes_answers(content, category):
            return True
        if self.is_small_talk:
            return False
        said = _words(" ".join((content, (key or "").replace("_", " "))))
        if self.words & said:
            return True
        topics = topics_of_memory(said | _words(quote or ""), key)
        alike = ALIKE if topics else ALIKE_WITHOUT_TOPIC
        return bool(self.topics & topics) or (cosine is not None and cosine >= alike)


def _shapes_answers(content: str, category: str | None) -> bool:
    return category in ("preference", "instruction") and _ABOUT_ANSWERS.search(content) is not None


def _words(text: str) -> frozenset[str]:
    return frozenset(_stemmed(content_words(text)))


def _stemmed(words: Iterable[str]) -> list[str]:
    return terms(" ".join(words))
