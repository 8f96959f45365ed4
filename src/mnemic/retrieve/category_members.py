"""Questions for a category: "Which sports do I do?" is answered by messages about tennis that never say "sport".

The category is looked up in a small table of everyday categories and their members (`category_members.json`); for other
languages than English in `kinds_in_other_languages.json`. In the keyword list a message that contains a member counts
as one that contains a part of a query word, as with the synonym operators of search engines. The list of those messages
is added to the others without a separate weight.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import takewhile
from pkgutil import get_data
from types import MappingProxyType

from mnemic.language.questions.attributes import words_of_answers
from mnemic.language.text.analyse import terms
from mnemic.language.text.language import language_of
from mnemic.language.text.pattern import Pattern
from mnemic.ports import Snapshot
from mnemic.retrieve.candidate_lists import RankedList
from mnemic.retrieve.question import Question
from mnemic.retrieve.time_questions import PERIOD, asks_for_events, by_period
from mnemic.types import Scored, Where

READ = 300
"""Characters of a question that are read."""
_ASKED_ABROAD = Pattern(
    r"\b(?:welche[nrms]?|was für|wie ?viele|quel(?:le)?s?|combien d(?:e |['’])|qué|cuánt[oa]s|cuál(?:es)?|quale|quali"
    r"|che|quant[ei]|quais|qual|que|quant[oa]s|welke?|wat voor|hoeveel)\s*+((?:[^\W\d_]+['’-]?\s?){1,4})",
    re.IGNORECASE,
)
_SEVERAL_ABROAD = Pattern(
    r"\b(?:wie ?viele?|wie ?oft|combien|cuánt[oa]s|cuántas veces|quant[eio]|quant[oa]s|hoe ?veel|hoe ?vaak"
    r"|alle (?:meine|mijn)|tou(?:te)?s (?:mes|les)|tod[oa]s (?:mis|l[oa]s)|tutt[ei] (?:i|le) mie[i]?"
    r"|todos os meus|todas as minhas)\b",
    re.IGNORECASE,
)


@cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    """Return the members of each kind, by language and by each name of the kind."""
    read: dict[str, dict[str, str]] = json.loads(get_data("mnemic.retrieve", "kinds_in_other_languages.json") or b"{}")
    return {
        language: {name: members for names, members in kinds.items() for name in names.split()}
        for language, kinds in read.items()
    }


def instances_in_other_language(text: str) -> str:
    """Return the words for instances of the kind that a question in another language than English asks for; empty if it
    asks for none.
    """
    text = text[:READ]
    kinds = _tables().get(language_of(text) or "")
    if kinds is None:
        return ""
    for asked in _ASKED_ABROAD.findall(text):
        for word in asked.lower().split():
            if word.strip("'’-") in kinds:
                return kinds[word.strip("'’-")]
    return ""


def asks_for_several_in_other_language(text: str) -> bool:
    """Return True if a question in another language than English asks for a number of things, or for all of them."""
    return language_of(text[:READ]) is not None and _SEVERAL_ABROAD.search(text[:READ]) is not None


INSTANCES, ANSWERS = "instances", "answers"
_READ = 300
"""Characters of a question that are read."""
_ASKED = re.compile(
    r"\b(?:which|what|how many|any|all|some|other|list|name|(?:kinds?|types?|sorts?|forms?) of"
    r"|(?:do|does|did) \w{1,20} (?:have|own)(?: an?)?)\s+"
    r"((?:[^\W\d_]+(?:['’-][^\W\d_]+)*[ ]?){1,5})",
    re.IGNORECASE,
)
_OPTIONS = re.compile(r"[,:] [^,:?]{3,200} or [^,:?]{3,200}\?")
"""Matches a question that names its own options: "Which came first, the concert or the wedding?"."""
_ENDS = frozenset(
    "do does did has have had is are was were am can could will would shall should may might that who".split()
)
"""Words after the category. The word before them names it: "what musical instruments"."""


COUNTS: Mapping[str, float] = MappingProxyType({INSTANCES: 0.35, ANSWERS: 0.35, PERIOD: 1.0})
"""Part of the score of these lists that is added to the keyword list. That of words was chosen on LoCoMo's `dev` half.
"""


@cache
def _table() -> Mapping[str, str]:
    read: dict[str, str] = json.loads(get_data("mnemic.retrieve", "category_members.json") or b"{}")
    # By terms, so that singular, plural and case of the question meet the same entry.
    return {" ".join(terms(kind)): words for kind, words in read.items()}


_SEVERAL = re.compile(
    r"\bhow (?:many|often)\b|\bhow much\b.{1,60}\b(?:total|altogether|overall)\b"
    r"|\b(?:all|list|every) (?:of )?(?:the|my|our)\b"
    r"|\b(?:kinds?|types?|sorts?) of\b",
    re.IGNORECASE,
)
"""Matches a question for a number, or for everything of a kind."""


def asks_for_several(text: str) -> bool:
    """Return True if the answer needs all instances: a number of them, or a set."""
    counted = _SEVERAL.search(text[:_READ]) is not None or asks_for_several_in_other_language(text)
    return counted or bool(instances_of(text))


def instances_of(text: str) -> str:
    """Return the words for instances of the kind that a question asks for; empty if it asks for none."""
    kind = asked_kind(text)
    return instances_in_other_language(text) if kind is None else _table()[kind]


def asked_kind(text: str) -> str | None:
    """Return the kind of thing that a question asks for, as a term; None if it asks for none of the table."""
    # The options are in the question, so members of the category would only add distractors.
    if _OPTIONS.search(text[:_READ]):
        return None
    for asked in _ASKED.findall(text[:_READ]):
        # A verb ends the category: in "which sports do I play" the words after "do" are no kind.
        named = takewhile(lambda word: word.lower() not in _ENDS, asked.split())
        found = [kind for word in named if (kind := " ".join(terms(word))) in _table()]
        if found:
            # The head noun comes last: "musical instruments" are instruments.
            return found[-1]
    return None


async def by_instance(snapshot: Snapshot, where: Where, question: Question) -> Sequence[Scored]:
    """By BM25 over the instances of the requested kind of thing."""
    wanted = instances_of(question.text)
    return await snapshot.match(where, wanted, limit=question.depth) if wanted else ()


async def by_answer(snapshot: Snapshot, where: Where, question: Question) -> Sequence[Scored]:
    """By BM25 over the words that express the requested attribute in statements ("how old": born, years)."""
    wanted = words_of_answers(question.text)
    return await snapshot.match(where, wanted, limit=question.depth) if wanted else ()


RELATED_WORDS: Mapping[str, RankedList] = MappingProxyType(
    {INSTANCES: by_instance, ANSWERS: by_answer, PERIOD: by_period}
)
"""Lists by the implied meaning of a question: words, or events of a time."""


def asked_by(question: Question) -> Mapping[str, RankedList]:
    """Return the words of `RELATED_WORDS` that can find anything."""
    # Lists without any possible match are not run: each is a full-text query.
    wanted = {
        INSTANCES: instances_of(question.text),
        ANSWERS: words_of_answers(question.text),
        PERIOD: asks_for_events(question),
    }
    return {name: made for name, made in RELATED_WORDS.items() if wanted[name]}


def with_instances(
    lists: Mapping[str, Sequence[Scored]], made: Mapping[str, Sequence[Scored]]
) -> dict[str, Sequence[Scored]]:
    """Return `lists` with the lists of related words, which count in the keyword list, too."""
    # Into the keyword list, so that a member counts like the word itself and not like a second opinion.
    scores = dict(lists["keyword"])
    for name, counts in COUNTS.items():
        for memory_id, score in made.get(name, ()):
            scores[memory_id] = scores.get(memory_id, 0.0) + counts * score
    # Ties by identifier, so that the order does not depend on that of the lists.
    keyword = sorted((Scored(*one) for one in scores.items()), key=lambda one: (-one.score, one.memory_id))
    return {**lists, **made, "keyword": keyword}
