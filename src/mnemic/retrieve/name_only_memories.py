"""Memories that only identify a person: "My sister Emma." is near to "Where does my sister live?".

Such a memory has the words of its subject alone, so that a question about the subject finds all of its words in it, and
more of them than in the statement that answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mnemic.language.text.pattern import Pattern
from mnemic.retrieve.distractor_siblings import OWNED
from mnemic.types import Memory

_MOST = 48
"""Characters of the longest mere name."""
_FEWEST, _MAX_WORDS = 2, 4
"""Words after "my": a role, and a name."""
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_NAMES = re.compile(r"(?:[^\W\d_]|[-'’ ,:(])+[.!)]*")
"""Matches words without numbers, in one sentence."""
_ASKS_MORE = Pattern(
    r"\A\W*(?:(?:and|so|but|und|et|y|e|en) )?"
    r"(?:where|when|why|how|what (?:do|does|did|has|have|had)\b|wo|wohin|woher|wann|warum|wie|was (?:macht|tut)"
    r"|où|d['’]où|quand|pourquoi|comment|que fait|dónde|de dónde|cuándo|por qué|cómo|qué hace"
    r"|dove|di dove|quando|perché|come|cosa fa|che fa|onde|de onde|por que|como|o que faz"
    r"|waar|wanneer|waarom|hoe|wat doet)\b",
    re.IGNORECASE,
)
"""Matches a question that no name answers, but for those of `_FOR_A_NAME`."""
_FOR_A_NAME = Pattern(
    r"\b(?:called|named?|names|heiß\w+|appell\w+|llam\w+|nombre|chiam\w+|nome|cham\w+|heet|know|related"
    r"|how many|wie ?viele?|combien|cuánt[oa]s|quanti|quante|quantos|quantas|hoe ?veel)\b",
    re.IGNORECASE,
)
"""Matches a question for a name, or for a number of people, each represented by a name."""


def asks_more(question: str) -> bool:
    """Return True if `question` asks for more than an identity."""
    return _ASKS_MORE.match(question) is not None and _FOR_A_NAME.search(question) is None


def mere_names(memories: Mapping[str, Memory]) -> frozenset[str]:
    """Return the memories that consist of a person's relation to the user, and a name."""
    return frozenset(one for one, memory in memories.items() if memory.key is None and _is_mere_name(memory.content))


def _is_mere_name(content: str) -> bool:
    text = content.strip()
    if len(text) > _MOST or _NAMES.fullmatch(text) is None:
        return False
    words = _WORD.findall(text)
    owners = [place for place, word in enumerate(words) if word.lower() in OWNED]
    if len(owners) != 1:
        return False
    rest = words[: owners[0]] + words[owners[0] + 1 :]
    return (
        _FEWEST <= len(rest) <= _MAX_WORDS
        and sum(word[0].islower() for word in rest) <= 1
        and rest[-1 if not owners[0] else 0][0].isupper()
    )
