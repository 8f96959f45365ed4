"""What a model proposes, checked against what the user's words say: the value must follow from the quote, and the rules
of clauses can veto it.

A quote shows only that words were said. It supports a value whose words stand in it, or that the tables read of it
under the same key. A question, a guess, somebody else's words, a passing request, a denial, what is over and what is
said of somebody else support nothing that is claimed of the user.
"""

from __future__ import annotations

from mnemic.extract.classify.classifier import weights
from mnemic.extract.clauses import Clause, clauses
from mnemic.extract.grounding import Folded, same_word
from mnemic.extract.remember import asked_to_remember
from mnemic.extract.signals import TRANSIENT, is_certain, left_out, mood_of, payload_follows
from mnemic.extract.statements import THIRD_PARTY
from mnemic.extract.tables import pattern
from mnemic.extract.typed import typed_facts
from mnemic.guard.policy import Policy
from mnemic.text.analyse import terms
from mnemic.types import Candidate, Message

UNSUPPORTED = "unsupported"
NEGATED = "negated"
PAST = "past"
LASTS_FROM = 0.7
"""The classifier's share from which an order is read as one that lasts."""
_DENIAL = pattern(
    r"\b(?:not|no|never|nobody|none|nothing|neither|nor|without|\w+n't|dont|cant|isnt|stopped|quit|gave up|hate|"
    r"dislike|avoid|nicht|"
    r"kein\w*|nie|niemals|ne|pas|jamais|aucun\w*|sans|nunca|ningún\w*|ya no|sin|não|nem|sem|non|mai|nessun\w*|"
    r"senza|niet|geen|"
    r"nooit|zonder)\b|n't\b"
)
_SAYS_DENIAL = pattern(
    r"avoid|dislik|hate|allerg|intoleran|restrict|exclu|never|not?(?:\b|_)|without|free\b|stop|negat|except|phobia"
)
"""A key or value that says itself that something is not."""
_OVER = pattern(
    r"\b(?:used to|formerly|previously|in the past|back then|when i was|once (?:lived|worked|was|had)|no longer|"
    r"any ?more|früher|"
    r"nicht mehr|autrefois|ne .{1,20} plus|antes|ya no|una volta|non .{1,20} più|antigamente|já não|vroeger|"
    r"niet meer)\b"
)
_SAYS_OVER = pattern(
    r"former|previous|past|ex[_ -]|old_|used to|histor|no longer|any ?more|nicht mehr|ya no|plus|niet meer|più|mais"
)
_OTHERS = pattern(
    r"^\W{0,3}(?:(?:and|but|so|because|well|oh|und|et|y|e|en) ){0,2}(?:(?:my|our|the|his|her|their|mein[e]?|"
    r"unser[e]?|m(?:on|a|es)|"
    r"notre|mi|mis|nuestr[oa]|(?:il |la )?mi[oa]|(?:o |a )?(?:meu|minha)|mijn|onze) (?P<who>(?!name|job|work|"
    r"home|diet|seat|favou?rite|"
    r"address|phone|birthday|age|email|e-mail|language|pronouns|allerg|employer|company|time|flight|budget|city|"
    r"plan|tier|account)"
    r"[\w-]{2,20})(?: [A-Z][\w'-]{1,20})?|(?P<he>he|she|they|er|sie|il|elle|él|ella|lui|lei|ele|ela|hij|zij)|"
    r"(?P<name>(?!i\b|i'm|we\b)[A-Z][\w'-]{1,20})) (?:is|was|has|had|lives|works|likes|loves|hates|prefers|wants|"
    r"eats|speaks|plays|can't|"
    r"doesn't|ist|hat|wohnt|arbeitet|mag|est|a|habite|aime|es|tiene|vive|trabaja|è|ha|abita|lavora|é|tem|mora|"
    r"woont|werkt|heeft)\b"
)
"""A clause about somebody other than the user."""
_QUESTIONED = pattern(
    r"^\W{0,3}(?:am i|do i|did i|is my|are my|was i|have i|can i|should i|what|which|where|when|who|why|how)\b"
)


def veto(candidate: Candidate, message: Message, policy: Policy) -> str | None:
    """Why a grounded candidate of a model may not be kept, or None."""
    span = candidate.source.span
    if span is None or not _follows(candidate, policy):
        return UNSUPPORTED
    said = [clause for clause in clauses(message.content) if clause.start < span[1] and clause.end > span[0]]
    shown = any(payload_follows(clause) and clause.end <= span[0] for clause in clauses(message.content)[:8])
    if shown:
        return TRANSIENT
    return next((reason for clause in said if (reason := _against(clause, candidate)) is not None), None)


def _follows(candidate: Candidate, policy: Policy) -> bool:
    """Whether the value stands in the quote, or follows from it."""
    quote = candidate.source.quote or ""
    if Folded(quote).find(candidate.content) is not None:
        return True
    words = terms(quote)
    wanted = [term for term in terms(candidate.content) if len(term) > 2 or term.isdigit()]
    if wanted and all(any(same_word(one, other) for other in words) for one in wanted):
        return True
    read = [(key, value) for clause in clauses(quote) for _, key, value in typed_facts(clause.text, True, policy)]
    return any(key == candidate.key and value.casefold() == candidate.content.casefold() for key, value in read)


def _against(clause: Clause, candidate: Candidate) -> str | None:
    text = clause.text
    reason = left_out(clause, mood_of(clause.sentence))
    if _QUESTIONED.search(text) and asked_to_remember(text) is None:
        return TRANSIENT
    if reason is not None and asked_to_remember(text) is None:
        lasting = not is_certain(clause, reason) and weights().opinions([text])[0].keep >= LASTS_FROM
        if not lasting and reason != "not_durable":
            return reason
    named = f"{candidate.key or ''} {candidate.content}"
    if _OVER.search(text) and not _SAYS_OVER.search(named):
        return PAST
    if _DENIAL.search(text) and not _DENIAL.search(candidate.content) and not _SAYS_DENIAL.search(named):
        return NEGATED
    return THIRD_PARTY if _of_somebody_else(text, named) else None


def _of_somebody_else(text: str, named: str) -> bool:
    """Whether the clause is about somebody whom neither key nor value names."""
    found = _OTHERS.search(text)
    if found is None:
        return False
    who = next((one for one in found.groupdict().values() if one), "")
    return who.casefold() not in named.casefold().replace("_", " ")
