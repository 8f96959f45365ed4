"""Check of a model's proposals against the user's words: the value must follow from the quote, and the rules for
clauses can veto it.

A quote proves only that words were said. It supports a value whose words it contains, or that the tables read in it
under the same key. A question, a guess, another person's words, a passing request, a denial, a past state and a
statement about another person support no claim about the user.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mnemic.extract.grounding import NormalisedText, same_word
from mnemic.extract.typed_facts import typed_facts
from mnemic.policy.key_rules import Policy
from mnemic.reason_codes import HYPOTHETICAL, NEGATED, PAST, QUOTED, THIRD_PARTY, TRANSIENT, UNSUPPORTED
from mnemic.types import Candidate, Message
from mnemic_language.frames.stated_part import stated_until
from mnemic_language.sentences.classify.classifier import weights
from mnemic_language.sentences.clauses import Clause, clauses
from mnemic_language.sentences.exclusion_rules import is_certain, left_out, mood_of, payload_follows
from mnemic_language.sentences.pasted_text import data_spans, fiction_from
from mnemic_language.sentences.remember import asked_to_remember
from mnemic_language.sentences.tables import pattern
from mnemic_language.text.analyse import terms

LASTS_FROM = 0.5
"""Minimum share of the classifier at which an order counts as permanent."""
CHANGES_FROM = 0.2
"""The same if the instruction is proposed as a change of a known memory."""
_DENIAL = pattern(
    r"\b(?:not|never|nobody|none|nothing|neither|nor|without|\w+n't|dont|cant|isnt|stopped|quit|gave up|hate|"
    r"dislike|avoid|nicht|"
    r"kein\w*|nie|niemals|ne|pas|jamais|aucun\w*|sans|nunca|ningún\w*|ya no|sin|não|nem|sem|non|nessun\w*|"
    r"senza|niet|geen|nooit|zonder)\b|n't\b|"
    r"(?<!\bmoro\s)(?<!\btrabalho\s)(?<!\bvivo\s)(?<!\bestudo\s)(?<!\bestou\s)\bno\b"
)
_SAYS_DENIAL = pattern(
    r"avoid|dislik|hate|allerg|intoleran|restrict|exclu|never|not?(?:\b|_)|without|free\b|stop|negat|except|phobia"
)
"""Matches a key or value that itself contains a negation."""
_OVER = pattern(
    r"\b(?:used to|formerly|previously|in the past|back then|when i was|once (?:lived|worked|was|had)|no longer|"
    r"any ?more|früher|"
    r"nicht mehr|autrefois|ne .{1,20} plus|antes|ya no|una volta|non .{1,20} più|antigamente|já não|vroeger|"
    r"niet meer|a l'époque|à l'époque|jadis|in passato|un tempo|outrora|dantes|destijds|damals)\b"
)
_LIVED = pattern(
    r"\b(?:(?:i|we) (?:lived|worked)|(?:j'|je |nous )(?:habit|viv|travaill)(?:ais|ions)|"
    r"(?:abitav|vivev|lavorav)(?:o|amo)|(?:viv[ií]a|trabajaba)(?:mos)?|(?:morava|trabalhava)(?:mos)?|"
    r"(?:ich|wir) (?:wohnte|lebte|arbeitete)n?|(?:i|we) grew up|(?:ik|wij|we) (?:woonde|leefde|werkte)n?)\b"
)
"""A former state before the value that it had: "I lived in Bergen for ten years"."""
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
    r"doesn't|ist|hat|wohnt|arbeitet|mag|est|habite|aime|es|tiene|vive|trabaja|è|ha|abita|lavora|é|tem|mora|"
    r"woont|werkt|heeft|"
    r"(?<!\babito\s)(?<!\bvivo\s)(?<!\blavoro\s)(?<!\btrabajo\s)a)\b"
)
"""Matches a clause about a person other than the user."""
_OTHERS_LAST = pattern(
    r"^\W{0,3}(?:(?:in|à|a|en|em|te) [\w'-]{2,30} )?(?:lives|works|vit|vive|habite|travaille|abita|lavora|trabaja|mora"
    r"|trabalha|wohnt|lebt|arbeitet|woont|werkt)\b[^.;!?]{0,40}?"
    r"(?<!\bwith\s)(?<!\bmit\s)(?<!\bbei\s)(?<!\bavec\s)(?<!\bchez\s)(?<!\bcon\s)(?<!\bcom\s)(?<!\bmet\s)(?<!\bbij\s)"
    r"\b(?:my|our|meine?|unsere?|m(?:on|a)|notre|mi|nuestr[oa]|(?:il |la )?mi[oa]|(?:o |a )?(?:meu|minha)|mijn|onze)"
    r" (?P<who>[\w-]{2,20})\W*$"
)
"""The same with the subject at the end: "Vive à Rome mon frère"."""
_QUESTIONED = pattern(
    r"^\W{0,3}(?:am i|do i|did i|is my|are my|was i|have i|can i|should i|what|which|where|when|who|why|how)\b"
)


_BEFORE = pattern(
    r"\b(?:instead of|rather than|replac\w+|left|quit|sold|gave up|ditch\w*|cancel\w*|statt|"
    r"anstatt|au lieu d[e']|"
    r"en lugar de|en vez de|invece di|em vez de|in plaats van)\s+(?:(?:in|at|for|the|my|our|a|an|das|die|"
    r"den|mein\w*|le|"
    r"la|el|mi|il|o|de|het|mijn)\s+)?$"
)
_LEAVES = pattern(r"\b(?:from|von|aus|de|d'|desde|da|do|van)\s+(?:(?:the|my|our)\s+)?$")
_ARRIVES = pattern(
    r"\b(?:mov\w+|switch\w*|chang\w+|went|relocat\w+|transferr\w*|gezogen|gewechselt|passé\w*|déménagé\w*|mud\w+|"
    r"cambi\w+|pass\w+|trasferit\w+|mudei|troquei|verhuisd|overgestapt)\b"
)
_WISHED = pattern(
    r"^\W{0,3}(?:(?:ma|mais|aber|però|pero|mas|maar|et|und|e|y|en) )?(?:nehmen wir an|angenommen|stell dir vor|"
    r"supposons|imagin\w+|admettons|supon\w+|pongamos|mettiamo|facciamo finta|poniamo|suponha\w*|digamos|stel dat|"
    r"stel je voor|misschien|vielleicht|forse|talvez|peut-être)\b|"
    r"\b(?:(?:ich|wir) würden? (?:so )?(?:gerne?|lieber)|(?:ich|wir) (?:möchten?|hätten? gern)|j'aimerais|je voudrais|"
    r"nous aimerions|me gustaría|nos gustaría|quisiera|quisiéramos|vorrei|vorremmo|mi piacerebbe|gostaria|"
    r"gostaríamos|queria|(?:ik|we|wij) zou(?:den)? (?:graag|liever)|i'm (?:just )?(?:joking|kidding))\b"
)
"""A supposition or a wish in the other languages: "J'aimerais vivre à Rome" names no home."""
_WANTS = pattern(r"wish|want|dream|goal|plan|hope|wunsch|ziel|souhait|rêve|deseo|sueño|sogno|desejo|sonho|wens|droom")
"""Matches a key or value that itself contains a wish."""
_ALWAYS = pattern(r"\b(?:immer|stets|toujours|siempre|sempre|altijd|always)\b")
"""Makes a wish a preference: "Ich möchte immer am Gang sitzen"."""
_NEW_SUBJECT = pattern(
    r"(?:,|;|–|—| but| and| aber| und| sondern| mais| pero| sino que| ma| mas| maar) "
    r"(?=(?:i|i'm|i've|we|we're|my|ich|wir|mein\w?|je|j'|nous|mon|ma|yo|mi|io|eu|ik|wij|mijn)\b)"
)
_OTHER_NUMBER = pattern(
    r",? (?:and |but )?(?:not|nicht|pas|no|non|não|niet) \D{0,2}\d[\d.,]*\W*$|, no (?:more|less)\b\W*$"
)
_REPORT = pattern(r"(?:\b(?:the|my|our|a)\s+)?\b[\w'-]{2,20}\s+(?:said|says|told|told (?:me|us)|wrote|tells)\b[.!,]?")
_SO_I = pattern(r"\b(?:so|and now|now|hence|therefore)\s+(?:i|i'm|im|i've|we|we're|my|our)\b")
_SPOKEN = pattern(
    r"^\W{0,3}(?!(?:i|note|remember|merke|souviens|recuerda|ricorda|lembra|onthoud|fyi|ps|nb|update|about|re)\b)"
    r"[\w'’ .-]{2,40}:\s*[\"“«„]\s*(?:(?:i|we|my|our|ich|wir|je|nous|yo|io|eu|ik)\b|i'm|j'|soy|vivo|sono|sou|moro)"
)
"""Direct speech after its speaker: "My boss: 'I live in Bari.'"."""
_NEVER_SAID = pattern(
    r"\b(?:i|we) (?:never|didn't|did not|haven't|have not) (?:said|say|told|tell|mentioned|mention)\b"
)
_ASIDE = pattern(r"^\s*[,;:–—(-]|^\s*[\U0001F300-\U0001FAFF]")
SHORTEST_OWN = 3
"""Minimum number of the user's own words before a report."""
_HEDGED = pattern(
    r"\b(?:i think|i believe|i suspect|i feel like) (?:that )?(?:i'm|i am|i might|i may|i could|we're|we are)\b"
)
MAX_BEFORE = 8
"""Maximum number of clauses before a quote that may announce a text."""


def veto(candidate: Candidate, message: Message, policy: Policy) -> str | None:
    """Return the reason for refusing a grounded candidate of a model, or None."""
    span = candidate.source.span
    if span is None or not follows(candidate, policy):
        return UNSUPPORTED
    parts = clauses(message.content)
    said = [clause for clause in parts if clause.start < span[1] and clause.end > span[0]]
    before = [clause for clause in parts[:MAX_BEFORE] if clause.end <= span[0]]
    if any(payload_follows(clause) or fiction_from(clause.sentence) for clause in before):
        return TRANSIENT
    telling = [
        clause for clause in said if candidate.key and NormalisedText(clause.text).find(candidate.content)
    ] or said
    reasons = [_against(clause, candidate, beside=clause not in telling) for clause in said]
    if candidate.key is None and None in reasons:  # a request next to a statement does no harm
        reasons = [reason for reason in reasons if reason != TRANSIENT]
    against = next((reason for reason in reasons if reason is not None), None)
    shown = any(start < span[1] and end > span[0] for start, end in data_spans(message.content))
    return against or (QUOTED if shown else None)


def follows(candidate: Candidate, policy: Policy) -> bool:
    """Return True if the value is in the quote, or follows from it."""
    quote = candidate.source.quote or ""
    if NormalisedText(quote).find(candidate.content) is not None:
        return True
    wanted = terms(candidate.content)
    return _in_order(wanted, terms(quote)) or candidate.content.casefold() in _read(quote, candidate.key, policy)


def _in_order(wanted: Sequence[str], words: Sequence[str]) -> bool:
    """Check that `words` contain `wanted` in order: "tea over coffee" does not follow from "coffee over tea"."""
    # One iterator for all: each word is looked for after the previous one, which checks the order.
    rest = iter(words)
    return bool(wanted) and all(any(same_word(one, other) for other in rest) for one in wanted)


def _read(quote: str, key: str | None, policy: Policy) -> set[str]:
    """Return the values that the tables read of the quote under `key`, in lower case."""
    facts = [fact for clause in clauses(quote) for fact in typed_facts(clause.text, True, policy)]
    return {value.casefold() for _, name, value in facts if name == key}


def _is_left_behind(candidate: Candidate, text: str) -> bool:
    """Return True if the clause names the value as a former one, or prefers another."""
    found = NormalisedText(text).find(candidate.content)
    if candidate.key is None or found is None or _SAYS_OVER.search(candidate.key):
        return False
    if _LIVED.search(text[: found[0]]):
        return True
    return bool(_BEFORE.search(text[: found[0]]) or (_LEAVES.search(text[: found[0]]) and _ARRIVES.search(text)))


def _against(clause: Clause, candidate: Candidate, *, beside: bool) -> str | None:
    """Return the reason of a clause that the quote overlaps; `beside`: another of them has the value under a key."""
    text = clause.text
    if _SPOKEN.search(clause.sentence):
        return QUOTED
    if asked_to_remember(text) is None:
        reason = TRANSIENT if _QUESTIONED.search(text) else left_out(clause, mood_of(clause.sentence))
        if reason is not None and not _is_said_all_the_same(clause, reason, candidate):
            return reason
        if _HEDGED.search(text):
            return HYPOTHETICAL
    named = f"{candidate.key or ''} {candidate.content}"
    wished = candidate.key is not None and _WISHED.search(text) and not _WANTS.search(named)
    if wished and not _ALWAYS.search(text):
        return HYPOTHETICAL
    if beside:
        return None
    tells_over = _SAYS_OVER.search(named) or _OVER.search(candidate.content)
    if (_OVER.search(text) and not tells_over) or _is_left_behind(candidate, text):
        return PAST
    if _DENIAL.search(_about(text, candidate)) and not (
        _DENIAL.search(candidate.content) or _SAYS_DENIAL.search(named)
    ):
        return NEGATED
    return THIRD_PARTY if _of_somebody_else(text, named) else None


def _about(text: str, candidate: Candidate) -> str:
    """Return the part of a clause that has the value, from a subject of the speaker's to the next ("I don't live in
    Oslo any more, I live in Bergen"), without a number that it is not.
    """
    found = NormalisedText(text).find(candidate.content)
    if candidate.key is None or found is None:
        return text
    cuts = [match.end() for match in _NEW_SUBJECT.finditer(text)]
    start = max((cut for cut in cuts if cut <= found[0]), default=0)
    end = min((cut for cut in cuts if cut >= found[1]), default=len(text))
    return text[start : found[1]] + _OTHER_NUMBER.sub("", text[found[1] : end])


def _is_said_all_the_same(clause: Clause, reason: str, candidate: Candidate) -> bool:
    """Return True if the user states the quoted words although a rule objects to their clause with `reason`: they come
    before the question, next to another person's report, or are an instruction that lasts or changes a known memory.
    """
    span = candidate.source.span
    assert span is not None
    if reason == "not_durable":
        return True
    if reason == QUOTED:
        return _is_beside_a_report(clause, span)
    if clause.asks:
        return _is_before_a_question(clause, span)
    if is_certain(clause, reason):
        return False
    least = CHANGES_FROM if candidate.replaces else LASTS_FROM
    return weights().opinions([clause.text])[0].keep >= least


def _is_before_a_question(clause: Clause, span: tuple[int, int]) -> bool:
    """Return True if the span ends at a place where a clause that ends in a question does not ask yet."""
    end = span[1] - clause.start
    if end <= stated_until(clause.text):
        return True
    before = clause.text[:end]
    if not _ASIDE.search(clause.text[end:]):
        return False
    alone = replace(clause, text=before, end=clause.start + end, sentence=before, asks=False)
    return left_out(alone, mood_of(before)) is None


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


def _is_beside_a_report(clause: Clause, span: tuple[int, int]) -> bool:
    """Return True if the span contains the user's conclusion from a report ("the doctor told me to stop, so I'm on tea
    now"), says it before the report ("no lifting for two weeks, the doctor says"), or if the user is the one who denied
    having said it.
    """
    sentence = clause.sentence
    reported = _REPORT.search(sentence)
    if _NEVER_SAID.search(sentence):
        return True
    if reported is None:
        return False
    start, end = (place - clause.sentence_start for place in span)
    before = sentence[max(0, start) : reported.start()].rstrip()
    if before.endswith((",", ";", "-", "–", "—", "(")) and len(before.split()) >= SHORTEST_OWN:
        return True
    concluded = _SO_I.search(sentence, reported.end())
    return concluded is not None and end > concluded.end()


def _of_somebody_else(text: str, named: str) -> bool:
    """Return True if the clause is about a person whom neither key nor value names."""
    found = _OTHERS.search(text) or _OTHERS_LAST.search(text)
    if found is None:
        return False
    who = next((one for one in found.groupdict().values() if one), "")
    return who.casefold() not in named.casefold().replace("_", " ")
