"""A third small classifier: statements of a talk between two people that are worth telling somebody who meets one.

The classifier of statements was trained on messages to an assistant, which are mostly whole and meant to be known.
Between people the same threshold stores remarks, parts of answers and things of the moment. This logistic model reads
the statement, the opinions of the other two classifiers, and the other person's words before it. Its weights are in
`between_people.json`; `training/keeping/train_between_people.py` trains them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from pkgutil import get_data

from mnemic.language.sentences.casual_spelling import written_out
from mnemic.language.sentences.classify.classifier import Opinion, log_odds
from mnemic.language.sentences.general_knowledge_messages import speaks_of_self
from mnemic.language.sentences.tables import pattern
from mnemic.language.sentences.unresolved_references import leans

WORTH_FROM = 0.65
"""Minimum probability for storing a statement of a talk between people. Of 555 statements of chats and telephone calls,
each judged by weights trained without its talk, 64 % above it are of use and 21 % borderline, instead of 34 and 26 % of
all; 48 % of those of use remain.
"""
SURE = 0.98
"""Maximum probability for the log odds; the minimum is 1 minus it."""
LONGEST_SHOWN = 200
"""Number of characters at the end of the other person's words that are read."""
KEPT_AS = ("identity", "relation", "preference", "fact", "event", "safety", "change")
LEFT_AS = ("transient", "opinion", "chat", "dangling", "gossip")
LENGTHS = (3, 5, 8, 16, 24)
_OPENS = r"^\W*(?:(?:and|but|so|well|because|cause|though|also|yeah|yes|actually|now|uh|um|oh)\W+)*"
_FORMS = {
    "by_self": pattern(rf"{_OPENS}(?:i|we)(?:'\w+)?\b"),
    "of_own": pattern(rf"{_OPENS}(?:my|our)\s+\w"),
    "of_unnamed": pattern(
        rf"{_OPENS}(?:he|she|they|it|that|this|these|those|his|her|their|its|there|you|your)(?:'\w+)?\b"
    ),
    "goes_on": pattern(
        r"\b(?:i|we)(?:'m| am|'re| are|'ve got| have| live| work| play| love| like| hate| study| teach| share| use|"
        r" speak| drive| prefer| enjoy| own| take| eat| collect| run| rent)\b"
    ),
    "happened": pattern(
        r"\b(?:moved|bought|sold|quit|left|started|passed|joined|married|divorced|retired|graduated|broke up|"
        r"got (?:a|the|my|married|engaged)|offered|diagnosed|born|died|allergic|pregnant|promoted|hired|changed|"
        r"gave up|stopped)\b"
    ),
    "kin": pattern(
        r"\b(?:mother|father|mum|mom|dad|sister|brother|son|daughter|wife|husband|kids?|children|boyfriend|girlfriend|"
        r"partner|cousin|aunt|uncle|grand\w+|parents|dog|cat|puppy|boss|manager|doctor|flatmates?|roommate)\b"
    ),
    "breaks_off": pattern(
        r"\b(?:the|an?|of|to|and|or|but|so|because|in|on|at|with|that|from|for|my|our|i|uh|um|when|where|those|these|"
        r"any|some)\W*$"
    ),
    "general": pattern(r"\b(?:you|your|people|somebody|someone|everybody|they|things?)\b"),
    "likes": pattern(r"\b(?:love|like|enjoy|hate|prefer|can't stand|favou?rite)\b"),
    "thinks": pattern(
        r"\b(?:i|we) (?:don't |can't |do )?(?:know|remember|think|guess|mean|see|say|said|believe|wonder|understand|"
        r"forget|keep)\b"
    ),
    "filled": pattern(r"\b(?:uh|um|you know|i mean|i guess|i think|lol|haha|kind of|sort of)\b|,\s*,|:\(|😭"),
}
_VERB = pattern(
    r"\b(?:am|is|are|was|were|be|been|has|have|had|do|does|did|can|can't|don't|doesn't|didn't|won't|will|would|\w{2,}ed|"
    r"\w{3,}[^s\W]s|i'm|i've|he's|she's|it's|they're|we're|we've|got|went|took|gave|made|came|bought|quit|broke|met|sold"
    r"|left|found|told|said|put|let|love|like|hate|live|work|play|go|take|eat|need|want|know|think|start|run|drive"
    r"|study|teach|share|use|buy|enjoy)\b"
)
_ASKS = pattern(
    r"\?\s*$|^\W*(?:what|where|who|how|when|which|why|do you|did you|are you|have you|is he|is she)\b[^.!]{0,80}$"
)
_TWO_SENTENCES = re.compile(r"[.!?]\s+\S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A statement to judge: its `content`, the opinions of its sentence (`whole`) and of its most favourable part
    (`best`), the probability that it is world talk, and the other person's words before it.
    """

    content: str
    whole: Opinion
    best: Opinion
    world: float
    other: str = ""


def measure_features(said: Said) -> dict[str, float]:
    """Return the features of a statement by name."""
    text = written_out(said.content)
    words, self_named = len(text.split()), speaks_of_self(text)
    found = {name: float(form.search(text) is not None) for name, form in _FORMS.items()}
    own = bool(found["by_self"] or found["of_own"])
    asked = _ASKS.search(said.other[-LONGEST_SHOWN:]) is not None
    found["phrase"] = float(_VERB.search(text) is None and not self_named)
    found |= {"asked": float(asked), "answers": float(asked and not own), "self": float(self_named)}
    found |= {"leans": float(leans(text)), "calls": float("!" in text)}
    found["two"] = float(_TWO_SENTENCES.search(text) is not None)
    found |= {f"longer_{most}": float(words > most) for most in LENGTHS}
    found |= {name: said.best.share(name) for name in KEPT_AS}
    found |= {name: said.whole.share(name) for name in LEFT_AS}
    return found | {
        "kept": log_odds(said.best.keep, SURE),
        "kept_whole": said.whole.keep,
        "world": log_odds(said.world, SURE),
    }


def worth(said: Said) -> float:
    """Return the probability that a statement is worth telling somebody who meets its speaker again."""
    weights = _weights()
    total = weights["bias"] + sum(weights.get(name, 0.0) * value for name, value in measure_features(said).items())
    return 1 / (1 + exp(-total))


def is_worth_telling(said: Said) -> bool:
    """Return True if a statement of a talk between people is worth storing."""
    return worth(said) >= WORTH_FROM


@lru_cache(maxsize=1)
def _weights() -> dict[str, float]:
    """Return the weights by feature name, and the `bias`."""
    found: dict[str, float] = json.loads(get_data(__package__, "between_people.json") or b"{}")["weights"]
    return found
