"""Entities and relations by rules: English and Spanish, no model, the same answer every time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from mnemic.errors import InvalidInput
from mnemic.extract import is_users_own
from mnemic.extract.entities import ME, ROLE, EntityReading, NamedEntity, StatedRelation
from mnemic.extract.reading_thread import read_beside
from mnemic.language.entities.phrases import ALIASES, CUES, KIN_WORDS, PHRASES, Phrase
from mnemic.language.entities.relations import ANIMAL, PERSON, PLACE, RELATIONS, THING, rule_of
from mnemic.language.sentences.clauses import sentences
from mnemic.language.sentences.exclusion_rules import mood_of
from mnemic.language.text.names import core
from mnemic.language.text.pattern import Pattern
from mnemic.reason_codes import ORIGIN, QUOTED, TRANSIENT
from mnemic.types import Deadline, Message, Skipped
from mnemic.types.values import clean_content

MAX_NAME_WORDS = 6
_WORD = re.compile(r"[^\W_](?:[\w'’&+#]|[.-](?=\w))*+")
_LINK = frozenset("de del di da do dos das della van von der den ten bin ibn al el la le les du of the &".split())
_SENTENCE_WORDS = frozenset(
    """
    i i'm i've i'd i'll we we're we've you he she it they this that these those there here the a an my our your his her
    its their what which who whom whose when where why how if because since while after before and but or so then also
    yes yeah yep yup nope oh ah wow haha
    no not please thanks thank hi hello hey ok okay well now today tomorrow yesterday last next every each some any
    many most all both in on at by for from with without about near during until over under again once maybe perhaps
    actually just only even still already always never sometimes usually often later soon as to do does did is are was
    were be been have has had can could will would should may might must let let's get got go going remember note
    mi mis yo tú tu él ella nosotros ellos ellas el la los las un una unos unas en de con por para y o pero que cuando
    donde como si no sí hoy mañana ayer también hola gracias nuestro nuestra su sus este esta
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
    october november december lunes martes miércoles jueves viernes sábado domingo english spanish french german
    italian portuguese chinese japanese
    """.split()
)


@dataclass(slots=True)
class MarkedText:
    """Text with `⟦n⟧` in place of names, and the names by number; 0 is the user."""

    text: str = field(repr=False)
    names: list[str] = field(default_factory=lambda: [ME], repr=False)

    def mark(self, name: str) -> str:
        """Return the mark of a name, which gets a number if it has none."""
        if name not in self.names:
            self.names.append(name)
        return f"⟦{self.names.index(name)}⟧"


def mark_names(text: str, into: MarkedText) -> str:
    """Return `text` with its names marked. A name is a run of capitalised words; words that begin a sentence or join
    names are not names on their own.
    """
    words = [(match[0], *match.span()) for match in _WORD.finditer(text.replace("⟦", "(").replace("⟧", ")"))]
    pieces: list[str] = []
    done = at = 0
    while at < len(words):
        end = _name_end(words, at, text)
        if end == at:
            at += 1
            continue
        start, stop = words[at][1], words[end - 1][2]
        name = text[start:stop]
        if name.endswith(("'s", "’s")):
            name, stop = name[:-2], stop - 2
        pieces += [text[done:start], into.mark(name)]
        done, at = stop, end
    return "".join([*pieces, text[done:]])


def _name_end(words: list[tuple[str, int, int]], first: int, text: str) -> int:
    """Return the position after the last word of the name that begins at `first`; `first` if none begins there."""
    if not _is_proper(words[first][0]):
        return first
    end = at = first + 1
    while at < len(words) and at - first < MAX_NAME_WORDS and _adjoins(text, words[at - 1], words[at]):
        word = words[at][0]
        if words[at - 1][0].endswith(("'s", "’s")):
            break
        if _is_proper(word) or (word.isdigit() and end == at):
            end = at + 1
        elif word.casefold() not in _LINK:
            break
        at += 1
    return end


def _adjoins(text: str, one: tuple[str, int, int], other: tuple[str, int, int]) -> bool:
    between = text[one[2] : other[1]]
    return between in (" ", " & ") or (between == ". " and len(one[0]) <= 2)


def _is_proper(word: str) -> bool:
    bare = word.casefold().replace("’", "'").removesuffix("'s")
    return word[0].isupper() and bare not in _SENTENCE_WORDS and not (word.isupper() and len(word) == 1)


MAX_MESSAGE_CHARS = 32_768
MAX_SENTENCE_CHARS = 600
MAX_NAMES = 64
"""Maximum number of names read from one message; later ones are ignored."""

_MARK = Pattern(r"⟦(\d+)⟧")
_KIN = "|".join(sorted(KIN_WORDS, key=len, reverse=True))
_MY_KIN = Pattern(
    rf"\b(?:my|mi|our|nuestr[oa])\s(?:\w+\s){{0,2}}?(?P<kin>{_KIN})\b,?(?:\s(?:is\scalled|is\snamed|called|named|se\sllama))?"
    r"(?:\s?(?P<name>⟦\d+⟧))?",
    re.IGNORECASE,
)
_IS_MY_KIN = Pattern(
    rf"(?P<name>⟦\d+⟧)(?:,|\sis|\ses)\s(?:my|mi|our)\s(?:\w+\s){{0,2}}?(?P<kin>{_KIN})\b(?!['’]s\b),?", re.IGNORECASE
)
_THEIR_KIN = Pattern(
    rf"(?P<of>⟦\d+⟧)['’]s\s(?:\w+\s)?(?P<kin>{_KIN})\b,?(?:\s(?:is\scalled|is\snamed|called|named))?\s?(?P<name>⟦\d+⟧)",
    re.IGNORECASE,
)
_ME = Pattern(r"\b(?:I|I['’]m|I['’]ve|we|yo)\b", re.IGNORECASE)
_THEY = Pattern(r"\b(?:she|he|ella|él)\b", re.IGNORECASE)
_SINCE = Pattern(r"\b(?:since|desde)\s(?:\w+\s)?(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE)
_PET = frozenset({"dog", "cat", "horse", "puppy", "kitten", "perro", "perra", "gato", "gata"})


class RuleEntityReader:
    """Reads a message sentence by sentence; linear in its length."""

    async def read(self, message: Message, *, deadline: Deadline) -> EntityReading:
        """See `EntityReader`. No model is asked; the deadline is not needed."""
        del deadline
        if not is_users_own(message):
            return EntityReading(skipped=(Skipped(reason=ORIGIN),))
        text = clean_content(message.content)
        if len(text) > MAX_MESSAGE_CHARS:
            raise InvalidInput("message", hint=f"longer than {MAX_MESSAGE_CHARS} characters")
        return await read_beside(text, lambda: _read_page(text))


def _read_page(text: str) -> EntityReading:
    page = _Page()
    for start, end in sentences(text):
        page.read(text[start:end], (start, end))
    return page.reading()


@dataclass(slots=True)
class _Page:
    """State while one message is read."""

    marked: MarkedText = field(default_factory=lambda: MarkedText(""))
    labels: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, list[str]] = field(default_factory=dict)
    relations: list[StatedRelation] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    person: str | None = None
    span: tuple[int, int] = (0, 0)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)

    def read(self, sentence: str, span: tuple[int, int]) -> None:
        """Read one sentence. Questions, hypotheses, reports and irony state nothing."""
        mood = mood_of(sentence)
        reason = "too_long" if len(sentence) > MAX_SENTENCE_CHARS else mood.reason
        if reason is None and mood.quoted_from is not None:
            self.skipped.append(Skipped(reason=QUOTED, span=(span[0] + mood.quoted_from, span[1])))
            sentence = sentence[: mood.quoted_from]
        if reason is None and sentence.rstrip("\"'”’) ").endswith(("?", "？")):
            reason = TRANSIENT
        if reason is not None:
            self.skipped.append(Skipped(reason=reason, span=span))
            return
        if len(self.marked.names) > MAX_NAMES:
            return
        self.span = span
        text = self._kin(mark_names(sentence, self.marked))
        text = _ME.sub(self.marked.mark(ME), text)
        if self.person is not None:
            text = _THEY.sub(self.marked.mark(self.person), text)
        self._name_all(text)
        text = self._spell_out(text)
        for phrase in PHRASES:
            self._follow(phrase, text)
        self._turn_to(text)

    def _turn_to(self, text: str) -> None:
        """Remember the person a sentence begins with as the antecedent of "she" or "he" in the next sentence."""
        first = _MARK.search(text)
        if first is not None and self.marked.names[int(first[1])] != ME:
            name = self.marked.names[int(first[1])]
            self.person = name if self.labels.get(name) == PERSON else None

    # -- people by what they are to somebody --------------------------------------------------------------------------

    def _kin(self, text: str) -> str:
        """`text` with "my sister ⟦1⟧" as "⟦1⟧", the relation noted."""
        text = _THEIR_KIN.sub(lambda match: self._relation_name(match["of"], match["kin"], match["name"]), text)
        text = _IS_MY_KIN.sub(lambda match: self._relation_name("⟦0⟧", match["kin"], match["name"]), text)
        return _MY_KIN.sub(lambda match: self._relation_name("⟦0⟧", match["kin"], match["name"]), text)

    def _relation_name(self, source: str, word: str, mark: str | None) -> str:
        relation = KIN_WORDS[word.casefold()]
        self._label(self._name(source), PERSON)
        if mark is None:
            return self.marked.mark(ROLE + relation)
        name = self._name(mark)
        self._label(name, ANIMAL if word.casefold() in _PET else PERSON)
        self._add_relation(StatedRelation(source=self._name(source), relation=relation, target=name))
        return mark

    # -- names --------------------------------------------------------------------------------------------------------

    def _name_all(self, text: str) -> None:
        for match in _MARK.finditer(text):
            self._label(self.marked.names[int(match[1])], THING)
        for cue in CUES:
            for match in cue.pattern.finditer(text):
                self._label(self._name(match["name"]), cue.label)

    def _spell_out(self, text: str) -> str:
        """Note that two names are one, and leave the first alone in the text."""
        for pattern in ALIASES:
            for match in pattern.finditer(text):
                name, other = self._name(match["name"]), self._name(match["other"])
                self.aliases.setdefault(name, []).append(other)
                self.labels.pop(other, None)
            text = pattern.sub(lambda match: match["name"] + (match.groupdict().get("rest") or ""), text)
        return text

    def _label(self, name: str, label: str) -> None:
        if name == ME or name.startswith(ROLE) or any(name in others for others in self.aliases.values()):
            return
        self.spans.setdefault(name, self.span)
        if self.labels.get(name, THING) == THING:
            self.labels[name] = label

    def _name(self, mark: str) -> str:
        found = _MARK.fullmatch(mark)
        assert found is not None
        return self.marked.names[int(found[1])]

    # -- relations ----------------------------------------------------------------------------------------------------

    def _follow(self, phrase: Phrase, text: str) -> None:
        for match in phrase.pattern.finditer(text):
            source, target = self._name(match["source"]), self._name(match["target"])
            rule = rule_of(phrase.relation)
            if source == target or target == ME or (source == ME and phrase.relation in ("located_in", "near")):
                continue
            self._label(source, rule.source)
            self._label(target, rule.target)
            since = _SINCE.search(text[match.end() :])
            began = datetime(int(since["year"]), 1, 1, tzinfo=UTC) if since else None
            self._add_relation(
                StatedRelation(source=source, relation=phrase.relation, target=target, since=began, ended=phrase.ended)
            )

    def _add_relation(self, relation: StatedRelation) -> None:
        if relation not in self.relations:
            self.relations.append(replace(relation, span=self.span))

    # -- the whole ----------------------------------------------------------------------------------------------------

    def reading(self) -> EntityReading:
        """Everything read. A first name that only one full name of this message begins with is that person."""
        full = {other: name for name, others in self.aliases.items() for other in others} | dict(self._full_names())
        named = tuple(
            NamedEntity(name=name, label=label, aliases=tuple(self.aliases.get(name, ())), span=self.spans.get(name))
            for name, label in self.labels.items()
            if name not in full
        )
        relations = (
            replace(one, source=full.get(one.source, one.source), target=full.get(one.target, one.target))
            for one in self.relations
        )
        kept = tuple(dict.fromkeys(one for one in relations if one.source != one.target))
        return EntityReading(named=named, relations=kept, skipped=tuple(self.skipped))

    def _full_names(self) -> Iterator[tuple[str, str]]:
        people = [name for name, label in self.labels.items() if label in (PERSON, THING)]
        for name in people:
            longer = [
                other
                for other in people
                if core(other, PERSON).startswith(core(name, PERSON) + " ") and self.labels[other] == PERSON
            ]
            if len(longer) == 1:
                yield name, longer[0]


assert frozenset(KIN_WORDS.values()) <= frozenset(RELATIONS), "every word for kin names a relation"
assert PLACE in {cue.label for cue in CUES}
