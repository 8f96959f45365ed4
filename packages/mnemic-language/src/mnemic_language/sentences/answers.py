"""Answers to a question as statements: "How old is Cody?" - "Ten" says that Cody is ten.

People answer in phrases, which say nothing alone. Together with the question a phrase is a statement of whoever
answers, if the question asks plainly for one thing of the listener or of somebody who is named. The forms of question,
and the statement that each asks for, are in `data/answers.json`. English only.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib.resources import files

from mnemic_language.sentences.casual_spelling import written_out
from mnemic_language.sentences.tables import straight

LONGEST_ANSWER = 12
"""Words of a phrase that answers; more are a story."""
LONGEST_QUESTION = 14
"""Words of a question that asks for one thing."""
LONGEST_READ = 400
"""Characters at the end of a message in which its question is looked for."""
_LAST = re.compile(r"[^.?!\n]{2,200}(?=[?\n]|\W{0,3}\Z)")
_OPENING = re.compile(
    r"(?i)\A\W*(?:(?:and|so|but|ok|okay|oh|well|wait|um|uh|yeah|yes|hey|right|now|then|cool|nice|wow|haha|lol|congrats"
    r"|great|amazing|ooh|ouch|ah|hm+|by the way|btw|remind me|tell me|question|sorry|lovely)\b[\s,.!:-]*)+"
)
_CLOSING = re.compile(
    r"(?i)[\s,]{1,4}(?:again|btw|by the way|tho|though|then|now|anyway|these days|at the moment|exactly|mate|man|bro|"
    r"dude|lol|haha|dear|darling|love|too|actually|if you don't mind(?: me)?(?: my)?(?: asking)?)\W{0,8}\Z"
)
_SPELLED = (
    (re.compile(r"(?i)\bu\b"), "you"),
    (re.compile(r"(?i)\bur\b"), "your"),
    (re.compile(r"(?i)\br\b"), "are"),
    (re.compile(r"(?i)\b(when|where|what|who|how)s\b"), r"\1's"),
)
_SHOWN = re.compile(r"[\w' ,&/-]+")
"""Matches the words of a question that may become part of a statement: no marks, addresses or markup."""
_FILLED = re.compile(
    r"(?i)\A\W*(?:(?:uh|um|oh|well|so|ah|hm+|like|just|i think|i guess|lol|haha|actually|probably|that's|it's|its"
    r"|that is|it is|to|called)\b[\s,.]*)+"
)
_CLAUSE = re.compile(
    r"(?i)\A\W*(?:i|we|he|she|they|you|it|there|my|our|his|her|their|this|that)\b(?!'s\W*\Z)|"
    r"\b(?:i|we|he|she|they|you|it)(?:'m|'re|'ve|'s|'ll|'d)?\s+\w+|\?"
)
"""Matches an answer that is a whole clause, and is read as it stands."""
_VAGUE = re.compile(
    r"(?i)\A\W*(?:no(?:ne|thing|body|where|pe|t)?|nah|never|yes|yeah|yep|yup|sure|ok(?:ay)?|maybe|idk|dunno|good|fine"
    r"|great|bad|nice|cool|same|depends|guess|why|what|where|when|how|who|exactly|right|true|lol|haha+|because"
    r"|cause|cos|something|anything|everything|stuff|things|later|soon|then|here|there|now|tonight|today|tomorrow"
    r"|thanks?|please|don't|do|did|sorry|ha|hm+|ugh|omg|wow|hi|hey|hello|bye|me|you|him|her|them|this|that|it|ones?"
    r"|see|shut|stop|ask|not|a lot|a bit)\b|\A\W*\Z"
)
"""Matches answers that give no value."""
_YES = re.compile(r"(?i)\A\W*(?:yes|yeah|yep|yup|yea|of course)\b[\W_]*")
_NO = re.compile(r"(?i)\A\W*(?:no|nope|nah)\b[\W_]*")
_PRONOUN = re.compile(r"(?i)\b(?:he|she|it|they|him|them|this|that|these|those|ones?|his|her|its|their|hers)\b")
_NUMBER = re.compile(
    r"(?i)\A(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"\w{2,5}teen|\w{3,5}ty(?:[- ]\w+)?)\Z"
)
_SMALL = re.compile(
    r"\A(?:For|Since|About|Around|Over|In|At|On|By|With|From|The|An?|My|Our|One|Two|Three|Four|Five|Six|Seven|Eight|Nine"
    r"|Ten|Almost|Nearly|All)\b"
)
"""Matches a first word that has its capital only where a sentence begins."""
_PLACED = re.compile(r"(?i)\A(?:in|at|on|near|by|outside|with|over|down|up|from|to|between|across|around)\b")
_LASTING = re.compile(r"(?i)\A(?:for|since|all|my whole|from|ever)\b")
_PASSING = re.compile(
    r"(?i)\b(?:doing|plans?|up to|feeling|weather|mean|think|thoughts?|say|said|happen\w*|wrong|matter|tonight|today|"
    r"tomorrow|yesterday|point|problem|difference|deal|story|news|verdict|time|guess|joke|question|opinion|take|idea|"
    r"this weekend|last night|right now|going on|wearing|watching|eating|cooking|making|poison|excuse)\b"
)
"""Matches questions about the moment or the talk itself."""
_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")
_TURNS = {"your": "my", "you": "I", "yours": "mine", "yourself": "myself"}
_PAST = {"grow up": "grew up", "study": "studied"}


@lru_cache(maxsize=1)
def _forms() -> dict[str, list[tuple[re.Pattern[str], list[str]]]]:
    """Return the forms of question with the statements that they ask for: `values` and `confirmed`."""
    text = files("mnemic_language.sentences").joinpath("data/answers.json").read_text(encoding="utf-8")
    return {
        kind: [(re.compile(rf"(?i:{form[0]})"), form[1:]) for form in forms] for kind, forms in json.loads(text).items()
    }


def question_of(text: str) -> str:
    """Return the question that a message ends with, written out and without fillers; empty if it asks nothing so."""
    found = _LAST.findall(straight(text.strip()[-LONGEST_READ:]))
    if not found:
        return ""
    asked = written_out(found[-1].strip())
    for form, full in _SPELLED:
        asked = form.sub(full, asked)
    asked = _OPENING.sub("", asked).strip()
    for _ in range(2):
        asked = _CLOSING.sub("", asked).strip()
    return asked if len(asked.split()) <= LONGEST_QUESTION and _SHOWN.fullmatch(asked) else ""


def statement_of(question: str, answer: str, *, confirms: bool = True) -> str:
    """Return the statement that a phrase makes as the answer to a question (`question_of`); empty if it makes none that
    is certain, or is a clause that needs no question. `confirms`: a bare yes or no counts.
    """
    said = straight(answer).strip()
    if not question or not said or len(said.split()) > LONGEST_ANSWER or _PRONOUN.search(question):
        return ""
    if confirms and (_YES.match(said) or _NO.match(said)):
        return _confirmed(question, said)
    value = _SMALL.sub(lambda one: one[0].lower(), _FILLED.sub("", said).strip(" .!,;"))
    if not value or _VAGUE.search(value) or _CLAUSE.search(said) or _PASSING.search(question):
        return ""
    for form, (statement,) in _forms()["values"]:
        parts = form.fullmatch(question)
        if parts is not None:
            return _filled(statement, parts.groupdict(), value)
    return ""


def _confirmed(question: str, said: str) -> str:
    """Return the statement that a yes or a no makes, with the few words after it; a clause is read as it stands."""
    denied = _NO.match(said) is not None
    rest = _NO.sub("", _YES.sub("", said)).strip(" .!,;")
    if rest and (denied or _CLAUSE.search(rest) or len(rest.split()) > LONGEST_ANSWER // 2):
        return ""
    for form, (positive, negative) in _forms()["confirmed"]:
        parts = form.fullmatch(question)
        if parts is not None:
            stated = _filled(negative if denied else positive, parts.groupdict(), "")
            return f"{stated[:-1]}, {rest}." if rest else stated
    return ""


def _filled(statement: str, parts: dict[str, str | None], value: str) -> str:
    """Return the statement with its places filled, as a sentence of whoever answers."""

    def fill(found: re.Match[str]) -> str:
        part = value if found[1] == "answer" else _turned(parts.get(found[1]) or "")
        return _shaped(part, found[2])

    text = _SLOT.sub(fill, statement).strip()
    return text[0].upper() + text[1:].rstrip(" .!,;") + "."


def _shaped(part: str, how: str | None) -> str:
    """Return a part of a statement in the form that its place asks for."""
    if how == "years":
        return f"{part} years old" if _NUMBER.fullmatch(part) else part
    if how == "place":
        return part if _PLACED.match(part) else f"in {part}"
    if how == "long":
        return part if _LASTING.match(part) else f"for {part}"
    if how == "bare":
        return re.sub(r"(?i)\A(?:with|for|at)\s+", "", part)
    if how == "some":
        return re.sub(r"(?i)\Aany ", "", part)
    return _PAST.get(part, part) if how == "past" else part


def _turned(part: str) -> str:
    """Return the words of a question as whoever answers says them."""
    return re.sub(r"(?i)\b(?:yourself|yours|your|you)\b", lambda one: _TURNS[one[0].casefold()], part)
