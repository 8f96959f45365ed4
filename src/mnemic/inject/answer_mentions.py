"""Mentions of a value in an answer: affirmed, rejected, or open.

Words are compared without case, apostrophes and endings of number and tense; a hyphenated word counts in one piece and
in parts; times of day and amounts of money in one spelling. A negation counts if it governs the value: in the same
clause, and not in a set phrase such as "no problem". A question that contains the value, and an answer that is only the
value and its name, leave its use open; so does a word that begins like the value.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mnemic.language.text.inflect import same_word
from mnemic.language.text.language import UNSPACED
from mnemic.language.text.pattern import Pattern


class Mention(StrEnum):
    """Way in which a value appears in an answer."""

    SAID = "said"
    DENIED = "denied"
    OPEN = "open"
    ABSENT = "absent"


REACH = 10
"""Maximum words between a negation and a value that it may govern."""
CERTAIN_REACH = 5
"""Maximum words for certain government."""
PREDICATE_REACH = 4
"""Maximum words between a value and the predicate that rejects it."""

_NEGATIONS = frozenset(
    "not no never without neither nor non none nothing nobody except excluding unlike against nunca jamás sin ni pas"
    " sans jamais nicht kein keine keinen keiner keinem nie ohne statt senza mai não nem sem cannot hardly scarcely"
    " barely nada".split()
)
_AVOIDING = frozenset(
    "avoid avoids avoided avoiding skip skips skipped skipping exclude excludes excluded excluding refuse refuses"
    " refused refusing reject rejects rejected rejecting decline declines declined declining stopped stopping"
    " ban banned banning cancel cancelled canceled ignore ignores ignored ignoring".split()
)
_PAIRED = {"of": "instead", "than": "rather", "from": "far"}
"""Words that reject the following value only together with the word before them."""
_SET_PHRASES = frozenset(
    "problem problems worry worries doubt ado only just forget forgets hesitate wait matter mind miss wrong fail later"
    " trouble problema dudas problème souci doute zweifel".split()
)
"""Set phrases that absorb a negation: "no problem", "not to worry", "never miss", "nothing wrong with"."""
_SET_PHRASE_REACH = 3
_CONTRAST = frozenset("but however yet so because since although though then therefore pero mais aber sondern".split())
_LISTED = frozenset({"or", "nor", "o", "ou", "oder"})
_AUXILIARIES = frozenset(
    "is are was were be been being am will would can could should shall may might must do does did has have had".split()
)
_PARTICIPLES = frozenset(
    "avoided excluded skipped banned rejected declined refused cancelled canceled unavailable removed dropped disabled"
    " forbidden gone full".split()
)
_MISSING = frozenset({"unavailable", "cancelled", "canceled", "gone", "impossible"})
"""Predicates without a verb in notes: "aisle unavailable"."""
_REFUSALS = frozenset({"no", "nope", "nein", "non"})
_PUT_OUT = frozenset({"switched", "turned", "ruled", "left", "called", "sold", "booked"})
"""Verbs that deny together with "off" or "out"."""
_WISHES = frozenset(
    "prefer preferred like liked love want wanted wish wished said say asked ask told mentioned requested".split()
)
_EXCEPTING = frozenset({"than", "but"})
"""Words after which a negation affirms the value that it seems to deny: "nothing other than email"."""
_COMPARED = frozenset({"other", "else", "better", "nothing", "none"})
_AFTER_GAP = frozenset("for from at here now today this then in on altogether entirely if when with".split())
_SMALL = frozenset("a an the in on at by of for with from near".split())
_CONTRACTED = {"won't": "will not", "can't": "can not", "cannot": "can not", "shan't": "shall not", "ain't": "is not"}
_ENDED = {"n't": " not", "'ll": " will", "'ve": " have", "'re": " are", "'m": " am", "'d": " would", "'s": ""}
_SAME = {"doctor": "dr", "professor": "prof", "mister": "mr"} | {
    word: str(number)
    for number, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), start=2)
}
_SAME |= dict(dollar="usd", dollars="usd", euro="eur", euros="eur", rupee="inr", rupees="inr", yen="jpy")
"""Canonical spelling of each word with several spellings."""
_ABBREVIATIONS = frozenset({"dr", "mr", "mrs", "ms", "st", "prof", "vs"})

_TOKEN = Pattern(r"\d+(?:[.,:/]\d+)+|[^\W_]+(?:\+\+|#|'[^\W_]+)*")
_CLOCK = Pattern(
    r"(?<![\d:.,])(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?\s?(?:(?P<half>[ap])\.?m\b|uhr\b)|"
    r"(?<![\d:.,])(?P<plain>\d{1,2})[:h](?P<past>[0-5]\d)(?![\d:])"
)
_MONEY = Pattern(
    r"(?:\bus)?(?P<sign>[$€£¥₹])\s?(?P<amount>\d+(?:[.,]\d+)*)|(?<![\d.,])(?P<before>\d+(?:[.,]\d+)*)\s?(?P<after>[$€£¥₹])"
)
_SIGNS = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr"}
_NO_CENTS = Pattern(r"(?<=\d)\.00(?=\s(?:usd|eur|gbp|inr|dollars?|euros?)\b)")
_ASKED = Pattern(r"[?？]")
LABEL = 3
"""Maximum words of a label before a value: "Seat: aisle"."""
SHORTEST_ALIKE = 6
"""Minimum letters of words that may be spellings of one word by their beginnings: "Lisbon" and "Lisboa"."""
_THOUSANDS = Pattern(r"\d{1,3}(?:,\d{3})+")
_UNSPACED = Pattern(f"[{UNSPACED}]")


@dataclass(frozen=True, slots=True)
class _Words:
    """Words of a text, each with the mark before it: `.` for a sentence's end, `,` for a pause, `-` for a hyphen, or
    nothing. `asked` contains the indexes of the words of its questions; `labelled` is the number of words before its
    first colon.
    """

    words: tuple[str, ...]
    gaps: tuple[str, ...]
    asked: frozenset[int] = frozenset()
    labelled: int = 0


def mention(value: str, answer: str) -> Mention:
    """Return how `value` appears in `answer`; `SAID` if at least one of its places affirms it."""
    wanted, said = _folded(value), _folded(answer)
    if _UNSPACED.search(wanted):
        return Mention.SAID if "".join(wanted.split()) in "".join(said.split()) else Mention.ABSENT
    found: set[Mention] = set()
    for joined in (False, True):
        text = _words(said, joined=joined)
        for sought in {_words(wanted, joined=False), _words(wanted, joined=True)}:
            found |= {_at(text, start, end) for start, end in _places(sought, text)}
    plain = _words(wanted, joined=False), _words(said, joined=False)
    if not found and (_is_scattered(*plain) or _is_alike(*plain)):
        return Mention.OPEN
    return next((kind for kind in (Mention.SAID, Mention.OPEN, Mention.DENIED) if kind in found), Mention.ABSENT)


def _is_scattered(sought: _Words, text: _Words) -> bool:
    """Return True if all words of a value of several words are in one sentence, but not adjacent."""
    ends = [at for at, gap in enumerate(text.gaps) if gap == "."]
    spans = zip([0, *ends], [*ends, len(text.words)], strict=True)
    return len(sought.words) > 1 and any(
        all(any(same_word(one, word) for word in text.words[start:end]) for one in sought.words) for start, end in spans
    )


def _is_alike(sought: _Words, text: _Words) -> bool:
    """Return True if the missing part of the value may be a word of the text in another spelling."""
    missing = [one for one in sought.words if not any(same_word(one, word) for word in text.words)]
    return bool(missing) and all(any(_begins_alike(one, word) for word in text.words) for one in missing)


def _begins_alike(one: str, other: str) -> bool:
    size = min(len(one), len(other))
    if size < SHORTEST_ALIKE or not (one.isalpha() and other.isalpha()):
        return False
    return one[: (size + 1) // 2] == other[: (size + 1) // 2]


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‑", "-").casefold()
    return _NO_CENTS.sub("", _MONEY.sub(_amount, _CLOCK.sub(_time, plain)))


def _time(found: re.Match[str]) -> str:
    """Return the time of day in 24-hour form; any other text unchanged."""
    hour = int(found["hour"] or found["plain"])
    if hour > (12 if found["half"] else 24) or (found["half"] and hour == 0):
        return found[0]
    hour = hour % 12 + (12 if found["half"] == "p" else 0) if found["half"] else hour
    return f"{hour}:{found['minute'] or found['past'] or '00'}"


def _amount(found: re.Match[str]) -> str:
    """Return the amount with its currency after it."""
    return f"{found['amount'] or found['before']} {_SIGNS[found['sign'] or found['after']]}"


def _words(text: str, *, joined: bool) -> _Words:
    words: list[str] = []
    gaps: list[str] = []
    asked: set[int] = set()
    end = begun = labelled = 0
    for found in _TOKEN.finditer(text):
        between, word = text[end : found.start()], found[0]
        gap = _gap(between, words[-1] if words else "")
        if gap == ".":
            asked |= set(range(begun, len(words))) if _ASKED.search(between) else set()
            begun = len(words)
        labelled = labelled or (len(words) if ":" in between else 0)
        end = found.end()
        if joined and gap == "-" and words[-1].isalpha() and word.isalpha():
            words[-1] += word
            continue
        for number, part in enumerate(_parts(word)):
            words.append(part)
            gaps.append("" if number else gap)
    asked |= set(range(begun, len(words))) if _ASKED.search(text[end:]) else set()
    return _Words(tuple(words), tuple(gaps), frozenset(asked), labelled)


def _gap(between: str, before: str) -> str:
    if any(sign in between for sign in "!?;…\n") or ("." in between and before not in _ABBREVIATIONS):
        return "."
    if any(sign in between for sign in ",:()–—") or " -" in between or "- " in between:
        return ","
    return "-" if "-" in between else ""


def _parts(word: str) -> Iterable[str]:
    """Return a contraction in its words, a possessive without its ending, a number without thousands separators."""
    if word in _CONTRACTED:
        return _CONTRACTED[word].split()
    for ending, meant in _ENDED.items():
        if word.endswith(ending) and len(word) > len(ending):
            return (word.removesuffix(ending) + meant).split()
    if _THOUSANDS.fullmatch(word):
        return [word.replace(",", "")]
    return [_SAME.get(word, word.replace("'", ""))]


def _places(sought: _Words, text: _Words) -> Iterable[tuple[int, int]]:
    """Yield the spans of the words in the text, adjacent or as "seat in the aisle"."""
    size = len(sought.words)
    for start in range(len(text.words) - size + 1) if size else ():
        if all(map(same_word, sought.words, text.words[start : start + size])) and _unbroken(sought, text, start):
            yield start, start + size
    if size == 2 and not _SMALL.intersection(sought.words):
        for start, word in enumerate(text.words):
            if same_word(word, sought.words[1]):
                yield from _turned(sought.words[0], text, start)


def _unbroken(sought: _Words, text: _Words, start: int) -> bool:
    """Return True if no sentence ends inside the words, unless one also ends in the value."""
    return all(text.gaps[start + at] != "." or sought.gaps[at] == "." for at in range(1, len(sought.words)))


def _turned(wanted: str, text: _Words, start: int) -> Iterable[tuple[int, int]]:
    """Yield the span of "Y in the X" if the value is "X Y" and Y begins at `start`."""
    at = start + 1
    while at < len(text.words) and at - start <= 2 and text.words[at] in _SMALL and not text.gaps[at]:
        at += 1
    if start + 1 < at < len(text.words) and not text.gaps[at] and same_word(text.words[at], wanted):
        yield start, at + 1


def _at(text: _Words, start: int, end: int) -> Mention:
    """Return the way in which the span mentions the value."""
    if _turned_down_after(text, start, end) or _is_refused(text, start, end):
        return Mention.DENIED
    distances = list(_negations_before(text, start))
    if not distances:
        idle = _is_repeated_wish(text, start) or _is_asked(text, start, end) or _is_bare(text, start, end)
        return Mention.OPEN if idle else Mention.SAID
    if _is_excepted(text, start):
        return Mention.SAID
    return Mention.DENIED if len(distances) == 1 and distances[0] <= CERTAIN_REACH else Mention.OPEN


def _is_refused(text: _Words, start: int, end: int) -> bool:
    """Return True if the value is in an order to drop it ("Forget email."), or a bare no follows."""
    if start and text.words[start - 1] == "forget" and (start == 1 or text.gaps[start - 1] == "."):
        return True
    refused = end < len(text.words) and text.gaps[end] in {".", ","} and text.words[end] in _REFUSALS
    return refused and (end + 1 == len(text.words) or text.gaps[end + 1] in {".", ","})


def _is_asked(text: _Words, start: int, end: int) -> bool:
    """Return True if a question contains the value and more ("Vegetarian? No problem." has no more)."""
    around = {start - 1, end} & text.asked
    return start in text.asked and any(not (at >= end and text.gaps[at] == ".") for at in around)


def _is_bare(text: _Words, start: int, end: int) -> bool:
    """Return True if the answer is the value alone, or the value after its label: an echo, which does not use it."""
    before = start == 0 or (start == text.labelled and start <= LABEL)
    return before and end == len(text.words)


def _is_repeated_wish(text: _Words, start: int) -> bool:
    """Return True if the answer only reports the value as the user's wish ("you prefer email"), but does not use it."""
    first = start
    while first > 0 and start - first < PREDICATE_REACH and text.gaps[first] not in {".", ","}:
        first -= 1
    before = text.words[first:start]
    return "you" in before and bool(_WISHES.intersection(before[before.index("you") :]))


def _is_excepted(text: _Words, start: int) -> bool:
    """Return True if a negation leaves only the value: "nothing other than email", "no way better than email"."""
    before = [word for word in text.words[max(0, start - REACH) : start] if word not in _SMALL]
    return bool(before) and before[-1] in _EXCEPTING and bool(_COMPARED.intersection(before[-4:-1]))


def _negations_before(text: _Words, start: int) -> Iterable[int]:
    """Yield the distance to the value of each negation before it that governs it."""
    words = text.words
    for at in range(start - 1, max(-1, start - 1 - REACH), -1):
        if _ends_before(text, at + 1, start):
            return
        word = words[at]
        if word in _CONTRAST or (word == "and" and at < start - 2):
            return
        paired = _PAIRED.get(word)
        denies = word in _NEGATIONS or word in _AVOIDING or (paired is not None and at > 0 and words[at - 1] == paired)
        if denies and not _is_set_phrase(words, at, start):
            yield start - at


def _ends_before(text: _Words, at: int, start: int) -> bool:
    """Return True if a clause begins at `at`: after a sentence, or after a pause that does not continue a list."""
    if text.gaps[at] == ".":
        return True
    return text.gaps[at] == "," and not _LISTED.intersection(text.words[max(at, start - 2) : start + 3])


def _is_set_phrase(words: Sequence[str], at: int, start: int) -> bool:
    return bool(_SET_PHRASES.intersection(words[at + 1 : min(start, at + 1 + _SET_PHRASE_REACH)]))


def _turned_down_after(text: _Words, start: int, end: int) -> bool:
    """Return True if the following words reject the value: "email is not used", "email is what I will avoid"."""
    clause = _clause_after(text, end)
    if not clause:
        return False
    if (clause[0] == "free" and text.gaps[end] == "-") or clause[0] in _MISSING or clause[:2] == ("no", "longer"):
        return True
    if clause[:2] in {("sold", "out"), ("booked", "out")}:
        return True
    before = text.words[max(0, start - 3) : start]
    if "out" in clause[:2] and {"left", "leave", "leaving"}.intersection(before):
        return True
    for at, word in enumerate(clause[: PREDICATE_REACH - 1]):
        if word in _AUXILIARIES:
            return _denying_predicate(clause[at + 1 :])
    return "nicht" in clause[:PREDICATE_REACH] or _ends_in_gap(clause)


def _clause_after(text: _Words, end: int) -> Sequence[str]:
    stop = end
    while stop < len(text.words) and text.gaps[stop] != "." and text.words[stop] not in _CONTRAST | {"and"}:
        if text.gaps[stop] == "," and text.words[stop] not in {"which", "that"}:
            break
        stop += 1
    return text.words[end:stop]


def _denying_predicate(rest: Sequence[str]) -> bool:
    """Return True if the words after the value's verb deny it."""
    near = rest[:PREDICATE_REACH]
    denied = next((at for at, word in enumerate(near[:2]) if word in {"not", "never", "no"}), None)
    if denied is not None:
        return not _SET_PHRASES.intersection(rest[denied + 1 : denied + 1 + _SET_PHRASE_REACH])
    put_out = bool(_PUT_OUT.intersection(near)) and bool({"off", "out"}.intersection(near))
    return put_out or bool(_PARTICIPLES.intersection(near)) or _ends_in_gap(rest)


def _ends_in_gap(clause: Sequence[str]) -> bool:
    """Return True if the clause has a verb of avoiding without an object, so that it avoids the value."""
    for at, word in enumerate(clause):
        if word in _AVOIDING and (at + 1 == len(clause) or clause[at + 1] in _AFTER_GAP):
            return True
    return False
