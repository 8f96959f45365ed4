"""Questions about a common attribute, phrased otherwise in statements: "how old", "what ... called", "for a living"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from mnemic.language.text.pattern import Pattern

READ = 300
"""Maximum number of characters of a question that are parsed."""
_JOB = "work works worked job profession career occupation employed"
_PHRASES = (
    (Pattern(r"\bdo(?:es)?(?= (?:for|as) (?:a living|work|a job)\b)", re.IGNORECASE), " "),
    (Pattern(r"\b(?:for|as) (?:a living|work|a job)\b", re.IGNORECASE), " job work "),
    (Pattern(r"(?<=\bwhat do )(I|we|you)( do)\b(?=\W*$)", re.IGNORECASE), r"\1 job work"),
    (Pattern(r"(\bwhat does [^?.!]{1,60}?) do\b(?=\W*$)", re.IGNORECASE), r"\1 job work"),
    (Pattern(r"(?<=\w )(?:called|named)\b(?=\W*$)|\bnames? of\b|(?<=['’]s )name\b", re.IGNORECASE), " "),
    (Pattern(r"(\bwhere\b.{1,40}?) (?:come |coming )?from\b(?=\W*$)", re.IGNORECASE), r"\1 originally hometown"),
)
"""Phrases with words that mean something else alone, and their replacements."""
_WHO = r"(?P<who>I|my [^\W\d_]+|[^\W\d_]+)"
_WHOSE = r"(?P<whose>my|[^\W\d_]+['’]s|my [^\W\d_]+['’]s)"
_MATE = r"(?:husband|wife|spouse|partner)"
_HEAD = r"(?:boss|manager|supervisor)"
_ASKED_FOR = r"\bwho(?:['’]s| is) (?:my|[^\W\d_]+['’]s)"
_ANSWERED: Mapping[Pattern, str] = MappingProxyType(
    {
        Pattern(pattern, re.IGNORECASE): words
        for pattern, words in {
            r"\bwhat\b.{1,60}\b(?:called|named)\b\W*$|\bnames? of\b|['’]s name\b": "called name named",
            r"\bhow old\b|\b(?:my|['’]s) age\b": "age aged old years born turned birthday",
            r"\bwhen\b.{1,30}\bborn\b|\bwhen\b.{1,30}\bbirthday\W*$|\byear\b.{1,30}\bborn\b": "born birthday birthdate",
            r"\bwhere\b.{1,40}\bfrom\b\W*$|\bwhere\b.{1,30}\b(?:born|grow up)\b\W*$|\bwhat\b.{1,20}\bhome ?town\b": (
                "from born grew originally hometown raised native"
            ),
            r"\bwhat (?:do|does) .{1,40}\bdo\b\W*$|\b(?:for|as) (?:a living|work|a job)\b": _JOB,
            rf"\bwhat(?:['’]s| is) {_WHOSE} (?:job|profession|occupation)\b": _JOB,
            r"\b(?:where|who) (?:do|does) .{1,30}\bwork\b(?: for| at)?\W*$|\bmy employer\b": (
                f"{_JOB} employer company joined"
            ),
            rf"{_ASKED_FOR} {_MATE}\b|\b{_MATE}(?:['’]s name| called)\b": "married husband wife spouse partner",
            rf"{_ASKED_FOR} {_HEAD}\b|\b{_HEAD}(?:['’]s name| called)\b": "boss manager supervisor",
            r"\bmy (?:address|city|town)\b|\bwh(?:at|ich) (?:city|town) (?:am|do) I\b": "live lives living moved",
            r"\bhow tall\b|\bmy height\b": "tall height cm",
            r"\bhow heavy\b|\bhow much\b.{1,30}\bweigh\b|\bmy weight\b": "weigh weighs weight kilos kg pounds",
            r"\bwh(?:at|ich car) do(?:es)? .{1,30}\bdrive\b\W*$": "car drive drives",
            r"\bwhat\b.{1,20}(?:can['’]?t|cannot|not) .{0,20}\beat\b": "allergic allergy intolerant vegetarian vegan",
        }.items()
    }
)
"""Words of the answering statements, by the question."""

_STATED = tuple(
    (Pattern(asked, re.IGNORECASE), mine, other)
    for asked, mine, other in (
        (
            (
                rf"\bwhat (?:do|does) {_WHO} do\b(?: (?:for|as) (?:a living|work|a job))?\W*\Z"
                rf"|\bwhat(?:['’]s| is) {_WHOSE} (?:job|profession|occupation)\b"
            ),
            "I am an engineer, I work as",
            "{who} is an engineer, works as",
        ),
        (
            rf"\b(?:where|who) (?:do|does) {_WHO} work\b",
            "I work as an engineer at a company",
            "{who} works at a company",
        ),
        (
            r"\bwhat(?:['’]s| is) my (?:address|city|town)\b|\bwh(?:at|ich) (?:city|town|country) (?:am|do) I\b",
            "I live in",
            "",
        ),
        (
            rf"\bwhere (?:am|is|are|do|does) {_WHO} (?:come )?from\b|\bmy home ?town\b",
            "I am originally from",
            "{who} is originally from",
        ),
        (
            rf"\bmy {_MATE}\b(?=['’]s name| called)|\bwho(?:['’]s| is) my {_MATE}\b",
            "I am married to",
            "",
        ),
        (
            r"\bmy (?P<kin>[^\W\d_]+)(?: called\b|['’]s name\b)|\bname of my (?P<kin2>[^\W\d_]+)",
            "",
            "My {who} Sam",
        ),
        (
            rf"\bhow old (?:am|is|are) {_WHO}\b|\bwhat(?:['’]s| is) my age\b",
            "I am 30 years old",
            "{who} is 30 years old",
        ),
        (r"\bwh(?:at|ich car) do I drive\b", "My car is a", ""),
        (r"\bwhat (?:can['’]?t|cannot|must|should)(?: I)? (?:not |I )?eat\b|\bmy allergies\b", "I am allergic to", ""),
    )
)
"""Questions, and the beginning of an answering statement about the user or about somebody else."""


def plainly_asked(text: str) -> str:
    """Return a question with phrases such as "do for a living" replaced by words that mean the same alone."""
    for phrase, words in _PHRASES:
        text = phrase.sub(words, text[:READ]) + text[READ:]
    return text


def words_of_answers(text: str) -> str:
    """Return the words of statements for the attribute in question; empty if none is known."""
    found = [words for asked, words in _ANSWERED.items() if asked.search(text[:READ])]
    return " ".join(dict.fromkeys(" ".join(found).split()))


def statement_opening(text: str) -> str | None:
    """Return the beginning of a statement that answers a question about a common attribute; None for other questions.
    Its vector is nearer to such statements than that of the question.
    """
    for asked, mine, other in _STATED:
        match = asked.search(text[:READ])
        if match is None:
            continue
        said = {name: who for name, who in match.groupdict().items() if who}
        who = said.get("who", said.get("whose", "I")).strip()
        who = re.sub(r"['’]s\Z", "", who)
        if (kin := said.get("kin", said.get("kin2"))) is not None:
            return other.format(who=kin)
        return mine if who.lower() in ("i", "my") else other.format(who=who[:1].upper() + who[1:]) or None
    return None
