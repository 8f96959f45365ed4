"""Classifier of pairs of statements: decides if a later one supersedes an earlier one.

A logistic model over features of the two frames and the cosine of their texts
(`mnemic.language.changes.change_features`), with its weights in `data/weights.json`;
`mnemic_eval.train_change_classifier` trains them on generated sentences. Certain rules run first: questions, quotations
and hypothetical statements change nothing, and neither does a repetition.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log, log1p
from operator import mul
from pkgutil import get_data
from typing import Protocol

from mnemic.language.changes import KEPT, MIN_COSINE
from mnemic.language.changes.agreement import agree, is_faint
from mnemic.language.changes.certain_changes import (
    adds_another,
    is_limited,
    may_change_certainly,
    moves_only,
    rules_for,
)
from mnemic.language.changes.change_evidence import moves_where_known
from mnemic.language.changes.change_features import (
    NAMES,
    alike,
    apart,
    at_other_times,
    denied,
    features,
    flips,
    indifferent,
    moved,
    outgrown,
    recounted,
    revalued,
    revalues,
    takes_back,
)
from mnemic.language.compare.frequencies import another_frequency
from mnemic.language.ended_facts.ended_by_others import tells_such_end
from mnemic.language.ended_facts.ended_objects import ends_something_else
from mnemic.language.ended_facts.left_jobs import leaves_work
from mnemic.language.frames.conditional import depends
from mnemic.language.frames.frame_expressions import DISPUTES, FROM_NOW_ON
from mnemic.language.frames.statement_frame import Frame
from mnemic.language.frames.vocabulary import plain

STRONG = frozenset({"end", "weak_end", "change", "correct"})
"""Cues that explicitly end or replace a fact."""
UNTURNED_COSINE = 0.3
"""Minimum cosine if the new statement has no cue for a change."""
NAMED_COSINE = 0.2
"""Minimum cosine if a language model has named the earlier statement."""
CERTAIN = 0.5
"""Minimum probability for superseding a statement."""
OPPOSED = 0.25
"""The same if words contradict each other and few neighbours are compared: in a long chat words often contradict."""
LONG, SHARED = 12, 0.15
"""Minimum content words of a paragraph, and minimum share of common words of two paragraphs on one topic."""
_STOPS = " .!"
MAX_CORRECTION_WORDS = 12
"""Maximum length, in words, of a pure correction."""
FEW = 6
"""Maximum number of neighbours for ignoring chance resemblance."""
CROWD, CROWDED = 1.5, 4
"""Addition to the threshold in log odds: `CROWD * ln(1 + excess / CROWDED)` for `excess` neighbours beyond `FEW`. In a
long chat many statements resemble each other.
"""


@dataclass(frozen=True, slots=True)
class Change:
    """Change of an earlier statement by a later one: `how` is `ended`, `corrected` or `changed`."""

    how: str
    probability: float


def judge(old: Frame, new: Frame, cosine: float, *, among: int = 1, opposed: bool = False) -> Change | None:
    """Judge the effect of `new`, a later statement of the same speaker, on `old`; None if `old` remains valid.

    `among` is the number of neighbours that `new` is compared with: with more of them a chance resemblance is likelier,
    so the threshold rises. `opposed`: the words of the two contradict each other, so the threshold falls.
    """
    # The cheap exclusions come first: most of the 24 to 32 neighbours of a statement are ruled out before any feature
    # is computed (decision 0004).
    if new.plain in old.plain or (new.silent and not opposed and not may_change_certainly(new)):
        return None  # a repetition of a part of `old`, or no effect
    if strangers(old, new) or new.bygone or is_limited(new) or depends(old, new) or ends_something_else(old, new):
        return Change("changed", 1.0) if another_frequency(old, new) else None
    # A contradiction in words counts only if both statements apply to the same occasion. Rules that alone are certain:
    # a like turned into a dislike, another number of the same things.
    if flips(old, new) or recounted(old, new) or another_frequency(old, new):
        return Change("changed", 1.0)
    if any(rule(old, new) for rule in rules_for(new)) and not apart(old, new):
        return Change(_how(new), 1.0)
    if revalued(old, new, cosine) or outgrown(old, new, cosine):
        return Change(_how(new), 1.0)
    if adds_another(old, new):
        return None
    opposed = (opposed and not at_other_times(old, new)) or (cosine >= UNTURNED_COSINE and _corrects(old, new))
    # The model decides everything else; `mnemic_eval.train_change_classifier` trains it on these features.
    probability = _unless_apart(old, new, cosine, opposed=opposed)
    if opposed and probability and old.stems == new.stems:
        probability = 1.0  # identical except for the contradiction: the number of neighbours is irrelevant
    # `apart` is checked last: it takes longer than the features, and most pairs are improbable.
    if probability < required(among, OPPOSED if opposed and among <= FEW else CERTAIN) or apart(old, new):
        return None
    # A high probability alone is not enough: without a strong word of change or another value, two statements on one
    # topic usually remain valid together.
    if _is_contained(old, new) if opposed else not _is_evident(old, new, among):
        return None
    return Change(_how(new), probability)


def _is_evident(old: Frame, new: Frame, among: int) -> bool:
    """Return True if a probable change is evident: the two differ in a value or a strong word indicates it, and a faint
    word is not the only evidence among many neighbours.
    """
    if indifferent(old, new) or moves_only(old, new) or moves_where_known(old, new):
        return False
    if not (new.cues & STRONG or revalues(old, new)):
        return False
    # "I used to work as a clerk, but I quit" ends a former job, and no present one.
    if {"past", "end"} <= new.cues and old.stems.isdisjoint(new.stems):
        return False
    return among <= FEW or not is_faint(new) or agree(old, new)


def _is_contained(old: Frame, new: Frame) -> bool:
    """Return True if the earlier statement contains the content of the later one, with the same sign."""
    return new.stems < old.stems and old.negated == new.negated and not new.turns


def strangers(old: Frame, new: Frame) -> bool:
    """Return True for two paragraphs with hardly a content word in common. Almost any paragraph contains a word of
    change, ending or denial, and a monolingual embedder rates paragraphs in another language as similar, so neither is
    evidence.
    """
    if len(new.stems) < LONG:
        return False  # checked first: most earlier statements need not be parsed for it
    fewest = min(len(old.stems), len(new.stems))
    return fewest >= LONG and len(old.stems & new.stems) < SHARED * fewest


def _corrects(old: Frame, new: Frame) -> bool:
    """Return True if `new` retracts `old` and shares a content word with it, or is a pure correction by its length."""
    return takes_back(old, new) and (bool(old.stems & new.stems) or len(new.tokens) <= MAX_CORRECTION_WORDS)


def _how(new: Frame) -> str:
    """Return the kind of change, by the cues of the newer statement."""
    if new.cues & {"correct", "weak_correct"}:
        return "corrected"
    ends = new.cues & {"end", "weak_end"} or leaves_work(new) or tells_such_end(new)
    return "ended" if ends else "changed"


def bears(old: Frame, new: Frame, cosine: float) -> bool:
    """Return True if `new` may change `old`, given that a model has read both and found a change: no rule excludes it,
    and they share a word, an attribute or enough meaning.
    """
    if old.plain == new.plain or apart(old, new):
        return False
    shared = old.stems & new.stems or old.attributes & new.attributes
    if shared or cosine >= NAMED_COSINE or takes_back(old, new):
        return True
    return any(rule(old, new) for rule in rules_for(new))


@lru_cache(maxsize=1024)
def required(among: int, alone: float = CERTAIN) -> float:
    """Return the minimum probability for a comparison of `among` statements, if `alone` is the one for a single one."""
    odds = log(alone / (1 - alone)) + CROWD * log1p(max(0, among - FEW) / CROWDED)
    return 1.0 / (1.0 + exp(-odds))


def likelihood(old: Frame, new: Frame, cosine: float, *, opposed: bool = False) -> float:
    """Return the probability that `new` supersedes `old`, 0 to 1; `opposed` as in `judge`."""
    probability = _unless_apart(old, new, cosine, opposed=opposed)
    return 0.0 if probability and apart(old, new) else probability


def _unless_apart(old: Frame, new: Frame, cosine: float, *, opposed: bool) -> float:
    """Return the likelihood of a change, if the two are about the same thing."""
    if not (old.stems and new.stems):
        return 0.0
    if cosine < (MIN_COSINE if new.turns else UNTURNED_COSINE) and not (denied(old, new) or alike(old, new)):
        return 0.0
    if old.plain == new.plain or not (opposed or moved(old, new) or takes_back(old, new)):
        return 0.0
    bias, *weights = _weights()
    total = bias + sum(map(mul, weights, features(old, new, cosine)))
    return 1.0 / (1.0 + exp(-total)) if total > -30 else 0.0


class Source(Protocol):
    """A source with the quoted words of a statement, if known."""

    @property
    def quote(self) -> str | None:
        """The words, None if they are not known."""


class StoredStatement(Protocol):
    """A stored statement: its content, its key if it is a value, and its source."""

    @property
    def content(self) -> str:
        """The statement, or the value of its key."""

    @property
    def key(self) -> str | None:
        """The key if the content is its value, else None."""

    @property
    def source(self) -> Source:
        """The origin of the statement."""


def frame_of(memory: StoredStatement) -> Frame:
    """Return the frame of a memory: of its words with those of its key, or of the quote that it comes from."""
    return framed(memory.content, memory.key, memory.source.quote)


@lru_cache(maxsize=KEPT)
def framed(content: str, key: str | None = None, quote: str | None = None) -> Frame:
    """Return the frame of a content; for a value under a key, of the quote that it comes from. An opening of the quote
    that states a beginning ("from now on") or disputes something else is included.
    """
    if key is None:
        return Frame(quote if quote is not None and quote != content and _is_opened(quote, content) else content)
    return Frame(quote if quote and len(quote) > len(content) else f"{key.replace('_', ' ')}: {content}")


def _is_opened(quote: str, content: str) -> bool:
    if not quote.rstrip(_STOPS).casefold().endswith(content.rstrip(_STOPS).casefold()):
        return False
    return FROM_NOW_ON.match(quote) is not None or DISPUTES.match(plain(quote)) is not None


def cosine_of(one: bytes | None, other: bytes | None) -> float:
    """Return the cosine of two vectors of unit length; 0 if either is missing."""
    if one is None or other is None or len(one) != len(other):
        return 0.0
    total: float = sum(map(mul, array("f", one), array("f", other)))
    return total


@lru_cache(maxsize=1)
def _weights() -> tuple[float, ...]:
    """Return the bias, then the weights in the order of `NAMES`."""
    text = get_data(__package__, "data/weights.json") or b"{}"
    found: dict[str, float] = json.loads(text)["weights"]
    return tuple(found[name] for name in ("bias", *NAMES))


@lru_cache(maxsize=1)
def named_weights() -> Mapping[str, float]:
    """Return the weight of each of the features, and the `bias`."""
    return dict(zip(("bias", *NAMES), _weights(), strict=True))
