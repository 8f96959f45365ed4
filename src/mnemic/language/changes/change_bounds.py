"""Bounds of the change that a later statement can make to an earlier one, known before the two are compared.

A write is compared with some thirty neighbours and changes hardly any of them. The verdict depends mostly on the later
statement: its cues, its values and the number of neighbours. `ChangeBounds` computes these once. For a pair outside the
bounds, `mnemic.language.changes.change_classifier.judge` certainly finds no change; a pair inside needs a call.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, log

from mnemic.language.changes.certain_changes import may_change_certainly, rules_for
from mnemic.language.changes.change_classifier import CERTAIN, named_weights, required
from mnemic.language.changes.change_features import NAMES, OUTGROWN_COSINE, of_cues, outgrown
from mnemic.language.compare.exclusive_values import another_of_a_sort, compound_of_a_sort, compounds
from mnemic.language.frames.statement_frame import Frame
from mnemic.language.frames.vocabulary import SLOTS

_OWN = (
    "end", "change", "correct", "add", "passing", "past", "weak_end", "weak_change", "weak_correct", "no_cue",
    "event_new", "short_correct", "you_new",
)  # fmt: skip
"""Features that depend on the later statement alone."""
_CUES = NAMES[NAMES.index("end") : NAMES.index("short_correct") + 1]
_NOTHING = Frame("")
_ANY = ("you", "new_subject", "other_subject", "from_other", "attribute_other", "named_cue")
_SHARED = ("shared", "shared_1", "shared_2", "echo", "contained")
"""Features possible for any pair, and features possible for any pair with a word in common."""
_MARGIN = 1e-6
"""Tolerance, in log odds: the sum of the same numbers depends on their order."""


def changes_nothing(new: Frame) -> bool:
    """Return True if a statement changes nothing that it does not contradict: it is silent, no rule may apply to it,
    and it has no ordinal ("my third nephew").
    """
    return new.silent and (not may_change_certainly(new) or not (rules_for(new) or new.ordinals))


class ChangeBounds:
    """Bounds of one later statement for the comparison with `among` earlier ones."""

    def __init__(self, new: Frame, among: int) -> None:
        self._new, weights = new, named_weights()
        least = required(among, CERTAIN)
        self._strong = not new.cues.isdisjoint({"end", "change", "correct"})
        self._by_cosine = weights["cosine"] + weights["cosine_cue"] * self._strong
        own = dict(zip(_CUES, of_cues(_NOTHING, new, frozenset()), strict=True)) | {"you_new": new.addresses}
        certain = weights["bias"] + sum([weights[name] * own[name] for name in _OWN])
        self._missing = log(least / (1 - least)) - certain - _MARGIN
        self._attribute = _positive("attribute", "attribute_cue") if new.attributes else 0.0
        self._number = _positive("number", "number_cue") if new.numbers else 0.0
        self._number_only = _positive("number_only") if new.numbers else 0.0
        self._event = weights["event"]
        self._sign = max(0.0, weights["sign"] + weights["sign_cue"] * new.turns)
        of_any = _positive(*_ANY) + (_positive("denied") if new.denied else 0.0)
        if any(map(new.slots, SLOTS)):
            of_any += max(_positive("slot"), _positive("slot_cue"))
        of_words = _positive(*_SHARED) + (0.0 if new.turns else _positive("same_frame"))
        of_words += _positive("end_shared") if "end" in new.cues else 0.0
        self._apart = of_any + self._number_only
        self._shared = of_any + of_words + self._number + self._sign
        self._most = max(self._apart, self._shared)
        self._corrects = not new.cues.isdisjoint({"takes_back", "correct", "weak_correct"})
        self._sure = new.cues.isdisjoint({"add", "passing", "past"})
        self._revalues = self._sure and not new.cues.isdisjoint({"change", "weak_change", "correct", "takes_back"})
        self._counts = self._sure and len(new.numbers) == 1 and bool(new.counted)
        self._grows = bool(new.bears_child or new.totals or new.ordinals)
        self._switches = "change" in new.cues and bool(compounds(new))
        self._rules = rules_for(new)
        self._feeling = new.feeling
        rules = self._rules or self._corrects or self._revalues or self._counts or self._grows or self._feeling[1]
        self._ruled = bool(rules)

    @property
    def least_cosine(self) -> float:
        """Cosine below which no statement is within the bounds; minus infinity if a rule may decide."""
        if self._ruled or self._by_cosine <= 0:
            return -inf
        return (self._missing - self._most - self._attribute) / self._by_cosine

    def certainly_none(self, cosine: float) -> bool:
        """Return True if no statement at this cosine or a lower one is within the bounds."""
        most = self._by_cosine * cosine + self._most + self._attribute
        return not self._ruled and most < self._missing

    def within(self, old: Frame, cosine: float) -> bool:
        """Return True if `judge` may find a change of `old` by the statement, False if it certainly finds none."""
        missing = self._missing - self._by_cosine * cosine - self._attribute
        if missing <= self._most:  # else `old` need not be parsed for it
            shared = not old.stems.isdisjoint(self._new.stems)
            if missing <= (self._shared if shared else self._apart) and missing <= self._of_pair(old, shared=shared):
                return True
        return self._ruled and self._by_rule(old, cosine)

    def _by_rule(self, old: Frame, cosine: float) -> bool:
        """Return True if a rule may decide on the pair, whatever the sum of its features."""
        new, feeling = self._new, self._feeling
        if self._corrects or (self._revalues and self._revalued(old, cosine)):
            return True
        if self._grows and outgrown(old, new, cosine):
            return True
        if self._counts and len(old.numbers) == 1 and old.counted == new.counted:
            return True
        if feeling[1] and feeling[1] == old.feeling[1] and feeling[0] != old.feeling[0]:
            return True
        for rule in self._rules:  # noqa: SIM110  (a generator costs more than most of the rules)
            if rule(old, new):
                return True
        return False

    def _of_pair(self, old: Frame, *, shared: bool) -> float:
        """Return the maximum sum of this pair's features; minus infinity if the features never decide on it."""
        new = self._new
        if old.event and not self._strong and new.denied.isdisjoint(old.stems):
            return -inf  # a single event is over, unless a word indicates its change
        most = (self._shared if shared else self._apart) + self._event * old.event
        if old.attributes.isdisjoint(new.attributes):
            most -= self._attribute
        if not old.numbers or new.numbers <= old.numbers:
            most -= self._number if shared else self._number_only
        return most if not shared or old.negated != new.negated else most - self._sign

    def _revalued(self, old: Frame, cosine: float) -> bool:
        """Return True if both name a thing that has one value at a time."""
        new = self._new
        if (old.theme and old.theme <= new.stems) or (new.sorts and another_of_a_sort(old, new)):
            return True
        return self._switches and cosine >= OUTGROWN_COSINE and compound_of_a_sort(old, new)


@lru_cache(maxsize=64)
def _positive(*names: str) -> float:
    """Return the sum of the positive weights of these features."""
    weights = named_weights()
    return sum([max(0.0, weights[name]) for name in names])
