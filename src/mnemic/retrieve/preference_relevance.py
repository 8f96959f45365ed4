"""Judgement on whether the answer to a request could depend on a preference, a constraint or a personal fact.

Similarity alone cannot decide: "Book a table for dinner" is not similar to "vegetarian", and depends on it. A memory
counts if it shapes every answer (language, style), shares a word or a topic with the request, or is clearly similar. A
question about the world ("Who directed Alien?") depends on no topic, one for a fact of the user ("Where do I live?") on
its own topics only, a greeting only on preferences that shape every answer.

A topic in common alone says little, as a request for a restaurant shares one with everything about food and health;
likeness alone misses the allergy. This is a logistic model of both. `training/preferences/fit.py` fits it to statements
and requests written for this project, a request with the statements on its subject against those of others; a word in
common adds nothing to the cosine. bench/retrieval.md reports its results on a public set.

A fact captured from a message has a category, by which it is judged. A program that calls `add("I'm a vegetarian.")`
gives none, and the statement resembles no request for a restaurant, so its words are classified when such a request
comes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from mnemic.language.questions.question_words import content_words
from mnemic.language.questions.small_talk import is_small_talk
from mnemic.language.questions.topics import rule_subject, topics_of_memory, topics_of_request, without_acts
from mnemic.language.sentences.categories import category_of
from mnemic.language.sentences.classify.classifier import weights
from mnemic.language.sentences.requests_about_memory import asks_for_profile
from mnemic.language.text.analyse import terms
from mnemic.types import Hit, Kind, Memory, Status

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "cosine": 11.22,
        "word": 0.0,
        "words": 0.0,
        "topic": 1.29,
        "touched": 1.39,
        "no_topic": 1.17,
        "any_topic": 1.07,
        "base": -4.93,
    }
)
LEAST = 0.1
"""Probability from which a preference is shown, as one of ten matters: a missed one spoils an answer, a needless one
costs a line.
"""
BESIDE_THE_BEST = 0.2
"""Share of the greatest of these probabilities from which another preference is shown, too: the more surely one
matters, the less says a topic that others have in common with the request.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSimilarity:
    """A request and a memory compared: their cosine, the number of words they share, whether they share a topic
    (`topic`) or the request touches one of the memory's (`touched`), and whether no topic is known of the memory
    (`no_topic`) or of the request (`any_topic`).
    """

    cosine: float
    shared: int
    topic: bool
    touched: bool
    no_topic: bool
    any_topic: bool

    @property
    def has_in_common(self) -> bool:
        """Return True if they share a word or a topic."""
        return self.shared > 0 or self.touched

    def features(self) -> tuple[float, ...]:
        """Return the values in the order of the weights, without the base."""
        flags = (self.shared > 0, self.shared > 1, self.topic, self.touched, self.no_topic, self.any_topic)
        return (self.cosine, *map(float, flags))

    def probability(self) -> float:
        """0 to 1."""
        *weights, base = WEIGHTS.values()
        found = sum(weight * value for weight, value in zip(weights, self.features(), strict=True))
        return 1 / (1 + math.exp(-(found + base)))


ALIKE = 0.35
"""Cosine from which a memory of any topic concerns the request."""
ALIKE_WITHOUT_TOPIC = 0.25
"""The same for a memory without a known topic."""
OF_A_CHOICE = 0.1
"""The same for a request that asks for a choice, a plan or a draft."""
READ = 2_000
"""Characters of a request that are read: with a pasted page the question is before or after it."""

IDENTITY = "identity"
"""Category of facts about a person's identity. A name or an age is near to most questions of a person and changes few
answers, so it counts only for a word, a topic or a clear similarity, and not as one of the nearest.
"""
CONSTRAINT = "constraint"
"""Category of what must not be overlooked, such as an allergy."""
_CODE = frozenset({"code"})
SHAPES_ANSWERS = frozenset({"language", "response_style", "tone", "units", "format", "verbosity"})
"""Keys on which every answer depends: they say how to answer."""
ADDRESSES = frozenset({"preferred_name", "pronouns"})
"""Keys of how a person is spoken to and of: an answer depends on them if it greets the person or speaks for them."""
_ABOUT_ANSWERS = re.compile(
    r"\b(?:answer|answers|answering|reply|replies|respond|responses?|explanations?|explain|bullet|bullets|concise|"
    r"concisely|brief|short answers|jargon|plain words|"
    r"examples|formatting|markdown|emojis?|metric|celsius|plain language|step by step)\b",
    re.IGNORECASE,
)
_OF_THE_WORLD = re.compile(
    r"\A\s*+(?:who|when|what|what['’]s|which|why|how (?:many|much|far|tall|old|big|long|high|deep|fast|do|does|did|is"
    r"|are|can|could)|define|explain|describe|compare|outline|list|name|summari[sz]e|"
    r"translate|convert|calculate|compute|solve|is|are|was|were|does|did|do)\b",
    re.IGNORECASE,
)
_OF_THE_USER = re.compile(
    r"\b(?:i|i['’]m|i['’]d|i['’]ve|me|my|mine|we|us|our|recommend\w*|suggest\w*|best|good|nice|should|ideas?|tips?|"
    r"advice|options?|plan|choose|pick|book|buy)\b",
    re.IGNORECASE,
)
_WANTS_CHOICE = re.compile(
    r"\b(?:(?:should|could|would|can|shall|do|might) (?:i|we)\b|(?:suit|for) (?:me|us)\b|any ideas?\b|ideas? for\b"
    r"|recommend\w*|suggest\w*|help (?:me|us)\b|my (?:options|choices)\b|would you (?:choose|pick|take|do)\b"
    r"|which (?:\w+ ){0,3}(?:should|would|could|is best|are worth))|\A\W*+(?:(?:please|can you|could you|and) )*"
    r"(?:plan|book|order|find|get|rent|hire|pick|choose|select (?:me|us|an?|the|some|one)|arrange|organi[sz]e"
    r"|schedule|reserve|furnish|design|pack|put together|set up|make (?:me|us|a)|give (?:me|us)|look for|draft|compose"
    r"|write (?:me|us|an?|my|the)|sign (?:me|us)"
    r"|greet|cook|prepare|buy|send|invite|tell (?!me\b|us\b)\w|check (?:me|us))\b",
    re.IGNORECASE,
)
"""Matches a request for a choice, a plan or a draft, which depends on the asker."""
_WRITES = re.compile(
    r"\b(?:write|draft|compose|sign|reply|respond|introduce|address|greet)\b(?=.*\b(?:i|my|our|we|(?:for|as) (?:me|us)"
    r"|letters?|e-?mails?|messages?|notes?|invitations?|cards?|replies|applications?|speech|toast)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""Matches a request for a text in the asker's name."""
_TEXT_ABOUT = re.compile(r"\A\W*+(?:please )?(?:write|compose|draft)\b[^.?!\n]{1,99}\babout\b", re.IGNORECASE)
"""Matches a request for a text about a subject, which depends on the asker no more than a question about it."""
_ASKER = re.compile(
    r"\b(?:i|my|mine|we|our|ours)\b|(?<!\bgive )(?<!\btell )(?<!\bshow )(?<!\bwrite )\b(?:me|us)\b", re.IGNORECASE
)
"""Matches a request that speaks of the one who asks, beyond that the answer is given to them."""
_SCHEDULE = "schedule"
"""Topic of a request that names a day or an hour: what is wanted then is wanted by the one who asks."""
_ABSTRACT = (
    r"causes?|reasons?|examples?|effects?|symptoms?|differences?|facts?|types?|kinds?|features?|principles?|laws|rules"
    r"|properties|origins?|history|meanings?|definitions?|capitals?|signs|theories|applications|uses"
)
_WANTS_SOME = re.compile(
    r"\bwhat(?:['’]s| is| are| would be)? (?:some|a few|an? (?:\w+ )?(?:good|great|nice)|the best|good|great)\b"
    rf"(?!(?: [\w-]+){{0,3}} (?:{_ABSTRACT})\b)",
    re.IGNORECASE,
)
"""Matches a request for suggestions; one for information about a thing is none."""
LIKELY, MIN_ALIKE = 1, 0.2
"""Number of preferences that such a request gets for any words and topics: the nearest ones, of at least this cosine.
"""
UNKNOWN, MIN_UNKNOWN = 2, 0.1
"""The same if no topic of the request is known."""
_VAGUE = frozenset(terms("work use make go mean happen call name difference thing"))
"""Words that a question about the world shares with anything: a heat pump works, and so does its owner."""
_EMPTY = frozenset(
    terms(
        "i'm i’m i've i’ve i'd i’d i'll i’ll we're we’re we've we’ve we'd we’d don't don’t can't can’t it's it’s"
        " any some"
    )
)
"""Words that any two people share."""
_OF_A_FACT = re.compile(
    r"\A\W*+(?:(?:and|so|but|again|sorry|wait)\b,? )?(?:"
    r"(?:where|when|since when|how long|who) (?:do|did|have|had) (?:i|we) (?:\w+ly |now |again )?"
    r"(?:live|lived|reside|work|worked|study|studied|grow up|come from|move|moved|met|meet|bank|park|belong)\b"
    r"|(?:where|when|how (?:old|tall|long)|who) (?:am|was|were|are|is) (?:i|we|my|our)\b"
    r"|(?:what|who|where|when)(?:['’]s| is| are| was| were) (?:my|our)\b)",
    re.IGNORECASE,
)
"""Matches a question for a fact: its answer is a fact, not a choice."""
_OF_A_CHOICE = re.compile(
    r"\b(?:should|could|would|best|good|ideal|recommend\w*|suggest\w*|options?|choices?|next|ideas?)\b", re.IGNORECASE
)
_SEASON = re.compile(r"\b(?:for|over|during|before|after|until) the holidays\b", re.IGNORECASE)
"""A time of the year, which is no journey."""


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """A request, read once: its words, its topics, and those topics that it is about and does not only touch (`named`).
    Small talk has none; a question about the world (`of_the_world`) has no topics, and no words that fit everything.
    `of_asker`: it speaks of the one who asks; `addresses`: its answer greets them or speaks for them.
    """

    words: frozenset[str]
    topics: frozenset[str]
    named: frozenset[str] = frozenset()
    is_small_talk: bool = False
    wants_choice: bool = False
    of_the_world: bool = False
    is_profile: bool = False
    of_asker: bool = False
    addresses: bool = False

    @classmethod
    def from_text(cls, text: str) -> ParsedRequest:
        """Return `text` cut to its first and last `READ` characters."""
        if is_small_talk(text):
            return cls(frozenset(), frozenset(), is_small_talk=True, addresses=True)
        read = text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}"
        words = _words(without_acts(_SEASON.sub(" ", read)))
        if asks_for_profile(text):
            return cls(words, frozenset(), is_profile=True)
        if _OF_A_FACT.match(read) and not _OF_A_CHOICE.search(read):
            asked = topics_of_request(words, touching=False)
            return cls(words, asked, asked)
        of_asker, addresses = _ASKER.search(read) is not None, _WRITES.search(read) is not None
        if _TEXT_ABOUT.match(read) and not of_asker and not addresses:
            return cls(words - _VAGUE, frozenset(), of_the_world=True)
        wants_choice = _WANTS_CHOICE.search(read) is not None or _WANTS_SOME.search(read) is not None
        of_the_world = not wants_choice and _OF_THE_WORLD.match(read) is not None and not _OF_THE_USER.search(read)
        if of_the_world:
            return cls(words - _VAGUE, frozenset(), of_the_world=True)
        topics, named = topics_of_request(words), topics_of_request(words, touching=False)
        of_code = topics == _CODE
        return cls(
            words,
            topics,
            named,
            wants_choice=wants_choice and not of_code,
            of_asker=of_asker,
            addresses=addresses,
        )

    def find_concerned(self, hits: Sequence[Hit]) -> set[str]:
        """Return the ids of those of `hits` (preferences and the like) on which the answer could depend.

        A choice, a plan or a draft depends on more than words and topics show, so it also gets the nearest ones if few
        others are found.
        """
        found = {hit.memory.memory_id for hit in hits if self.depends_on(hit)}
        if self.wants_choice and (self.topics or self.speaks_of(hits)):
            found |= self._likely(hits)
        return self._without_weaker([hit for hit in hits if hit.memory.memory_id in found])

    def speaks_of(self, hits: Sequence[Hit]) -> bool:
        """Return True if the request speaks of the one who asks or of a day of theirs, or of a thing that one of `hits`
        is about.
        """
        if self.of_asker or _SCHEDULE in self.topics:
            return True
        return any(not self.words.isdisjoint(_words(hit.memory.content)) for hit in hits)

    def _likely(self, hits: Sequence[Hit]) -> set[str]:
        """Return the ids of the nearest of `hits`, whatever their words."""
        others = [
            (rank.score, hit.memory.memory_id)
            for hit in hits
            if (rank := hit.ranks.get("vector")) is not None
            and hit.memory.category != IDENTITY
            and not self._is_elsewhere(hit.memory.content)
        ]
        most, least = (LIKELY, MIN_ALIKE) if self.topics else (UNKNOWN, MIN_UNKNOWN)
        near = [one for score, one in sorted(others, reverse=True) if score >= least]
        return set(near[:most])

    def _without_weaker(self, hits: Sequence[Hit]) -> set[str]:
        """Return the ids of `hits` without those that matter far less probably than the best of them. What shapes every
        answer, a value under a key, which is too short to be like anything, and a constraint on the very topic stay.
        """
        compared = {
            hit.memory.memory_id: self._compare(
                hit.memory.content, None, hit.memory.source.quote, hit.ranks["vector"].score
            )
            for hit in hits
            if "vector" in hit.ranks and hit.memory.key is None and not shapes_answers(hit.memory)
        }
        least = BESIDE_THE_BEST * max((one.probability() for one in compared.values()), default=0.0)
        constraints = {hit.memory.memory_id for hit in hits if hit.memory.category == CONSTRAINT}
        weaker = {
            memory_id
            for memory_id, one in compared.items()
            if one.probability() < least and not (one.topic and memory_id in constraints)
        }
        return {hit.memory.memory_id for hit in hits} - weaker

    def find_nearest(self, hits: Sequence[Hit], most: int) -> list[Hit]:
        """Return the `most` nearest of `hits` that are no noise beside a choice, a plan or a draft that concerns the
        one who asks, or a thing that is known; none for another request. A reader who can tell what helps needs to see
        them, though nothing shows that they answer.
        """
        if not self.wants_choice or self.topics >= _CODE or not self.speaks_of(hits):
            return []
        near = [
            (rank.score, place, hit)
            for place, hit in enumerate(hits)
            if (rank := hit.ranks.get("vector")) is not None
            and rank.score >= MIN_UNKNOWN
            and not self._is_elsewhere(hit.memory.content)
        ]
        return [hit for _, _, hit in sorted(near, key=lambda one: (-one[0], one[1]))[:most]]

    def depends_on(self, hit: Hit) -> bool:
        """Return True if the memory could change the answer."""
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
        """Return True if `content` could change the answer; it is stored under `key`, quotes `quote`, and has this
        cosine to the request (None: unknown).
        """
        if _shapes_answers(content, key, category):
            return True
        if key in ADDRESSES and self.addresses:
            return True
        if self.is_small_talk:
            return False
        if self._is_elsewhere(content):
            return False
        alike = self._compare(content, key, quote, 0.0 if cosine is None else cosine)
        if category == IDENTITY and not alike.has_in_common:
            return cosine is not None and cosine >= ALIKE
        # A value under a key is too short to be like anything, and its topics are wide: a diet is a matter of health.
        if self.wants_choice and key is None and cosine is not None:
            personal = cosine >= MIN_UNKNOWN and (self.of_asker or bool(self.topics))
            return alike.probability() >= LEAST and (personal or alike.has_in_common)
        if alike.shared or (alike.touched if key is None else alike.topic):
            return True
        least = ALIKE if not alike.no_topic else OF_A_CHOICE if self.wants_choice else ALIKE_WITHOUT_TOPIC
        return cosine is not None and cosine >= least

    def _compare(self, content: str, key: str | None, quote: str | None, cosine: float) -> RequestSimilarity:
        ruled = rule_subject(content)
        said = _words(" ".join((without_acts(content) if ruled is None else ruled, (key or "").replace("_", " "))))
        topics = topics_of_memory(said | _words(quote or ""), key)
        return RequestSimilarity(
            cosine=cosine,
            shared=len(self.words & said),
            topic=not self.named.isdisjoint(topics),
            touched=not self.topics.isdisjoint(topics),
            no_topic=not topics,
            any_topic=not self.topics,
        )

    def _is_elsewhere(self, content: str) -> bool:
        """Return True if `content` is a rule for the choice of a thing that the request, with known topics, is not
        about.
        """
        ruled = rule_subject(content)
        if ruled is None or not self.topics:
            return False
        words = _words(ruled)
        topics = topics_of_memory(words, None)
        return bool(topics) and self.topics.isdisjoint(topics) and self.words.isdisjoint(words)


def shapes_answers(memory: Memory) -> bool:
    """Return True if every answer depends on the memory: it says how to answer, not what."""
    return _shapes_answers(memory.content, memory.key, memory.category)


def _shapes_answers(content: str, key: str | None, category: str | None) -> bool:
    worded = category in ("preference", "instruction") and _ABOUT_ANSWERS.search(content) is not None
    return key in SHAPES_ANSWERS or worded


def _words(text: str) -> frozenset[str]:
    return frozenset(_stem_words(content_words(text))) - _EMPTY


def _stem_words(words: Iterable[str]) -> list[str]:
    return terms(" ".join(words))


PERSONAL = frozenset({"preference", CONSTRAINT, IDENTITY})
"""Categories on which a choice, a plan or a draft can depend."""
LONGEST = 300
"""Maximum length, in characters, of a statement; a longer text is outside the classifier's training."""


def concerned_without_category(hits: Sequence[Hit], ask: ParsedRequest) -> list[Hit]:
    """Return those of `hits`, statements without a category and a key, on which the answer to a request for a choice
    could depend; none for other requests.
    """
    return [hit for hit in hits if _is_plain(hit) and _concerns(hit, ask)] if ask.wants_choice else []


def _is_plain(hit: Hit) -> bool:
    memory = hit.memory
    named = memory.category is not None or memory.key is not None
    return not named and memory.kind is Kind.LONG_TERM and memory.status is Status.ACTIVE and not hit.pinned


def _concerns(hit: Hit, ask: ParsedRequest) -> bool:
    """Return True if the statement is personal, likely to matter, and has a word or a topic of the request: it was not
    labelled as a preference, so its similarity alone is not enough.
    """
    content, near = hit.memory.content, hit.ranks.get("vector")
    category, cosine = _category_of(content), None if near is None else near.score
    if category not in PERSONAL or not ask.concerns(content, category=category):
        return False
    return ask.concerns(content, category=category, cosine=cosine)


@lru_cache(maxsize=4096)
def _category_of(content: str) -> str | None:
    """Return the category that the extractor would give a statement, by its words alone: 0.1 ms if it is new."""
    return None if len(content) > LONGEST else category_of(weights().opinions([content]), [content])
