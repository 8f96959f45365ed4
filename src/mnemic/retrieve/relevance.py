"""Judgement on whether anything relevant is known: "nothing" is an answer, although a search always has a nearest hit.

A query that names an entity and a relation of it, both known, is answered for any wording. Otherwise two signals from
lists that exist anyway decide: the best cosine, and the best BM25 score for each word of the query. A logistic scale
turns them into a number from 0 to 1. It was fitted on the dev halves of LoCoMo and BEAM: questions about a conversation
against questions about another one, both asked of it. bench/retrieval.md reports its results on the test
halves and its limits. Statements are judged by the same scale, messages of a conversation by
`mnemic.retrieve.message_relevance`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import islice
from operator import itemgetter
from types import MappingProxyType

from mnemic.language.questions.attributes import asked_keys
from mnemic.language.questions.word_fields import language_asked_in
from mnemic.language.text.language import in_latin_letters
from mnemic.retrieve.category_members import INSTANCES
from mnemic.retrieve.fusion import rarity
from mnemic.retrieve.graph_neighbourhood import GRAPH, SAID
from mnemic.retrieve.message_relevance import MESSAGE_SCALE, best_first
from mnemic.retrieve.question import Question
from mnemic.types import Scored, Signals, VectorSpace

SCORE = itemgetter(1)
_OF_SEARCH = ("vector", "keyword")
"""Lists with best scores that show whether anything is known."""
NOTHING: Mapping[str, float] = MappingProxyType({})
NO_SIGNALS: Mapping[str, Signals] = MappingProxyType({})

RELATED = 0.5
"""Least relevance if the query names a known relation: more likely than not."""

A_MEMBER = 0.2
"""Least relevance of a statement that names an instance of the kind of thing that the query asks for."""

MIN_MEMORIES = 30
"""Number of memories below which a word is weaker evidence (BM25 depends on its rarity) and the best cosine of an
unrelated memory is lower: scores are adjusted as if there were as many, and by `FEW`.
"""
MANY_MEMORIES = 100
"""Number of memories from which their number makes no difference: as many as the list of meaning has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceScale:
    """Worth of a point of cosine, and of a point of BM25 for each word."""

    cosine: float = 0.0
    word: float
    base: float

    def relevance(self, cosine: float, word: float) -> float:
        """0 to 1."""
        # Logistic regression: the fit gives the weights, this the probability.
        return 1 / (1 + math.exp(-(self.cosine * cosine + self.word * word + self.base)))

    def towards(self, other: RelevanceScale, part: float) -> RelevanceScale:
        """Return the scale at this share (0 to 1) of the way from this one to `other`."""
        ours, theirs = astuple(self), astuple(other)
        cosine, word, base = (one + part * (two - one) for one, two in zip(ours, theirs, strict=True))
        return RelevanceScale(cosine=cosine, word=word, base=base)


DEFAULT_MODEL = "all-MiniLM-L6-v2-int8"
NO_MODEL = ""
"""Scale in place of the default model's for a query in letters that the model does not know: its cosines are hardly
evidence.
"""
OTHER_LANGUAGE = "other language"
"""The same for a query in Latin letters and another language than English: its cosines, read against the background of
the scope, are weak evidence, the share of its words strong. Fitted to half of 200 questions in five languages.
"""
ROMANCE_LANGUAGE = "romance language"
"""The same for a Romance language, whose texts the default model places nearer to each other than German ones."""
_ROMANCE = frozenset({"french", "spanish", "italian", "portuguese", "romanian", "catalan"})
ANOTHER_MODEL = "*"
"""Every model with cosines on the default scale and against the background of the scope."""
_LIKE_THE_DEFAULT = frozenset({ANOTHER_MODEL, OTHER_LANGUAGE, ROMANCE_LANGUAGE})
"""Scales on which the messages of a conversation are judged as with the default model."""
SCALES: Mapping[str, RelevanceScale] = MappingProxyType(
    {
        # Fitted on the dev halves of LoCoMo and BEAM (bench/retrieval.md).
        DEFAULT_MODEL: RelevanceScale(cosine=16.5, word=2.83, base=-9.4),
        ANOTHER_MODEL: RelevanceScale(cosine=16.5, word=2.83, base=-7.0),
        # Decision 0033, fitted on half of 200 questions about parallel texts in five languages.
        OTHER_LANGUAGE: RelevanceScale(cosine=10.0, word=5.0, base=-7.5),
        ROMANCE_LANGUAGE: RelevanceScale(cosine=10.0, word=5.0, base=-7.5),
        # Decision 0033: unknown pieces make texts of one script a little nearer, so the cosine keeps some weight.
        NO_MODEL: RelevanceScale(cosine=4.0, word=9.0, base=-6.9),
    }
)
"""By the model that makes the vectors: cosines of two models cannot be compared."""
FEW: Mapping[str, RelevanceScale] = MappingProxyType(
    {
        DEFAULT_MODEL: RelevanceScale(cosine=16.5, word=2.83, base=-6.8),
        OTHER_LANGUAGE: SCALES[OTHER_LANGUAGE],
        ROMANCE_LANGUAGE: SCALES[ROMANCE_LANGUAGE],
        ANOTHER_MODEL: RelevanceScale(cosine=16.5, word=2.83, base=-6.2),
        NO_MODEL: RelevanceScale(word=4.63, base=-1.6),
    }
)
"""The same among few memories; scores of other models are not judged there."""
OF_A_CHAT = 2.4
"""Lowering of the base of `ANOTHER_MODEL` for many messages in the language of the question, English: back to that of
the default model. Its own base is that of questions in another language than the memories', whose cosines are lower.
"""
WORDS_ALONE = RelevanceScale(word=4.63, base=-3.31)
"""For every other model."""


def _scale_of(model: str, memories: int) -> RelevanceScale | None:
    """Return the scale of a model for this number of memories; None if it has none for few.

    From `MIN_MEMORIES` to `MANY_MEMORIES` the scale changes with the logarithm of their number, so that no single
    memory makes a difference. Read against a background, cosines do not depend on their number.
    """
    if memories < MIN_MEMORIES:
        return FEW.get(model)
    few, many = FEW.get(model), SCALES.get(model, WORDS_ALONE)
    if few is None or model == ANOTHER_MODEL or memories >= MANY_MEMORIES:
        return many
    return few.towards(many, _way_to_many(memories))


def _way_to_many(memories: int) -> float:
    """Return the place of this number between few and many memories, 0 to 1, by its logarithm."""
    passed = math.log(max(1, memories) / MIN_MEMORIES) / math.log(MANY_MEMORIES / MIN_MEMORIES)
    return min(1.0, max(0.0, passed))


def _by_words(
    gauge: RelevanceModel, lists: Mapping[str, Sequence[Scored]], model: str, judged: Mapping[str, float]
) -> Mapping[str, float]:
    """Return the relevances of the statements that were read (`judged`). Among many memories a multilingual model finds
    the answer without them, and they lose answers: its own scale gains weight with the number.
    """
    passed = _way_to_many(gauge.memories) if model == ANOTHER_MODEL and judged else 0.0
    if not passed:
        return judged
    plain = gauge.relevances(lists, judged)
    return {one: round(share + passed * (plain[one] - share), 4) for one, share in judged.items()}


def measured_with(space: VectorSpace, question: Question) -> str:
    """Return the name of the model on whose scale the cosines of `space` are read: the default one, its own,
    `ANOTHER_MODEL`, or `OTHER_LANGUAGE`, `ROMANCE_LANGUAGE` or `NO_MODEL` for queries that the default one reads
    badly.
    """
    if space.model == DEFAULT_MODEL and not in_latin_letters(question.text):
        return NO_MODEL
    if space.model == DEFAULT_MODEL and (language := language_asked_in(question.text)) is not None:
        return ROMANCE_LANGUAGE if language in _ROMANCE else OTHER_LANGUAGE
    return ANOTHER_MODEL if space.scale else space.model


@dataclass(frozen=True, slots=True)
class ReadAnswers:
    """Relevances of the first memories, of which a judge has read whether they answer
    (`mnemic.retrieve.answer_judgement`). It does not read those `apart`.
    """

    relevances: Mapping[str, float] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.relevances)

    def apply(self, found: Mapping[str, float]) -> dict[str, float]:
        """Return the relevances `found` with those that were read in their place: what was not resembles the question
        less than they do.
        """
        least = min(self.relevances.values())
        return {
            one: self.relevances.get(one, share if one in self.apart else min(share, least))
            for one, share in found.items()
        }


NOT_READ = ReadAnswers()


def are_complete(lists: Mapping[str, Sequence[Scored]]) -> bool:
    """Return True if there are memories and no list that tells whether anything is known has failed."""
    return bool(lists.get("vector")) and lists.get("keyword") is not None


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """The scale of one search: by the model of the vectors, the number of memories and the words of the query."""

    scale: RelevanceScale
    per_word: float
    memories: int

    @classmethod
    def from_lists(cls, lists: Mapping[str, Sequence[Scored]], question: Question, model: str) -> RelevanceModel | None:
        """Return None if nothing can be judged: without a query or a memory, among few memories of an unknown model, or
        if a list failed.
        """
        nearest = lists.get("vector")
        if not nearest or not are_complete(lists):
            return None
        # The list of meaning contains every memory of a scope this small, so its length is their number.
        few = len(nearest) < MIN_MEMORIES
        scale = _scale_of(model, len(nearest))
        if scale is None:
            return None
        words = max(1, question.words)
        return cls(scale, (rarity(MIN_MEMORIES) / rarity(len(nearest)) if few else 1.0) / words, len(nearest))

    def for_numbers_only(self) -> RelevanceModel:
        """Return the model for the messages of a chat in the language of the question, by their number."""
        scale = replace(self.scale, base=self.scale.base - OF_A_CHAT * _way_to_many(self.memories))
        return replace(self, scale=scale)

    def relevance(self, cosine: float, score: float) -> float:
        """0 to 1, of a cosine and a BM25 score."""
        return round(self.scale.relevance(cosine, score * self.per_word), 4)

    def relevances(self, lists: Mapping[str, Sequence[Scored]], among: Iterable[str]) -> dict[str, float]:
        """Return the probability that each of the memories, which are statements, is about the query."""
        if not (named := list(among)):
            return {}
        cosines, scores = (dict(lists.get(name, ())) for name in ("vector", "keyword"))
        # `RelevanceScale.relevance`, inlined: a search calls it a hundred times and more.
        scale, per_word, exp = self.scale, self.per_word, math.exp
        cosine, word, base = scale.cosine, scale.word, scale.base
        return {
            one: round(
                1 / (1 + exp(-(cosine * cosines.get(one, 0.0) + word * (scores.get(one, 0.0) * per_word) + base))), 4
            )
            for one in named
        }


def relevances(
    lists: Mapping[str, Sequence[Scored]],
    scores: Mapping[str, float],
    signals: Mapping[str, Signals],
    question: Question,
    model: str,
    best: int | None = None,
    order: Sequence[str] | None = None,
    judged: Mapping[str, float] = NOTHING,
    answers: ReadAnswers = NOT_READ,
) -> dict[str, float]:
    """Return the probability that each memory of `scores` (the ranking, 0 to 1) concerns the query; empty if it cannot
    be judged (`RelevanceModel`).

    It is at least `RELATED` if the query spells the memory's key, or if it answers according to the graph. `signals`
    are those of the messages, which have a separate scale; only the `best` first messages are judged. `order`: the
    memories, best first, if they are in order already. `judged`: statements that were read
    (`mnemic.retrieve.content_judgement`). `answers`: what a judge has read.
    """
    gauge = RelevanceModel.from_lists(lists, question, model)
    if gauge is None:
        return answers.apply(dict.fromkeys(scores, 1.0)) if answers and not answers.apart else {}
    found = gauge.relevances(lists, [one for one in scores if one not in signals and one not in judged])
    judged = _by_words(gauge, lists, model, {one: share for one, share in judged.items() if one in scores})
    found |= judged
    if signals:
        likened = DEFAULT_MODEL if model in _LIKE_THE_DEFAULT else model
        order = best_first(scores) if order is None else order
        among = None if best is None else list(islice(filter(signals.__contains__, order), best))
        by_messages = MESSAGE_SCALE.relevances(
            lists, scores, signals, question, per_word=gauge.per_word, model=likened, among=among, order=order
        )
        found |= by_messages
    if answers:
        found = answers.apply(found)
    for memory_id in _members(lists):
        if memory_id in found and memory_id not in signals:
            found[memory_id] = max(found[memory_id], A_MEMBER)
    # Evidence by name outweighs similarity: the query spells the key, or the graph has the relation.
    said = {entry.memory_id for entry in lists.get("key", ())}
    said |= {entry.memory_id for entry in lists.get(GRAPH, ()) if entry.score >= SAID}
    return found | {one: max(found[one], RELATED) for one in said & found.keys()} if said else found


def relevance(
    lists: Mapping[str, Sequence[Scored]],
    question: Question,
    model: str,
    scores: Mapping[str, float] = NOTHING,
    signals: Mapping[str, Signals] = NO_SIGNALS,
    order: Sequence[str] | None = None,
    judged: Mapping[str, float] = NOTHING,
    plain_chat: bool = False,
    answers: ReadAnswers = NOT_READ,
) -> float | None:
    """Return the probability (0 to 1) that anything about the query is known; None if it cannot be judged
    (`RelevanceModel`).

    `scores` and `signals` of the messages show whether they concern the person in question; `order` and `judged`: as in
    `relevances`. Of statements that were read the best decides, and cosines and words only of messages; of `answers`
    the best, and of those apart from them. `plain_chat`: the messages are in the language of the question,
    English.
    """
    gauge = RelevanceModel.from_lists(lists, question, model)
    if gauge is None:
        return max(answers.relevances.values()) if answers and not answers.apart else None
    if answers:
        said = gauge.for_numbers_only() if plain_chat and model == ANOTHER_MODEL else gauge
        known = _known_relevance(said, lists, lambda one: one.memory_id in answers.apart)
    elif plain_chat and model == ANOTHER_MODEL:
        of_messages = _known_relevance(gauge.for_numbers_only(), lists, lambda one: one.memory_id in signals)
        known = max(of_messages, _known_relevance(gauge, lists, lambda one: one.memory_id not in signals))
    else:
        known = _known_relevance(gauge, lists, (lambda one: one.memory_id in signals) if judged else None)
    if signals:
        known = round(known * MESSAGE_SCALE.agreement(scores, signals, question, order), 4)
    known = max((known, *_by_words(gauge, lists, model, judged).values(), *answers.relevances.values()))
    if known < A_MEMBER and any(one not in signals for one in _members(lists)):
        known = A_MEMBER  # the relevance of a hit is known: a search that abstained with it would contradict itself
    related = max((entry.score for entry in lists.get(GRAPH, ())), default=0.0) >= SAID
    related = related or bool(lists.get("key") and asked_keys(question.text))
    return max(known, RELATED) if related else known


def _known_relevance(
    gauge: RelevanceModel, lists: Mapping[str, Sequence[Scored]], among: Callable[[Scored], bool] | None = None
) -> float:
    """Return the relevance of the best cosine and the best words, of those `among` alone if it is given."""
    cosines, words = (list(map(SCORE, filter(among, lists[name]) if among else lists[name])) for name in _OF_SEARCH)
    return gauge.relevance(max(cosines), max(words, default=0.0)) if cosines else 0.0


def _members(lists: Mapping[str, Sequence[Scored]]) -> list[str]:
    """Return the memories that name an instance of the kind of thing that the query asks for."""
    return [one.memory_id for one in lists.get(INSTANCES, ()) if one.score > 0.0]
