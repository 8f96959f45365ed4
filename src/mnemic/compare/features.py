"""What two frames and the cosine of their texts say about each other, as numbers."""

from __future__ import annotations

from mnemic.compare.frame import SLOTS, Frame

NAMES = (
    "cosine", "cosine_cue", "shared", "shared_1", "shared_2", "echo", "end", "change", "correct", "add", "passing",
    "past", "weak_end", "weak_change", "weak_correct", "no_cue", "end_shared", "event", "event_new", "you", "you_new",
    "number", "number_only", "other_subject", "new_subject", "from_other", "attribute", "attribute_other",
    "attribute_cue", "slot", "slot_cue", "short_correct", "same_frame", "contained",
)  # fmt: skip


def features(old: Frame, new: Frame, cosine: float) -> list[float]:
    """One number for each of `NAMES`: what `new`, said later, is to `old`."""
    shared = old.stems & new.stems
    fewest = max(1, min(len(old.stems), len(new.stems)))
    strong = new.cues & {"end", "change", "correct"}
    cue = float(bool(strong))
    echo = {word for word in shared if word in old.names or word in new.names}
    mine, theirs = old.numbers, new.numbers
    number = bool(mine and theirs and theirs - mine and shared)
    same_attribute = bool(old.attributes & new.attributes)
    other_attribute = bool(old.attributes and new.attributes and not same_attribute)
    slot = any(old.slots(n) and new.slots(n) and not old.slots(n) & new.slots(n) for n in SLOTS)
    rest = len(old.stems - shared), len(new.stems - shared)
    return [
        cosine,
        cosine * cue,
        len(shared) / fewest,
        float(len(shared) >= 1),
        float(len(shared) >= 2),
        float(bool(echo)),
        float("end" in new.cues),
        float("change" in new.cues),
        float("correct" in new.cues),
        float("add" in new.cues and not strong & {"end", "correct"}),
        float("passing" in new.cues),
        float("past" in new.cues),
        float("weak_end" in new.cues and not strong),
        float("weak_change" in new.cues and not strong),
        float("weak_correct" in new.cues and not strong),
        float(not new.turns),
        float("end" in new.cues and bool(shared)),
        float(old.event),
        float(new.event and not strong),
        float(old.addresses),
        float(new.addresses),
        float(number),
        float(bool(mine and theirs and theirs - mine) and not shared),
        float(_other(old, new)),
        float(_new_name(old, new)),
        float(_from_other(old, new)),
        float(same_attribute),
        float(other_attribute),
        float(same_attribute) * cue,
        float(slot and not new.turns),
        float(slot and new.turns),
        float(bool(new.cues & {"correct", "weak_correct"}) and len(new.tokens) <= 12),
        float(len(shared) >= 1 and max(rest) <= 2 and not new.turns),
        float(bool(new.stems) and new.stems <= old.stems),
    ]


def _other(old: Frame, new: Frame) -> bool:
    """Whether `new` is about another person, who does not appear in `old`."""
    if not new.subject.startswith("other:"):
        return False
    who = new.subject.removeprefix("other:")
    if not who:
        return old.subject == "self" and not old.relations
    return who not in old.relations and who not in old.stems


def _new_name(old: Frame, new: Frame) -> bool:
    return new.subject.startswith("name:") and old.subject == "self" and new.subject[5:] not in old.stems


def _from_other(old: Frame, new: Frame) -> bool:
    """Whether `old` is about another person, and `new` about the speaker alone."""
    if not old.subject.startswith("other:") or new.subject not in ("self", "name:"):
        return False
    return old.subject.removeprefix("other:") not in new.stems and not old.names & new.stems


def apart(old: Frame, new: Frame) -> bool:
    """Whether the two are certainly about different things: about two persons, or the left and the right one."""
    mine, theirs = old.slots("sides"), new.slots("sides")
    if mine and theirs and not mine & theirs:
        return True
    who, whom = old.subject.partition("other:")[2], new.subject.partition("other:")[2]
    return bool(who and whom and who != whom and who not in new.stems and whom not in old.stems)


def moved(old: Frame, new: Frame) -> bool:
    """Whether anything in `new` bears on `old`: a word that says that something has changed; or a faint one, or none,
    and the two share what they are about, or an attribute. What only says more, or less, of the same bears on nothing;
    nor does the same of another thing ("locker 12 is mine", "locker 13 is mine").
    """
    shared = old.stems & new.stems
    if new.cues & {"end", "change", "correct"}:
        return bool(shared) or not old.event
    if new.addresses or old.addresses or old.event or shared in (old.stems, new.stems):
        return False
    if old.attributes & new.attributes or (new.turns and shared):
        return True
    return bool(old.theme) and old.theme == new.theme
