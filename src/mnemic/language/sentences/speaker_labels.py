"""Labels at the beginning of a line: the name of a speaker, whose words follow ("Bob: ...", "Support agent: ..."), or a
heading of the writer's own words ("Update: ...", "Home address: ...").

What another speaker says is shown, not said by the writer. A label is a speaker's if it is the role of a party to a
conversation, if it takes turns with other labels, or if it is a name and the words after it are about their speaker. A
name is a capitalised word that is no common word of a language known here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from mnemic.language.lexicon import LANGUAGES, headings, known_words, lexicon, no_names, no_places
from mnemic.language.sentences.general_knowledge_messages import speaks_of_self_alone
from mnemic.language.sentences.remember import asked_to_remember
from mnemic.language.sentences.tables import pattern, straight
from mnemic.language.text.normalise import plain
from mnemic.language.text.pattern import Pattern

Span = tuple[int, int]

_LABEL = Pattern(
    r"[^\S\n]{0,4}[*_]{0,3}(?P<label>[^\W\d_][\w.'’-]{0,19}(?:[ -]#?[\w.'’-]{1,19}){0,2})[*_]{0,3}"
    r"(?:\s?[(\[][\d:., /apmAPM-]{4,20}[)\]])?"
    r"(?P<mark>\s?[:：][*_]{0,3}(?=\s)|\s(?:--?|[–—])(?=\s))\s+(?P<said>\S[^\n]*)"
)
"""A line with a label of up to three words, perhaps a time, and what follows its colon or dash."""
_ROLE = pattern(
    r"^(?:[\w.'’-]{1,19} ){0,2}(?:assistant|assistent|assistente|asistente|system|tool|bot|chat-?bot|"
    r"(?:ai|ki|ia)(?: model)?|chatgpt|claude|gemini|copilot|function|interviewer|interviewee|agente?|operator|"
    r"representative|speaker|sprecher|customer|person|moderator|caller|berater|conseiller|asesor|consulente|adviseur|medewerker)"
    r"(?: (?:#?\d{1,3}|[a-z]))?$"
)
"""Matches the role of a party to a conversation."""
_NUMBERED = Pattern(r"(?i:\b(?:speaker|user|customer|agent|person|patient|interviewer) ?[\dA-B]?: )")
"""Labels of numbered speakers, who may follow each other on one line."""
_ASKED = pattern(r"^(?:q|question|f|frage|p|pregunta|d|domanda|v|vraag)$")
_ANSWERED = pattern(r"^(?:a|answer|r|antwort|réponse|respuesta|risposta|resposta|antwoord)$")
_READ = 400
"""Characters of a speaker's words that are read for whether they are about the speaker."""
_WORD = re.compile(r"[^\W_]+")
_ENDINGS = re.compile(
    r"\A\w{4,}(?:ung|heit|keit|schaft|tion|sion|ción|zione|ção|ment|mento|ness|ship|tät|ité|idad|ità|idade|heid)s?\Z"
)
"""Endings of nouns of actions and qualities, which are no names."""
_PARTICLES = frozenset(
    {"de", "da", "do", "di", "del", "della", "der", "den", "van", "von", "la", "le", "al", "el", "bin"}
)


@dataclass(frozen=True, slots=True)
class _Labelled:
    """A line with a label; `said_from` is the place of the words after it, `until` the end of the lines without a label
    right below.
    """

    start: int
    said_from: int
    end: int
    until: int
    label: str
    said: str
    dashed: bool

    def names(self, own: Collection[str]) -> bool:
        """Return True if the label is a name of the writer."""
        return bool(own) and {*_WORD.findall(self.label.casefold())} <= {*own}

    @property
    def is_role(self) -> bool:
        return bool(_ROLE.search(self.label))

    @property
    def is_name(self) -> bool:
        """Return True for a name whose bearer speaks of themselves."""
        return self.is_unknown and _is_name(self.label)

    @property
    def is_unknown(self) -> bool:
        """Return True for a label of no common word before what its bearer says of themselves."""
        return not self.dashed and _is_unknown(self.label) and speaks_of_self_alone(self.said)


def speaker_spans(text: str, own: Collection[str] = ()) -> list[Span]:
    """Return the spans of `text` that other speakers say, by their labels. `own`: the writer's name, in parts."""
    if len(list(_NUMBERED.finditer(text))) > 1:
        return [(0, len(text))]
    lines = [line for line in _labelled(straight(text)) if not line.names(own) and not _asks_to_remember(line)]
    return [*_turns(lines), *((line.start, line.until) for line in _of_speakers(lines))]


def label_of(text: str) -> str | None:
    """Return the label that a text begins with."""
    found = _LABEL.match(text)
    return None if found is None or ":" not in found["mark"] else found["label"]


def heading_spans(text: str) -> Iterator[Span]:
    """Yield the headings before what the writer says of themselves, which is read without them: "Update: I moved" is no
    order to update. One that asks to remember, or that corrects, says more than a heading.
    """
    for line in _labelled(text):
        label = line.label
        says_more = _asks_to_remember(line) or _corrects(label)
        if not line.dashed and _is_heading(label) and not says_more and speaks_of_self_alone(line.said):
            yield line.start, line.said_from


def _asks_to_remember(line: _Labelled) -> bool:
    return asked_to_remember(f"{line.label}: {line.said}") is not None


def _labelled(text: str) -> Iterator[_Labelled]:
    last: _Labelled | None = None
    start = 0
    for line in (*text.split("\n"), ""):
        end = start + len(line)
        found = _LABEL.match(line)
        if last is not None and (found is not None or not line.strip()):
            yield last
            last = None
        if found is not None:
            dashed = not found["mark"].strip(" *_").startswith((":", "："))
            last = _Labelled(start, start + found.start("said"), end, end, found["label"], found["said"], dashed)
        elif last is not None:
            said = f"{last.said}\n{line}" if len(last.said) < _READ else last.said
            last = replace(last, until=end, said=said)
        start = end + 1


def _of_speakers(lines: Sequence[_Labelled]) -> Iterator[_Labelled]:
    """Yield the lines of roles and of names; beside a name, a common word may be another ("Will: I ...")."""
    named = any(line.is_name for line in lines)
    small = [line for line in lines if line.is_unknown and not line.is_name]
    if len({line.label for line in small}) > 1:
        yield from small
    for line in lines:
        beside = named and line.label.istitle() and not _is_heading(line.label) and speaks_of_self_alone(line.said)
        if line.is_role or line.is_name or (beside and not line.dashed and " " not in line.label):
            yield line


def _turns(lines: Sequence[_Labelled]) -> Iterator[Span]:
    """Yield the lines from the first to the last turn of a dialogue: a label is repeated beside others, or one answers
    the question of another.
    """
    said = [line for line in lines if line.label[0].isupper()]
    speakers = {line.label for line in said}
    if len(speakers) < 2 or all(map(_is_heading, speakers)):
        return
    asked = any(line.said.rstrip().endswith("?") for line in said[:-1])
    pairs = any(map(_ASKED.search, speakers)) and any(map(_ANSWERED.search, speakers))
    if asked or pairs or len(said) > len(speakers):
        yield said[0].start, said[-1].end


def _corrects(label: str) -> bool:
    said = plain(label).split()
    return any(not lexicon(language).correcting.isdisjoint(said) for language in LANGUAGES)


def _is_heading(label: str) -> bool:
    return plain(label.split(maxsplit=1)[0].strip(".")) in headings()


def _is_name(label: str) -> bool:
    words = [word for word in label.split() if word not in _PARTICLES]
    return bool(words) and all(word[0].isupper() for word in words)


def _is_unknown(label: str) -> bool:
    return not _is_heading(label) and not all(word in _PARTICLES or _is_common(word) for word in label.split())


def _is_common(word: str) -> bool:
    small, known = word.casefold().strip("."), plain(word.strip("."))
    told = any(known in words for words in (known_words(), no_names(), no_places()))
    return told or _ENDINGS.search(small) is not None
