"""Check of a proposal against the message that it quotes: which of its words are the user's statement, and whether a
value follows from them.

What the words mean is the proposer's reading. Here is checked what the message shows by its form: text that is pasted,
quoted or to be worked on, a role to play, small talk, and a question.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mnemic.extract.grounding import NormalisedText, same_word
from mnemic.extract.typed_facts import typed_facts
from mnemic.language.comparison import is_safety
from mnemic.language.questions.small_talk import is_small_talk
from mnemic.language.sentences.clauses import Clause, clauses
from mnemic.language.sentences.exclusion_rules import mood_of, payload_follows
from mnemic.language.sentences.pasted_text import data_spans, fiction_from
from mnemic.language.text.analyse import terms
from mnemic.language.text.pattern import Pattern
from mnemic.policy.key_rules import Policy
from mnemic.reason_codes import NOT_DURABLE, QUOTED, SARCASM, TRANSIENT

MAX_BEFORE = 8
"""Maximum number of clauses before a quote that may announce a text."""
_ASIDE = Pattern("^\\s*[,;:–—(-]|^\\s*[\U0001f300-\U0001faff]")
_ASKED = Pattern(
    r"(?i)(?:^|,|\s-|\s(?:and|und|et|y|e|en))\s*(?:any|anyone|can|could|do|does|did|is|are|was|would|should|will"
    r"|how|what|whats|what's"
    r"|when|where|which|who|why|help|wie|was|wo|wer|wann|welche\w*|kann|konn\w*|gibt|tu|est-ce|quel\w*|comment|ou"
    r"|que|qué|cuál|cómo"
    r"|dónde|quién|puedes|che|cosa|come|dove|quale|puoi|qual|como|onde|podes|hoe|wat|waar|wie|kun|kan)\b[^,]*\?+$"
)
"""Matches the question that follows a statement: "I moved to Bonn, is there a pool?"."""
_ORDERS = Pattern(
    r"(?i)^\W*(?:can|could|would|will) (?:you|we) (?:please )?(?:switch|change|move|make|stop|use|put|set|go)\b"
)
"""Matches a wish for a change in the form of a question, which is a statement."""
_QUOTATION = Pattern('"([^"\n]{1,400})"|“([^”\n]{1,400})”|«([^»\n]{1,400})»|„([^“”\n]{1,400})[“”]')
SHORTEST_QUOTATION = 3
"""Words from which a text in quotation marks is speech or shown text, and no name."""


def refusal(text: str, span: tuple[int, int], *, may_ask: bool, own: Collection[str] = ()) -> str | None:
    """Return the reason for which the words at `span` of a message are no statement of its author's, or None.
    `may_ask`: an instruction and a change of a known memory may have the form of a question. `own`: the author's name,
    in parts.
    """
    parts = clauses(text)
    said = [clause for clause in parts if clause.start < span[1] and clause.end > span[0]]
    before = [clause for clause in parts[:MAX_BEFORE] if clause.end <= span[0]]
    if any(payload_follows(clause) or fiction_from(clause.sentence) for clause in before):
        return TRANSIENT
    if any(start < span[1] and end > span[0] for start, end in (*data_spans(text, own), *_quotations(text))):
        return QUOTED
    if said and not is_safety(text[slice(*span)]) and all(mood_of(one.sentence).reason == SARCASM for one in said):
        return SARCASM
    if is_small_talk(" ".join(clause.text for clause in said)):
        return NOT_DURABLE
    if not may_ask and said and all(_asks(clause, span) for clause in said):
        return TRANSIENT
    return None


def _quotations(text: str) -> list[tuple[int, int]]:
    """Return the places of texts in quotation marks that are longer than a name."""
    found = [(match, next(filter(None, match.groups()), "")) for match in _QUOTATION.finditer(text)]
    return [match.span() for match, inside in found if len(inside.split()) >= SHORTEST_QUOTATION]


def _asks(clause: Clause, span: tuple[int, int]) -> bool:
    """Return True if the words at `span` are a part of the question that a clause asks, and no statement before it."""
    end = span[1] - clause.start
    return clause.asks and end > stated_until(clause.text) and not _ASIDE.search(clause.text[end:])


def stated_until(text: str) -> int:
    """Return the number of characters of `text` before a question begins."""
    text = text.rstrip()
    if not text.endswith("?") or _ORDERS.search(text):
        return len(text)
    asked = _ASKED.search(text)
    return len(text[: asked.start()].rstrip(" ,")) if asked else 0


def said_until(text: str, end: int) -> int:
    """Return the end, within its clause, of the statement that has a quote ending at `end`: before a following
    question, or at the end of the clause.
    """
    if not text.rstrip().endswith(("?", "？")):
        return len(text)
    stated = stated_until(text)
    if end <= stated:
        return stated
    return end if _ASIDE.search(text[end:]) else len(text)


def follows(value: str, key: str | None, quote: str, policy: Policy) -> bool:
    """Return True if the value is in the quote, or the tables read it there under the key."""
    if NormalisedText(quote).find(value) is not None or _in_order(terms(value), terms(quote)):
        return True
    return (key, value.casefold()) in read_values(quote, policy)


def _in_order(wanted: Sequence[str], words: Sequence[str]) -> bool:
    """Check that `words` contain `wanted` in order: "tea over coffee" does not follow from "coffee over tea"."""
    # One iterator for all: each word is looked for after the previous one, which checks the order.
    rest = iter(words)
    return bool(wanted) and all(any(same_word(one, other) for other in rest) for one in wanted)


def read_values(quote: str, policy: Policy) -> set[tuple[str | None, str]]:
    """Return the keys and values, in lower case, that the tables read in a quote."""
    return {
        (key, value.casefold()) for clause in clauses(quote) for _, key, value in typed_facts(clause.text, True, policy)
    }


__all__: Sequence[str] = ("follows", "read_values", "refusal", "said_until")
