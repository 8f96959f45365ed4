"""Features of two frames and the cosine of their texts, which describe their relation as numbers."""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from mnemic.language.changes.ages_of_others import ages_of_two, own_count
from mnemic.language.changes.certain_changes import changes_place_in_row, of_another_object, on_other_days
from mnemic.language.changes.correction_topics import on_another_topic
from mnemic.language.changes.owners import of_two_owners
from mnemic.language.changes.relatives import acts_of_another, leaves_name, of_another_relative
from mnemic.language.compare.exclusive_values import another_of_a_sort, compound_of_a_sort, one_more_child, rambles
from mnemic.language.frames.frame_expressions import AMENDS
from mnemic.language.frames.statement_frame import Frame
from mnemic.language.frames.vocabulary import MEMBERS, SLOTS

ALIKE_FROM = 0.66
"""Minimum share of letters in the same order for one name to be a misspelling of the other."""
SHORT = 6
"""Maximum words of a statement that may consist of another day alone ("Now 9 to 19 September")."""
REGIMES = (
    "vegan", "vegetari", "vegetal", "pescatari", "omnivor", "carnivor", "veggie", "meat", "fleisch", "viande", "carne",
    "vlees",
)  # fmt: skip
"""Stems of diets, of which a person follows one at a time."""
LONGEST_CORRECTION = 12  # maximum words that retract a statement without a shared word, by a faint word alone
FEW_OTHERS = 2  # maximum unshared content words of two statements that differ in little but a value
REVALUED_COSINE, OUTGROWN_COSINE = 0.25, 0.4
"""Minimum cosines for a statement that mentions a thing to concern it, or to concern the number of things counted."""

NAMES = (
    "cosine", "cosine_cue", "shared", "shared_1", "shared_2", "echo", "same_frame", "contained",
    "end", "change", "correct", "add", "passing", "past", "weak_end", "weak_change", "weak_correct", "no_cue",
    "end_shared", "event", "event_new", "short_correct",
    "you", "you_new", "other_subject", "new_subject", "from_other",
    "number", "number_only", "attribute", "attribute_other", "attribute_cue", "slot", "slot_cue",
    "denied", "alike", "number_cue", "named_cue", "sign", "sign_cue",
)  # fmt: skip


def features(old: Frame, new: Frame, cosine: float) -> list[float]:
    """Return one number for each of `NAMES`, describing `new` (the later statement) relative to `old`."""
    shared = old.stems & new.stems
    figures = [
        *_of_words(old, new, shared, cosine),
        *of_cues(old, new, shared),
        *_of_persons(old, new),
        *_of_values(old, new, shared),
    ]
    return [float(one) for one in figures]


def _strong(new: Frame) -> frozenset[str]:
    return new.cues & {"end", "change", "correct"}


def _of_words(old: Frame, new: Frame, shared: frozenset[str], cosine: float) -> list[float]:
    """Measure the similarity of the two: `cosine` to `contained`."""
    fewest = max(1, min(len(old.stems), len(new.stems)))
    rest = max(len(old.stems - shared), len(new.stems - shared))
    return [
        cosine,
        cosine * bool(_strong(new)),
        len(shared) / fewest,
        len(shared) >= 1,
        len(shared) >= 2,
        not shared.isdisjoint(old.names | new.names),
        bool(shared) and rest <= 2 and not new.turns,
        bool(new.stems) and new.stems <= old.stems,
    ]


def of_cues(old: Frame, new: Frame, shared: frozenset[str]) -> list[float]:
    """Measure the references of the later statement to the earlier one: `end` to `short_correct`."""
    cues, strong = new.cues, _strong(new)
    return [
        "end" in cues,
        "change" in cues,
        "correct" in cues,
        "add" in cues and not strong & {"end", "correct"},
        "passing" in cues,
        "past" in cues,
        *(faint in cues and not strong for faint in ("weak_end", "weak_change", "weak_correct")),
        not new.turns,
        "end" in cues and bool(shared),
        old.event,
        new.event and not strong,
        bool(cues & {"correct", "weak_correct"}) and len(new.tokens) <= 12,
    ]


def _of_persons(old: Frame, new: Frame) -> list[float]:
    """Compare the persons of the two: `you` to `from_other`."""
    return [old.addresses, new.addresses, _other(old, new), _new_name(old, new), _from_other(old, new)]


def _of_values(old: Frame, new: Frame, shared: frozenset[str]) -> list[float]:
    """Compare the values of the two: `number` to `slot_cue`."""
    other_number = bool(old.numbers and new.numbers and new.numbers - old.numbers)
    same = bool(old.attributes & new.attributes)
    slot = any(old.slots(name) and new.slots(name) and not old.slots(name) & new.slots(name) for name in SLOTS)
    return [
        other_number and bool(shared),
        other_number and not shared,
        same,
        bool(old.attributes and new.attributes) and not same,
        same and bool(_strong(new)),
        slot and not new.turns,
        slot and new.turns,
        denied(old, new),
        alike(old, new),
        other_number and bool(shared) and bool(_strong(new)),
        bool(old.called_stems & new.called_stems) and bool(_strong(new)),
        bool(shared) and old.negated != new.negated,
        bool(shared) and old.negated != new.negated and new.turns,
    ]


def denied(old: Frame, new: Frame) -> bool:
    """Return True if `new` denies something that `old` states: "Savona, not Genoa"."""
    return not new.denied.isdisjoint(old.stems) and bool(new.stems - old.stems)


def alike(old: Frame, new: Frame) -> bool:
    """Return True if `new` corrects the spelling of a name or a long number of `old`."""
    if not new.cues & {"correct", "weak_correct"}:
        return False
    mine, theirs = new.called - old.called, old.called - new.called
    return any(near_spelling(one, other) for one in mine for other in theirs)


def near_spelling(one: str, other: str) -> bool:
    """Return True if two words differ like two spellings of one name, or a number and its misprint."""
    if one == other or one.isdigit() != other.isdigit() or abs(len(one) - len(other)) > 1:
        return False
    if one.isdigit():
        # A misprint changes a few digits of a number. With half of them different it is another number.
        unlike = sum(a != b for a, b in zip(one, other, strict=False))
        return len(one) == len(other) and unlike <= max(1, len(one) // 2 - 1)
    return one[0] == other[0] and SequenceMatcher(None, one, other, autojunk=False).ratio() >= ALIKE_FROM


def flips(old: Frame, new: Frame) -> bool:
    """Return True if a person likes something in one statement, and the same person dislikes it in the other."""
    liked, disliked = old.feeling, new.feeling
    return (
        bool(liked[0] and disliked[0] and liked[1])
        and liked[0] != disliked[0]
        and liked[1] == disliked[1]
        and old.subject == new.subject
        and all(old.slots(name) == new.slots(name) for name in MEMBERS)
        and "past" not in new.cues
    )


def recounted(old: Frame, new: Frame) -> bool:
    """Return True if `new` gives another number of the things that `old` counts: "48 members", "we're 85 members
    already". False for another person, day or side, for an added one, and for a number that is a name ("locker 12").
    """
    if len(old.numbers) != 1 or len(new.numbers) != 1 or old.numbers == new.numbers or old.event:
        return False
    mine, theirs = old.unnumbered, new.unnumbered
    # The counted thing must be shared, and not alone: "48 members" and "85 members" need one more common word.
    alone = old.subject == new.subject == "self" and bool(new.cues & {"weak_change", "change"}) and not old.names
    if not old.counted or old.counted != new.counted or not (old.counted < mine & theirs or (alone and mine == theirs)):
        return False
    if new.cues & {"add", "passing", "past"} or any(old.slots(name) != new.slots(name) for name in MEMBERS):
        return False
    if apart(old, new) or _other(old, new) or _from_other(old, new) or _new_name(old, new) or own_count(old, new):
        return False
    return mine <= theirs or theirs <= mine


def outgrown(old: Frame, new: Frame, cosine: float) -> bool:
    """Return True if `new` adds one to the number in `old` ("a third nephew was born") or gives the new total ("so five
    altogether").
    """
    if one_more_child(old, new) and not (apart(old, new) or old.subject.startswith("other:")):
        return True
    if len(old.numbers) != 1 or cosine < OUTGROWN_COSINE:
        return False
    shared = old.unnumbered & new.unnumbered
    if new.totals and shared and not new.totals <= old.numbers and (not old.event or old.counted & shared):
        return not apart(old, new)
    if old.event:
        return False
    (count,) = old.numbers
    # "Third" counts one more than "two" only if the statement reports a change, or if both are about the speaker.
    signalled = bool(new.cues & {"weak_change", "change"}) or new.subject == old.subject == "self"
    more = signalled and bool(old.counted & new.unnumbered)
    return more and count.isdigit() and new.ordinals == {str(int(count) + 1)} and not apart(old, new)


def revalued(old: Frame, new: Frame, cosine: float) -> bool:
    """Return True if `new` names the thing that has a value in `old`, another value of the same sort, and a change: "My
    rent is 850", "The rent went up to 910"; "The wedding will be in March", "We brought the wedding forward to June".
    """
    if _resorted(old, new, cosine):
        return True
    if not old.theme or not old.theme <= new.stems or cosine < REVALUED_COSINE or old.event:
        return False
    if not new.cues & {"change", "weak_change", "correct", "takes_back"} or new.cues & {"add", "passing", "past"}:
        return False
    if old.negated != new.negated or apart(old, new) or _other(old, new) or _new_name(old, new):
        return False
    days = any(old.slots(name) and new.slots(name) - old.slots(name) for name in SLOTS)
    if "change" in new.cues and old.names - old.theme and new.names - old.names - old.theme:
        return True
    # With more than two numbers it is not clear which of them the new one replaces.
    return days or (0 < len(old.numbers) <= 2 and 0 < len(new.numbers) <= 2 and bool(new.numbers - old.numbers))


def _resorted(old: Frame, new: Frame, cosine: float) -> bool:
    """Return True if `new` reports a change, and names another value of a sort than `old`."""
    # Without a word of change two values may both be true; with a word of addition, pause or past they are.
    if not new.cues & {"change", "weak_change", "correct"} or new.cues & {"add", "passing", "past"}:
        return False
    if old.event or old.negated != new.negated or rambles(new) or apart(old, new):
        return False
    if _other(old, new) or _from_other(old, new) or old.subject.startswith("other:"):
        return False
    # Two values of one class share few words ("quotes in USD", "in EUR"), and their vectors are far apart at about
    # 0.25: one further shared word, or a little similarity, is the most that can be required (decision 0026).
    if another_of_a_sort(old, new):
        shared = len(old.stems & new.stems)
        switched = "change" in new.cues and cosine >= OUTGROWN_COSINE
        return shared > 1 or switched or (shared == 1 and cosine >= REVALUED_COSINE)
    if "change" not in new.cues or cosine < OUTGROWN_COSINE or _new_name(old, new):
        return False
    return compound_of_a_sort(old, new)


def revalues(old: Frame, new: Frame) -> bool:
    """Return True if both statements cannot be true of one thing: they give an attribute, topic, number or date
    different values, use another name, deny the same thing, or share nearly all of their words.

    Statements that only share a topic ("I love ceramics", "Took my nephews to a ceramics class") are compatible.
    """
    if denied(old, new) or alike(old, new) or takes_back(old, new):
        return True
    if new.names and new.names <= old.names and old.negated == new.negated and not new.turns and not new.numbers:
        return False  # it has no name that the other lacks: "I repainted the flat in Faro"
    if new_value(old, new):
        return True
    shared, days = old.stems & new.stems, any(old.slots(one) and new.slots(one) - old.slots(one) for one in SLOTS)
    if not shared:
        # A statement this short may consist of the new date alone ("Now 9 to 19 September").
        return days and len(new.tokens) <= SHORT
    named = bool(old.names and new.names - old.stems) and not new.event
    if days or named or (old.numbers and new.numbers - old.numbers):
        return True
    # The later statement repeats all of the earlier one and adds to it: nothing is replaced.
    if old.stems <= new.stems and old.negated == new.negated:
        return False
    if old.theme and old.theme <= new.stems:
        return True
    if old.negated != new.negated and not new.event and (len(shared) > 1 or len(new.stems) <= FEW_OTHERS):
        return True
    return max(len(old.stems - shared), len(new.stems - shared)) <= FEW_OTHERS


def indifferent(old: Frame, new: Frame) -> bool:
    """Return True if `new` changes nothing, whatever its words: it gives the listener advice and `old` is about the
    speaker, or both state likes of the same person.
    """
    if denied(old, new) or new.attributes & old.attributes or old.negated != new.negated:
        return False
    if new.addresses and not new.own and old.subject == "self":
        return True
    return old.feeling[0] == new.feeling[0] == "likes" and not new.cues & {"change", "correct"} and not old.theme


def new_value(old: Frame, new: Frame) -> bool:
    """Return True if the two share an attribute, but not its value in the same words."""
    same = old.attributes & new.attributes
    # "No nuts" and "lactose-free" are both diets and both true; only regimes such as "vegan" exclude each other.
    if {"diet"} == same and _avoids(old) and _avoids(new) and not new.cues & {"end", "weak_end", "change"}:
        same = same if _regimes(old) and _regimes(new) else frozenset()
    pairs = [(old.valued(name), new.valued(name)) for name in same]
    return any(mine is None or mine != theirs or old.negated != new.negated for mine, theirs in pairs)


def _avoids(frame: Frame) -> bool:
    """Return True if the statement excludes a food."""
    return frame.negated or any(word.startswith(("intoleran", "allerg", "free", "unvertrag")) for word in frame.tokens)


def _regimes(frame: Frame) -> frozenset[str]:
    """Return the exclusive diets that the statement names. People who avoid dairy may like almond milk, so "dairy" is
    none.
    """
    return frozenset(word for word in frame.tokens if word.startswith(REGIMES))


def takes_back(old: Frame, new: Frame) -> bool:
    """Return True if `new` retracts something and gives another value of the sort that `old` has: a name for a name, a
    number for a number, a day for a day. It need not name the thing ("Wait, no. It's Ingrid.").
    """
    if not new.cues & {"takes_back", "correct", "weak_correct"} or old.event or apart(old, new):
        return False
    faint = not new.cues & {"takes_back", "correct"}
    if faint and len(new.tokens) > LONGEST_CORRECTION and not old.stems & new.stems:
        return False  # "actually" in a long sentence is as often a filler as a retraction
    days = any(old.slots(name) and new.slots(name) - old.slots(name) for name in SLOTS)
    if denied(old, new) or days:
        return True
    values = ((old.numbers, new.numbers), (old.names, new.names))
    return any(mine and theirs - mine for mine, theirs in values) and not on_another_topic(old, new)


def _other(old: Frame, new: Frame) -> bool:
    """Return True if `new` is about another person, who does not appear in `old`."""
    if not new.subject.startswith("other:"):
        return False
    who = new.subject.removeprefix("other:")
    if not who:
        return old.subject == "self" and not old.relations
    return who not in old.relations and who not in old.stems


def _new_name(old: Frame, new: Frame) -> bool:
    return new.subject.startswith("name:") and old.subject == "self" and new.subject[5:] not in old.stems


def _from_other(old: Frame, new: Frame) -> bool:
    """Return True if `old` is about another person, and `new` about the speaker alone."""
    if not old.subject.startswith("other:") or new.subject not in ("self", "name:"):
        return False
    return old.subject.removeprefix("other:") not in new.stems and not old.names & new.stems


@lru_cache(maxsize=64)
def apart(old: Frame, new: Frame) -> bool:
    """Return True if the two are certainly about different things: two persons, sides, ordinals or days."""
    # The earlier statement is searched only for classes that the later one has.
    if (new.slots("sides") and _disjoint(old.slots("sides"), new.slots("sides"))) or _two_of_a_sort(old, new):
        return True
    # Ordinals distinguish things ("the second child") unless they are the values themselves ("first class").
    if new.ordinals and _disjoint(old.ordinals, new.ordinals) and not _is_in_row(old, new):
        return True
    if on_other_days(old, new) or of_another_object(old, new) or of_two_owners(old, new):
        return True
    if of_another_relative(old, new) or acts_of_another(old, new) or leaves_name(old, new) or ages_of_two(old, new):
        return True
    who, whom = old.subject.partition("other:")[2], new.subject.partition("other:")[2]
    return bool(who and whom and who != whom and who not in new.stems and whom not in old.stems)


def _is_in_row(old: Frame, new: Frame) -> bool:
    """Return True if the ordinals of the two are values, and the later one replaces the earlier one."""
    ranked = old.sort("classes") and new.sort("classes")
    return bool(ranked or AMENDS.match(new.plain) or changes_place_in_row(new))


def _disjoint(mine: frozenset[Any], theirs: frozenset[Any]) -> bool:
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _two_of_a_sort(old: Frame, new: Frame) -> bool:
    """Return True if the statements name different members of one class. A correction, and a statement that names both
    members, may still concern the same thing.
    """
    if "correct" in new.cues or not any(new.head.values()):
        return False
    return any(
        mine and new.head[name] and not mine & (new.head[name] | new.slots(name)) for name, mine in old.head.items()
    )


def at_other_times(old: Frame, new: Frame) -> bool:
    """Return True if the two name other days, parts of the day, seasons or months, and no word indicates a change: "I
    work on weekdays", "I don't work on weekends".
    """
    times = [(old.slots(name), new.slots(name)) for name in SLOTS]
    # A word of change overrides this: "I used to work on weekdays, now on weekends" is one schedule.
    return not new.turns and any(mine and theirs and not mine & theirs for mine, theirs in times)


def moved(old: Frame, new: Frame) -> bool:
    """Return True if something in `new` concerns `old`: a strong word of change, or a weak one (or none) together with
    a shared topic or attribute. A statement that only intensifies or weakens the same does not, and neither does one
    about another thing ("locker 12 is mine", "locker 13 is mine").
    """
    shared = old.stems & new.stems
    if denied(old, new) or alike(old, new):
        return True
    if new.cues & {"end", "change", "correct"}:
        return bool(shared) or not old.event
    if new.addresses or old.addresses or old.event:
        return False
    # One statement contains all words of the other, so it only intensifies or repeats it.
    if shared in (old.stems, new.stems) and not (new.turns and old.negated != new.negated):
        return False
    if old.attributes & new.attributes or (new.turns and shared):
        return True
    return bool(old.theme) and old.theme == new.theme
