"""Matching of a memory with a label of the truth set: by shared content words, regular expressions and words of
ending.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from mnemic.types import Memory

KEPT_FROM = 0.5
CLAIMED_FROM = 0.75
LONG_TURN_WORDS = 20
MAX_OF_LONG_TURN = 0.6
_STEM = 5
_STOP = frozenset(
    (
        "the a an and or of to in on at by for with from is are was were be been have has had do does did not "
        "no it its this that "
        "these those user users user's my your his her their our we they she he you i me us them who which what "
        "when where there "
        "here as so but if then than also too very der die das ein eine einen einer dem den des und oder ist "
        "sind war hat haben im "
        "am an auf mit von zu bei nutzer nutzerin ich mein meine wir unser le la les un une des du de et ou est "
        "sont a au aux en "
        "dans chez avec par pour l' d' utilisateur utilisatrice je mon ma mes nous notre el los las una y o es "
        "son con por para "
        "del al usuario usuaria mi mis su sus yo nosotros os as um uma e do da dos das na em com utilizador meu "
        "minha il lo gli "
        "uno di che per utente mio mia het een van op met gebruiker ik mijn wij"
    ).split()
)
_ENDED = re.compile(
    r"\b(no longer|any ?more|any longer|used to|former(ly)?|gone|dropped|quit|gave up|stopped|cancelled|canceled|"
    r"instead of|"
    r"replaced|closed down|sold|broke up|split up|died|passed away|ran out|expired|ended|decommissioned|"
    r"nicht mehr|schluss|"
    r"gekündigt|getrennt|abgegeben|plus de|annulé|fini|ya no|dejado|dejé|se acabó|quitado|já não|deixei|vendi|"
    r"niente più|"
    r"non serve più|lasciat[oa]|niet meer|gestopt|verlopen|opgezegd)\b|history$",
    re.IGNORECASE,
)
NEGATED = re.compile(
    r"\b(not|no|never|none|nobody|don.?t|doesn.?t|isn.?t|aren.?t|didn.?t|nicht|kein\w*|nie|ne|pas|jamais|nunca|"
    r"ning\w+|não|non|"
    r"mai|niente|nessun\w*|niet|geen)\b|n't",
    re.IGNORECASE,
)


def content_words(text: str) -> set[str]:
    """Return the content words of `text`: without accents, without a plural s, cut to five letters."""
    folded = unicodedata.normalize("NFKD", text.lower().replace("_", " "))
    plain = "".join(character for character in folded if not unicodedata.combining(character))
    words = (word for word in re.findall(r"[^\W_]+", plain) if word not in _STOP and (len(word) > 1 or word.isdigit()))
    return {(word.rstrip("s") if len(word) > 3 else word)[:_STEM] for word in words}


def cover(statement: str, text: str) -> float:
    """Return the share of the statement's content words that are in `text`."""
    wanted = content_words(statement)
    return len(wanted & content_words(text)) / len(wanted) if wanted else 0.0


def memory_text(memory: Memory) -> str:
    """Return the text of a memory as an agent sees it."""
    return f"{memory.key}: {memory.content}" if memory.key else memory.content


def matches(expression: str, text: str) -> bool:
    """Return True if a label's regular expression is found in `text`."""
    return re.search(expression, text, re.IGNORECASE | re.DOTALL) is not None


def is_stale(text: str, ask: Mapping[str, Any]) -> bool:
    """Return True if a text states an ended fact as current: it matches `must_not`, no `must`, and has no word of
    ending.
    """
    return (
        any(matches(one, text) for one in ask["must_not"])
        and not any(matches(one, text) for one in ask["must"])
        and _ENDED.search(text) is None
    )


def keeps(text: str, statement: str, turn: str) -> bool:
    """Return True if `text` has half of the statement's words and is not a whole long turn."""
    if cover(statement, text) < KEPT_FROM:
        return False
    words = content_words(turn)
    return len(words) <= LONG_TURN_WORDS or len(words & content_words(text)) / len(words) <= MAX_OF_LONG_TURN


def is_right(memory: Memory, statement: str, turn: str) -> bool:
    """Return True if a memory contains the statement, or is a value that is entirely in it."""
    words = content_words(memory.content)
    return keeps(memory_text(memory), statement, turn) or (bool(words) and words <= content_words(statement))
