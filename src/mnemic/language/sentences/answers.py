"""Answers to a question as statements: "How old is Cody?" - "Ten" states that Cody is ten.

People answer in phrases, which mean nothing alone. Together with the question a phrase is a statement of the person who
answers, if the question asks plainly for one thing about the listener or a named person. `data/answers.json` has for
each of seven languages the forms of question with the statements that they ask for, and the words around questions and
answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from mnemic.language.sentences.casual_spelling import written_out
from mnemic.language.sentences.tables import straight

LONGEST_ANSWER = 12
"""Maximum words of a phrase that answers; more are a story."""
LONGEST_REST = LONGEST_ANSWER // 2
"""Maximum words after a yes or a no that belong to it."""
LONGEST_QUESTION = 14
"""Maximum words of a question that asks for one thing."""
LONGEST_READ = 400
"""Number of characters at the end of a message that are searched for its question."""
_LAST = re.compile(r"[^.?!\n]{2,200}(?=[?\n]|\W{0,3}\Z)")
_SPELLED = (
    (re.compile(r"(?i)\bu\b"), "you"),
    (re.compile(r"(?i)\bur\b"), "your"),
    (re.compile(r"(?i)\br\b"), "are"),
    (re.compile(r"(?i)\b(when|where|what|who|how)s\b"), r"\1's"),
)
_SHOWN = re.compile(r"[\w' ,&/¿-]+")
"""Matches the words of a question that may become part of a statement: no marks, addresses or markup."""
_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")
_OPENS_WITH = re.compile(r"\A[^\W\d_]+(?=\\?[ ' ])")
"""Matches the word that every question of a form begins with."""
_NEVER = r"(?!)"
_OPEN = "?"
"""Prefix of a statement that may not last, according to its question."""
_WORDS = ("unread", "pronouns", "filled", "clause", "vague", "yes", "no", "number", "between", "written")
Found = tuple[Mapping[str, str | None], Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """A form of question: its pattern, the word that it begins with (empty if it may be one of several), and the
    statements that it asks for.
    """

    pattern: str
    first: str
    statements: Sequence[str]

    def parts(self, question: str) -> Mapping[str, str | None] | None:
        """Return the named parts of a question of this form; None for another one."""
        if self.first and self.first != question[: len(self.first)].casefold():
            return None
        found = _compile_form(self.pattern).fullmatch(question)
        return None if found is None else found.groupdict()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Speech:
    """Words and forms of questions and answers in one language."""

    name: str
    opening: re.Pattern[str]
    closing: re.Pattern[str]
    between: re.Pattern[str]
    written: re.Pattern[str]
    filled: re.Pattern[str]
    clause: re.Pattern[str]
    vague: re.Pattern[str]
    yes: re.Pattern[str]
    no: re.Pattern[str]
    small: re.Pattern[str]
    number: re.Pattern[str]
    unread: re.Pattern[str]
    pronouns: re.Pattern[str]
    turns: Mapping[str, str]
    turned: re.Pattern[str]
    shapes: Mapping[str, Mapping[str, Any]]
    values: Sequence[_Form]
    confirmed: Sequence[_Form]

    def strip_question(self, text: str) -> str:
        """Return a question without the words before and after it."""
        if self.name == "en":
            text = written_out(text)
            for form, full in _SPELLED:
                text = form.sub(full, text)
        text = self.written.sub("tu ", self.opening.sub("", text.strip(" ¿¡,-")))
        text = self.between.sub("", text).strip(" ¿¡,-")
        for _ in range(2):
            text = self.closing.sub("", text).strip()
        return text

    def value_of(self, question: str) -> Found | None:
        """Return the parts of a question that asks for a value, and the statement; None for another one."""
        return None if self.unread.search(question) else _find_form(self.values, question)

    def confirmed_of(self, question: str) -> Found | None:
        """Return the parts of a question that a yes or a no answers, and its statements; None for another one."""
        return None if self.pronouns.search(question) else _find_form(self.confirmed, question)


def question_of(text: str) -> str:
    """Return the question at the end of a message, written out and without fillers; empty if it ends in none."""
    found = _LAST.findall(straight(text.strip()[-LONGEST_READ:]))
    if not found:
        return ""
    said = found[-1].strip()
    english = _speeches()[0].strip_question(said)
    for speech in _speeches():
        asked = speech.strip_question(said)
        if _is_shown(asked) and (speech.value_of(asked) or speech.confirmed_of(asked)):
            return asked
    return english if _is_shown(english) else ""


def _is_shown(asked: str) -> bool:
    return len(asked.split()) <= LONGEST_QUESTION and _SHOWN.fullmatch(asked) is not None


class Stated(NamedTuple):
    """Statement from a question and its answer; `lasts` is True if the question asks for something lasting, such as a
    home: "your" plan or order may be over tomorrow.
    """

    text: str = ""
    lasts: bool = False


def statement_of(question: str, answer: str, *, confirms: bool = True) -> Stated:
    """Return the statement of a phrase as the answer to a question (`question_of`); an empty one if none is certain, or
    if the phrase is a clause that needs no question. `confirms`: a bare yes or no counts.
    """
    said = straight(answer).strip()
    if not question or not said or len(said.split()) > LONGEST_ANSWER:
        return Stated()
    found = (_read_answer(speech, question, said, confirms=confirms) for speech in _speeches())
    return next((one for one in found if one.text), Stated())


def _read_answer(speech: _Speech, question: str, said: str, *, confirms: bool) -> Stated:
    if speech.yes.match(said) or speech.no.match(said):
        found = speech.confirmed_of(question)
        if found is not None:
            return Stated(_confirmation(speech, found, said, confirms=confirms), lasts=True)
    found = speech.value_of(question)
    value = _value(speech, said) if found is not None else ""
    if found is None or not value or (speech.name == "en" and speech.clause.search(said)):
        return Stated()
    parts, (statement,) = found
    return Stated(
        _fill_slots(speech, statement.removeprefix(_OPEN), parts, value), lasts=not statement.startswith(_OPEN)
    )


def _value(speech: _Speech, said: str) -> str:
    """Return the value in a phrase; empty if it has none, or is a clause."""
    bare = speech.filled.sub("", said).strip(" .!,;¡")
    value = speech.small.sub(lambda one: one[0].lower(), bare)
    if not value or speech.vague.search(value):
        return ""
    return "" if speech.name != "en" and speech.clause.search(value) else value


def _confirmation(speech: _Speech, found: Found, said: str, *, confirms: bool) -> str:
    """Return the statement of a yes or a no, with the few words after it; a clause is read unchanged. After a no they
    are the correct value if the form has a statement for it: "Do you still live in Bonn?" - "No, in Ulm." Of a model's
    question only that value counts.
    """
    parts, (positive, negative, *corrected) = found
    denied = speech.no.match(said) is not None
    rest = speech.no.sub("", speech.yes.sub("", said)).strip(" .!,;")
    if rest and (speech.clause.search(rest) or len(rest.split()) > LONGEST_REST):
        return ""
    if denied and rest:
        value = _value(speech, rest) if corrected else ""
        if not value:
            return ""
        return _fill_slots(speech, "".join(corrected) if confirms else corrected[0], parts, value)
    if not confirms:
        return ""
    stated = _fill_slots(speech, negative if denied else positive, parts, "")
    return f"{stated[:-1]}, {rest}." if rest else stated


def _fill_slots(speech: _Speech, statement: str, parts: Mapping[str, str | None], value: str) -> str:
    """Return the statement with its slots filled, as a sentence of the person who answers."""

    def fill(found: re.Match[str]) -> str:
        part = value if found[1] == "answer" else _turn_person(speech, parts.get(found[1]) or "")
        return _shape_part(speech, part, found[2])

    text = _SLOT.sub(fill, statement).strip()
    return text[0].upper() + text[1:].rstrip(" .!,;") + "."


def _turn_person(speech: _Speech, part: str) -> str:
    """Return the words of a question in the first person of the person who answers."""
    return speech.turned.sub(lambda one: speech.turns[one[0].casefold()], part)


def _shape_part(speech: _Speech, part: str, how: str | None) -> str:
    """Return a part of a statement in the form of its slot: without an opening word (`strip`), with another word for it
    (`swap`), with a word before it (`before`, `unless` it opens so), or with a unit after a number (`after`).
    """
    if how is None:
        return part
    shape = speech.shapes[how]
    if strip := shape.get("strip"):
        part = _opens(strip).sub("", part)
    swap = shape.get("swap", {})
    first, _, rest = part.partition(" ")
    if part in swap or first in swap:
        return swap[part] if part in swap else f"{swap[first]} {rest}"
    if after := shape.get("after"):
        return part + after if speech.number.fullmatch(part) else part
    unless = shape.get("unless")
    return part if unless and _opens(unless).match(part) else shape.get("before", "") + part


def _find_form(forms: Sequence[_Form], question: str) -> Found | None:
    for form in forms:
        parts = form.parts(question)
        if parts is not None:
            return parts, form.statements
    return None


@lru_cache(maxsize=1024)
def _compile_form(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a form, compiled when a question first begins with its word: few of hundreds ever do."""
    return re.compile(f"(?i:{pattern})")


@lru_cache(maxsize=256)
def _opens(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?i)\A(?:{words})\b\s*")


@lru_cache(maxsize=1)
def _speeches() -> tuple[_Speech, ...]:
    """Return the supported languages, English first."""
    text = files("mnemic.language.sentences").joinpath("data/answers.json").read_text(encoding="utf-8")
    return tuple(_speech(name, given) for name, given in json.loads(text).items())


def _speech(name: str, given: Mapping[str, Any]) -> _Speech:
    words = {one: given.get(one) or _NEVER for one in _WORDS}
    turns = given["turns"]
    longest = sorted(turns, key=len, reverse=True)
    return _Speech(
        name=name,
        opening=re.compile(rf"(?i)\A\W*(?:(?:{given['opening']})\b[\s,.!:-]*)+"),
        closing=re.compile(rf"(?i)[\s,]{{1,4}}(?:{given['closing']})\W{{0,8}}\Z"),
        between=re.compile(rf"(?i)(?<=\w)[\s,]{{1,3}}(?:{words['between']})(?=[\s,])"),
        written=re.compile(rf"(?i)\b{words['written']}"),
        filled=re.compile(rf"(?i)\A\W*(?:(?:{words['filled']})(?!\w)[\s,.:]*)+"),
        clause=re.compile(given["clauses"] if "clauses" in given else rf"(?i)\b(?:{words['clause']})\b|\?"),
        vague=re.compile(rf"(?i)\A\W*(?:{words['vague']})\b|\A\W*\Z"),
        yes=re.compile(rf"(?i)\A\W*(?:(?:{words['yes']})\b[\W_]*)+"),
        no=re.compile(rf"(?i)\A\W*(?:(?:{words['no']})\b[\W_]*)+"),
        small=re.compile(rf"\A(?:{given['small']})\b"),
        number=re.compile(rf"(?i)\A(?:{words['number']})\Z"),
        unread=re.compile(rf"(?i)\b(?:{words['unread']}|{words['pronouns']})\b"),
        pronouns=re.compile(rf"(?i)\b(?:{words['pronouns']})\b"),
        turns=turns,
        turned=re.compile(rf"(?i)\b(?:{'|'.join(longest)})\b"),
        shapes=given["shapes"],
        values=tuple(_forms(given, "values")),
        confirmed=tuple(_forms(given, "confirmed")),
    )


def _forms(given: Mapping[str, Any], kind: str) -> Iterator[_Form]:
    """Yield the forms of question of a kind, with the expressions that several of them share."""
    parts: Mapping[str, str] = given.get("parts", {})
    for pattern, *statements in given[kind]:
        opening = _OPENS_WITH.match(pattern)
        whole = re.sub(r"<([A-Z]+)>", lambda one: parts[one[1]], pattern)
        yield _Form(pattern=whole, first=opening[0].casefold() if opening else "", statements=statements)
