"""Parts of a statement, and the ones that remain true after a later statement.

"I live in Lisbon with my dog Rex" and "I moved to Porto": the home has changed, the dog has not. A statement is split
at a list, a clause or a companion, in seven languages; a part remains if nothing in the later statement concerns it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mnemic.language.changes import KEPT
from mnemic.language.changes.change_features import denied
from mnemic.language.changes.labelled_lists import in_row
from mnemic.language.compare.exclusive_values import another_of_a_sort
from mnemic.language.compare.same_category import may_be_about, touched_by_sort
from mnemic.language.frames.adverbials import FREQUENCIES, begins_timed, says_only_when, time_first
from mnemic.language.frames.back_references import OTHERS, RELATIVE, refers_back
from mnemic.language.frames.frame_expressions import DUTCH, PRESENT
from mnemic.language.frames.predicates import PREPOSITION, predicate_of
from mnemic.language.frames.stated_frame import PlainlySpokenFrame, StatedFrame, about_a_name
from mnemic.language.frames.stated_part import speaks_plainly, states_all
from mnemic.language.frames.statement_frame import Frame, relation_stems, stem
from mnemic.language.frames.vocabulary import person_words, plain, word_classes
from mnemic.language.text.lazy_property import lazy_property

LONGEST = 400  # maximum characters of a statement for a split; a longer one is closed as a whole
_MINE = (
    r"(?:my|our|mein\w{0,2}|unser\w{0,2}|mon|ma|mes|notre|nos|mi|mis|nuestr[oa]s?|(?:(?:il|la|i|le|o|a|os|as) )?"
    r"(?:mi[oae]|miei|nostr[oaie]|meus?|minhas?|noss[oa]s?)|mijn|onze|ons)"
)
_COUNT = (
    r"(?:\d{1,3}|two|three|four|five|six|zwei|drei|vier|fünf|deux|trois|quatre|cinq|dos|tres|cuatro|due|tre|quattro|dois"
    r"|duas|três|twee|drie)"
)
_ARTICLE = (
    r"(?:an?|the|one|ein\w{0,2}|der|die|das|den|dem|une?|l[ea]s?|l'|el|los|una?s?|unos|uno|il|lo|gli|i|um|uma|os?|as?"
    r"|een|het|de)"
)
_BUT = r"(?:but|while|whereas|aber|während|mais|tandis que|pero|mientras(?: que)?|ma|mentre|mas|enquanto|maar|terwijl)"
_WITH = r"(?:with|mit|avec|con|com|met)"
_CUT = (
    r"(?=[.!?;,\s])(?:"  # a check that fails at most places of a text
    r"(?P<stop>(?<!\bdr)(?<!\bmr)(?<!\bms)(?<!\bmrs)(?<!\bst)(?<![.!?;])[.!?;]+\s+|\n+)"
    rf"|(?P<comma>,\s+(?:(?:AND|{_BUT}|so)\s+)?|\s[–—-]\s)"
    rf"|(?P<and>(?<!\s)\s+(?:AND)\s+(?!a half\b|so on\b))"
    rf"|(?P<but>(?<!\s)(?<!\bavec)(?<!\bde)(?<!\bchez)(?<!\bpour)\s+{_BUT}\s+)"
    rf"|(?P<with>(?<!\s)\s+(?={_WITH}\s+(?:{_MINE}|{_COUNT})\s+\w)))"
)
_CUTS = {
    dutch: re.compile(_CUT.replace("AND", "and|und|et|y|e" + ("|en" if dutch else "")), re.IGNORECASE)
    for dutch in (False, True)
}
_BETWEEN = re.compile(r"(?i)\b(?:between|both|zwischen|entre|tra|fra|tussen)\b[^,.;]{0,40}$")
_OPENING = re.compile(rf"(?i)(?:{_MINE}|{_COUNT}|{_ARTICLE}|{RELATIVE}|no|not|kein\w*|pas|nicht)\s+\w|l'\w")
_RELATES = re.compile(rf"(?i){RELATIVE}\b")
_WHO = re.compile(
    rf"(?i)(?P<who>(?:i|we|ich|wir|je|nous|on|yo|nosotros|io|noi|eu|nós|ik|wij)(?P<am>'\w+)?(?![\w'])|(?P<je>j'\w+)"
    rf"|{_MINE}\s+\w+(?:\s(?-i:[A-Z])\w+)?)"
    rf"(?P<verb>(?:\s+(?:\w+ly|always|usually|also|only|just|never|still|immer|auch|toujours|siempre|sempre|altijd|ook))*\s+\w+)?"
)
_COMPANION = re.compile(
    rf"(?i)(?:{_WITH}\s+)?(?P<named>{_MINE}\s+\w+\s+(?-i:[A-Z])[\w'-]+|(?:{_MINE}\s+)?{_COUNT}\s\w+)"
)
_INTRODUCED = re.compile(rf"(?:^|(?<=\s))(?P<known>(?i:{_MINE})\s+\w+)\s+(?P<name>[A-Z][\w'-]+)")
_ORDERS = re.compile(
    r"(?i)(?:please|always|never|from now on|bitte|immer|nie|niemals|ab jetzt|s'il (?:te|vous) pla[iî]t|toujours|jamais"
    r"|désormais|por favor|siempre|nunca|per favore|sempre|mai|altijd|nooit|alsjeblieft|voortaan)\b(?! \w+(?:ed|ing)\b)"
)
"""Openings of a standing request, which is never split: its parts depend on each other."""
_LISTED = re.compile(r"(?i)[^,.;:!?\n]{1,40}(?:,[^,.;:!?\n]{1,40}){0,6},?\s(?:and|or|und|oder|et|ou|y|o|e|en|of)\s")
_ACTS = re.compile(rf"(?i)(?<![^\W\d_])[^\W\d_]+\s(?:{_ARTICLE}|{_MINE})\s")
_PLACED = re.compile(r"(?i)(?:in|an|am|auf|bei|mit|für|zu|zum|zur|nach|von|aus|um|nicht)\b")
_SELF = re.compile(r"(?i)(?:i|ich|je|yo|io|eu|ik)\b(?!')")
SHORT_ITEM, SHORT_SUBJECT = 2, 3  # the latter: maximum words before "and I" in a subject
_HIS = re.compile(rf"(?i)(?:{OTHERS}\b|j')")
_CALLED_DOES = re.compile(rf"{_INTRODUCED.pattern}\s(?!(?:in|at|on|for|from|to|and|with|of|who)\b)[a-z]+")
"""Matches a person by relation and name with a verb: "my manager Lea joins"."""
_DENIES = re.compile(r"(?i)(?:no|not|never|kein\w*|nie|pas|jamais|nunca|sin|non|mai|niente|não|sem|geen|niet)\b")
_GENERIC = frozenset(map(stem, "live work use love like prefer have need want go get know".split()))
"""Stems of verbs that alone do not identify their object."""


@dataclass(frozen=True)
class _Piece:
    text: str
    start: int
    end: int
    how: str
    """Kind of the cut before it: `stop` (or none), `comma`, `and`, `but` or `with`."""
    frame_of: type[Frame] = Frame

    @lazy_property
    def frame(self) -> Frame:
        return self.frame_of(self.text)

    @lazy_property
    def whole(self) -> bool:
        """True if the part has its own subject."""
        words = plain(self.text).split(" ", 4)
        people = person_words()
        return (
            self.how == "stop"
            or begins_timed(self.text, people["self"])
            or _HIS.match(self.text) is not None
            or (words[0] in people["possessive"] and any(map(_is_verb, words[2:4])))
            or _CALLED_DOES.match(self.text) is not None
            or about_a_name(self.frame)
        )


@dataclass(frozen=True)
class _Read:
    """A part, the opening that it shares with the part it belongs to, and the words of that opening."""

    piece: _Piece
    lead: str
    who: str
    verb: bool
    preposition: str = ""  # after the verb, if only a name or a thing follows it: "I work at Siemens"
    beside: str = ""  # the word for "with" before a second companion
    predicate: str = ""  # after "am", before a preposition: "allergic"

    @lazy_property
    def alone(self) -> Frame:
        """The frame of the part as a sentence, without the verb of the part before."""
        beside = self.piece.how == "with" or self.beside or _RELATES.match(self.piece.text)
        same = beside or not self.verb or self.sentence == self.piece.text
        return self.piece.frame if same else self.piece.frame_of(self.sentence)

    @lazy_property
    def sentence(self) -> str:
        """The part as a sentence."""
        piece = self.piece
        if piece.whole or not self.lead or _DENIES.match(piece.text):
            return piece.text
        if piece.how == "with" or not self.verb:
            return f"{self.lead} … {piece.text}"
        if self.beside:
            return f"{self.lead} … {self.beside} {piece.text}"
        if self.verbal:
            return f"{self.who} {piece.text}"
        when, what = time_first(piece.text)
        if when and not PREPOSITION.match(what) and (_is_verb(plain(what).split(" ")[0]) or _ACTS.match(what)):
            return f"{self.who} {what} {when}"
        listed = self.predicate and (self.bare or PREPOSITION.match(piece.text)) and not when
        lead = f"{self.lead} {self.predicate}" if listed else self.lead
        return f"{lead} {self.preposition if self.bare and not when else ''}{piece.text}"

    @property
    def bare(self) -> bool:
        """True if the part is only a name or a thing that continues the list before it."""
        text = self.piece.text
        opens = _OPENING.match(text) or PREPOSITION.match(text) or PRESENT.match(plain(text)) or _DENIES.match(text)
        return not (opens or self.piece.whole or self.verbal)

    @property
    def verbal(self) -> bool:
        """True if it begins with a verb of the same subject: "and coach the girls", "und spiele Klarinette"."""
        text = self.piece.text
        if _OPENING.match(text):
            return False
        # German nouns are capitalised: a lower-case word after "und" is most likely a verb, if no preposition.
        placed = _PLACED.match(text) or time_first(text)[0]
        german = plain(self.who) in ("ich", "wir") and text[0].islower() and not placed
        return german or _is_verb(plain(text).split(" ", 1)[0]) or _ACTS.match(text) is not None


def rest(text: str, new: Frame, judged: Callable[[Frame], float], *, ended: bool = False, named: bool = False) -> str:
    """Return the parts of `text` that remain true after `new`, which closes it, as sentences; empty if none do.

    `judged` gives the probability that `new` closes one part, by its frame. `ended`: `new` states that something is
    over, so its mere companions are over as well. `named`: a reader of both found that `new` supersedes `text`, which
    the words alone may not show, so another value of the same sort also ends a part.
    """
    # A bracket can belong to any part before it.
    if len(text) > LONGEST or "(" in text or _ORDERS.match(text):
        return ""
    parts = _read(text)
    if len(parts) < 2:
        return _introduced(text, new, ended)
    touched = _touched(parts, new, judged)
    if named:
        touched = touched_by_sort([(one.lead, one.piece.frame) for one in parts], touched, new, _lead(new.text)[0])
    if not any(touched):
        return ""  # no part is affected more than another: the whole is closed
    kept = _kept(parts, touched, new)
    if not any(kept):
        return _introduced(text, new, ended)
    return _sentences(text, parts, kept)


@lru_cache(maxsize=KEPT)
def frames_of_parts(text: str) -> tuple[Frame, ...]:
    """Return the frames of the parts of a statement, each as a sentence; none if it states one thing."""
    parts = _read(text) if len(text) <= LONGEST else ()
    return tuple(one.alone for one in parts if _says(one)) if len(parts) > 1 else ()


def separate(text: str) -> tuple[str, ...]:
    """Return the parts of a statement as sentences; empty if it states one thing."""
    return tuple(frame.text for frame in frames_of_parts(text))


@lru_cache(maxsize=KEPT)
def _read(text: str) -> tuple[_Read, ...]:
    """Return the parts of a statement, with their properties. Cached: a closed statement has just been compared."""
    found: list[_Read] = []
    head = lead = who = ""
    verb = False
    for piece in _pieces(text):
        if piece.whole:
            head, (lead, who, verb) = piece.text, _lead(piece.text)
        before = found[-1] if found and piece.how in ("and", "comma") and not piece.whole else None
        beside = "" if before is None else before.beside
        if before is not None and before.piece.how == "with":
            beside = before.piece.text.split(" ", 1)[0]
        predicate = predicate_of(head, lead) if verb else ""
        preposition = _behind_verb(head, f"{lead} {predicate}" if predicate else lead)[0] if verb else ""
        found.append(_Read(piece, lead, who, verb, preposition, beside, predicate))
    return tuple(found)


def _pieces(text: str) -> list[_Piece]:
    cuts = _CUTS[DUTCH.search(plain(text)) is not None]
    frame_of = StatedFrame if states_all(text) else PlainlySpokenFrame if speaks_plainly(text) else Frame
    found: list[_Piece] = []
    start, how = 0, "stop"
    for cut in cuts.finditer(text):
        kind = cut.lastgroup or "stop"
        # A list inside a clause ("on Mondays and Thursdays") looks like a list of clauses.
        if not _begins(text, cut, kind) or _within(text[start : cut.start()], text[cut.end() :], kind):
            continue
        found.append(_Piece(text[start : cut.start()].strip(), start, cut.start(), how, frame_of))
        start, how = cut.end(), kind
    found.append(_Piece(text[start:].strip().rstrip(".!;"), start, len(text.rstrip()), how, frame_of))
    return [piece for piece in found if piece.text]


def _within(head: str, after: str, kind: str) -> bool:
    """Return True if the following words continue the last list in `head`: "to the gym on Tuesdays" and "Thursdays"."""
    lead, who, verb = _lead(head) if kind in ("and", "comma") else ("", "", False)
    if not verb:
        return False
    preposition, short = _behind_verb(head, lead)
    return bool(preposition) and not short and _Read(_Piece(after, 0, 0, kind), lead, who, verb).bare


def _behind_verb(head: str, lead: str) -> tuple[str, bool]:
    """Return the preposition after the verb of a sentence, and True if only one name or thing follows it."""
    behind = head[len(lead) :].strip()
    found = PREPOSITION.match(behind)
    return ("", False) if found is None else (found[0], len(behind[found.end() :].split()) <= SHORT_ITEM)


def _begins(text: str, cut: re.Match[str], kind: str) -> bool:
    """Return True if an independent part begins after `cut`."""
    if kind in ("stop", "with"):
        return True
    if kind == "and" and _SELF.match(text, cut.end()) and len(text[: cut.start()].split()) <= SHORT_SUBJECT:
        return PRESENT.search(plain(text[: cut.start()])) is not None
    if _BETWEEN.search(text, max(0, cut.start() - 60), cut.start()):
        return False
    if kind in ("and", "but") or cut[0].strip(" ,\n"):
        return True
    after = text[cut.end() :]
    opens = _OPENING.match(after) or PRESENT.match(plain(after))
    listed = kind == "comma" and (_LISTED.match(after) or in_row(text, cut.start(), cut.end()))
    return bool(opens or listed) or _Piece(after, 0, 0, kind).whole  # last: it parses the rest


def _is_verb(word: str) -> bool:
    known = word == "go" or word in person_words()["verbs"] or PRESENT.fullmatch(word) is not None
    return known and word not in FREQUENCIES


def _lead(text: str) -> tuple[str, str, bool]:
    """Return the subject and verb at the beginning of a sentence, the subject alone, and True if there is a verb."""
    found = _WHO.match(text)
    if found is None:
        first = text.split(" ", 1)[0]
        return (first, "", True) if plain(first) in person_words()["self"] else ("", "", False)
    if found["je"]:
        return found["je"], "Je", True
    who = found["who"].removesuffix(found["am"] or "")
    return (found["who"], who, True) if found["am"] else (found[0], who, found["verb"] is not None)


def _touched(parts: Sequence[_Read], new: Frame, judged: Callable[[Frame], float]) -> list[bool]:
    """Return for each part True if `new` is about it: certainly, or else possibly."""
    closing = [judged(one.alone) if _says(one) else 0.0 for one in parts]
    # Half of the highest probability: parts of one statement are compared with each other, not with a fixed threshold,
    # because the whole is known to be closed.
    least = max(closing) / 2
    certain = [_same_frame(one.piece.frame, new) or 0 < least <= p for one, p in zip(parts, closing, strict=True)]
    if any(certain):
        return [sure or _shares(one, parts, new) for sure, one in zip(certain, parts, strict=True)]
    return [may_be_about(one.piece.frame, new) for one in parts]


def _same_frame(frame: Frame, new: Frame) -> bool:
    return bool(frame.attributes & new.attributes) or denied(frame, new) or another_of_a_sort(frame, new)


def _shares(one: _Read, parts: Sequence[_Read], new: Frame) -> bool:
    """Return True if a part and `new` share a word other than the subject and the verb of the whole statement."""
    frame = one.piece.frame
    # The subject and the verb are common to all parts and would touch every one of them.
    common = _GENERIC | relation_stems()
    if one.piece.whole and any(not other.piece.whole and other.lead == one.lead for other in parts):
        common |= Frame(one.lead).stems
    if not _says(one):
        common |= frame.names | frame.called_stems
    return bool((frame.stems - common) & new.stems)


def _says(one: _Read) -> bool:
    """Return True if a part makes a statement, and is not a subject alone ("My sister Ana")."""
    return not (one.piece.whole and _INTRODUCED.fullmatch(one.piece.text))


def _kept(parts: Sequence[_Read], touched: Sequence[bool], new: Frame) -> list[bool]:
    """Return for each part True if it remains: unaffected, with content, and independent of every part that ends."""
    kept: list[bool] = []
    for place, (one, hit) in enumerate(zip(parts, touched, strict=True)):
        # A part that refers back ("and she sits in Denver") is true only as long as the part it refers to.
        leans = refers_back(one.piece.text)
        leans = leans or (not one.piece.whole and says_only_when(one.piece.text))
        frame = one.piece.frame
        stays = not hit and bool(frame.stems - new.stems - _GENERIC) and not (one.piece.whole and frame.event)
        stays = stays and (bool(one.lead) or frame.own or place > 0) and not _is_reason(parts, touched, place)
        # A sentence without a word for the speaker continues the one before it.
        if one.piece.how == "stop" and place and not frame.own:
            stays = stays and kept[place - 1]
        if stays and leans:
            stays = place > 0 and kept[place - 1]
        if stays and not one.piece.whole and not one.lead and not leans:
            stays = place > 0 and kept[place - 1]
        kept.append(stays)
    return kept


def _is_reason(parts: Sequence[_Read], touched: Sequence[bool], place: int) -> bool:
    """Return True if a part is the last clause of its sentence, follows a comma and a part that ends, and so most
    likely gives its reason ("answer in French, I need the practice").
    """
    piece = parts[place].piece
    last = place + 1 == len(parts) or parts[place + 1].piece.how == "stop"
    first = place == 1 or parts[place - 1].piece.how == "stop"
    return piece.how == "comma" and piece.whole and last and first and touched[place - 1]


def _sentences(text: str, parts: Sequence[_Read], kept: Sequence[bool]) -> str:
    made: list[str] = []
    last = -2
    for place, (one, stays) in enumerate(zip(parts, kept, strict=True)):
        if not stays:
            continue
        # Adjacent parts that remain keep the words between them: the wording is the user's.
        joined = last == place - 1 and one.piece.how != "stop" and not one.beside
        if joined and not (one.piece.whole and parts[last].piece.how == "with"):
            made[-1] += text[parts[last].piece.end : one.piece.start] + one.piece.text
        elif one.piece.how == "with" or one.beside:
            if (named := _COMPANION.match(one.piece.text)) is None:
                continue
            made.append(named["named"])
        else:
            made.append(one.sentence)
        last = place
    return " ".join(one[0].upper() + one[1:].rstrip(" ,") + "." * (not one.endswith((".", "!", "…"))) for one in made)


def _introduced(text: str, new: Frame, ended: bool) -> str:
    """Return the relation of a person to the speaker if `new` only uses the name: "My sister Ana". A relative remains
    one; a dog that died is no longer the speaker's.
    """
    found = _INTRODUCED.search(text)
    name = plain(found["name"]) if found is not None else ""
    if found is None or {name, f"{name}'s", f"{name}s"}.isdisjoint(new.tokens):
        return ""  # another spelling of the name corrects it
    if "relationship" in new.attributes or (
        ended and person_words()["relations"].isdisjoint(plain(found["known"]).split())
    ):
        return ""
    if any(stem(word) in new.stems for word in plain(found["known"]).split() if word not in word_classes()["empty"]):
        return ""
    return f"{found['known'][0].upper()}{found['known'][1:]} {found['name']}."
